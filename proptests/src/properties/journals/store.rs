//! Stores of journals answer as their contract says, whatever is asked of them and when.

use futures_util::FutureExt;
use windtunnel_core::durable::MemoryStore;
use windtunnel_core::env::Env;

use crate::Violation;
use crate::cases::StoreOperation;
use crate::played::{Exchange, check_journal_store};

/// What the store in memory answers to these operations. It lives on when it is opened again.
///
/// # Errors
/// What it should have answered.
pub fn check_memory(operations: &[StoreOperation]) -> Result<Vec<Exchange>, Violation> {
    let open = async |before: Option<MemoryStore>, env: Env| before.unwrap_or_else(|| MemoryStore::new(env));
    let waits = || Err(Violation::new("memory", "the store in memory waits"));
    check_journal_store(open, operations).now_or_never().unwrap_or_else(waits)
}
