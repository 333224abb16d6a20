//! The ledger against the log (E12).

use windtunnel_core::event::{Event, EventKind};
use windtunnel_core::executor::LedgerEntry;

use crate::violation::{Violation, require};

/// Each `tool.finished` has exactly one ledger entry that agrees with it, and no entry stands for anything else: not for
/// a pending call, and not for an interrupted one.
///
/// # Errors
/// [`Violation`] for a call without its entry, or an entry without its call.
pub fn one_entry_per_finished_call(events: &[Event], entries: &[LedgerEntry]) -> Result<(), Violation> {
    let mut rest: Vec<_> = entries.iter().collect();
    for event in events {
        let EventKind::ToolFinished { tool, status, error, attempts, duration_s, .. } = &event.kind else { continue };
        let agrees = |entry: &&LedgerEntry| {
            entry.kind == "tool"
                && Some(&entry.entry_id) == event.call_id.as_ref()
                && entry.run_id == event.run_id
                && entry.tool == *tool
                && (entry.status, entry.error, entry.attempts) == (*status, *error, *attempts)
                && entry.duration.as_secs_f64() == *duration_s
        };
        match rest.iter().position(agrees) {
            Some(index) => rest.remove(index),
            None => {
                let call = event.call_id.as_deref().unwrap_or_default();
                let message = format!("call {call} finished (event {}), and no entry agrees: {rest:?}", event.sequence);
                return Err(Violation::new("E12", message));
            }
        };
    }
    require(rest.is_empty(), "E12", || format!("entries of no finished call: {rest:?}"))
}
