//! The ledger: one entry for each finished call (E12).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;

use crate::BoxError;

/// Records what calls cost.
pub trait Ledger: Send + Sync {
    /// Records one finished call.
    ///
    /// # Errors
    /// Any error is logged; the call keeps its result.
    fn record(&self, entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>>;
}

/// A shared ledger.
impl<T: Ledger + ?Sized> Ledger for Arc<T> {
    fn record(&self, entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>> {
        (**self).record(entry)
    }
}

/// One finished call.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerEntry {
    /// What the entry is about: `tool`.
    pub kind: &'static str,
    /// The call's id.
    pub entry_id: Arc<str>,
    /// The run.
    pub run_id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// `ok` or `error`.
    pub status: &'static str,
    /// The error's kind (E6).
    pub error: Option<&'static str>,
    /// What the tool said it cost ([`ToolContext::add_cost_usd`](super::ToolContext::add_cost_usd)), in US dollars.
    pub cost_usd: f64,
    /// How many attempts ran.
    pub attempts: u32,
    /// From arrival to result on the environment's clock.
    pub duration: Duration,
}

/// A ledger in memory. Clones share it.
#[derive(Clone, Default)]
pub struct MemoryLedger {
    entries: Arc<Mutex<Vec<LedgerEntry>>>,
}

impl MemoryLedger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries so far, in the order the calls finished.
    pub fn entries(&self) -> Vec<LedgerEntry> {
        self.entries.lock().clone()
    }
}

impl Ledger for MemoryLedger {
    fn record(&self, entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>> {
        self.entries.lock().push(entry);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryLedger").field("entries", &self.entries.lock().len()).finish()
    }
}
