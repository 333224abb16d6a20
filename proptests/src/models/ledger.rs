//! What the ledger holds (E12).

use std::time::Duration;

use windtunnel_core::executor::LedgerEntry;

use crate::violation::{Violation, require};

/// The entries that a ledger should hold, in any order.
///
/// ```
/// use windtunnel_core::executor::LedgerEntry;
/// use windtunnel_proptests::models::{LedgerModel, PredictedEntry};
///
/// let mut ledger = LedgerModel::default();
/// ledger.add(PredictedEntry { call_id: "call-1".into(), tool: "search".into(), error: None, attempts: 1, duration: None });
/// assert!(ledger.check(&[]).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct LedgerModel {
    entries: Vec<PredictedEntry>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedEntry {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The kind of error, if it did not succeed.
    pub error: Option<&'static str>,
    /// How many attempts ran.
    pub attempts: u32,
    /// How long it took; nothing if that is not predicted.
    pub duration: Option<Duration>,
}

impl PredictedEntry {
    fn is(&self, entry: &LedgerEntry) -> bool {
        let status = if self.error.is_none() { "ok" } else { "error" };
        entry.kind == "tool"
            && *entry.entry_id == *self.call_id
            && *entry.tool == *self.tool
            && entry.status == status
            && entry.error == self.error
            && entry.attempts == self.attempts
            && self.duration.is_none_or(|duration| duration == entry.duration)
    }
}

impl LedgerModel {
    /// Adds a finished call. Calls that are pending or were interrupted have no entry.
    pub fn add(&mut self, entry: PredictedEntry) {
        self.entries.push(entry);
    }

    /// Compares with what a ledger holds.
    ///
    /// # Errors
    /// [`Violation`] for an entry that is missing, wrong, there twice or of no finished call.
    pub fn check(&self, entries: &[LedgerEntry]) -> Result<(), Violation> {
        let mut rest: Vec<_> = entries.iter().collect();
        for predicted in &self.entries {
            let found = rest.iter().position(|entry| predicted.is(entry));
            match found {
                Some(index) => rest.remove(index),
                None => return Err(Violation::new("E12", format!("no entry is {predicted:?} in {rest:?}"))),
            };
        }
        require(rest.is_empty(), "E12", || format!("entries of no finished call: {rest:?}"))
    }
}
