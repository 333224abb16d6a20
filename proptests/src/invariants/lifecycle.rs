//! Beginnings and ends (E9, E13).

use std::collections::{BTreeMap, BTreeSet};

use windtunnel_core::event::{Event, EventKind};

use crate::timeline::{CallTimeline, TimelineEnd};
use crate::violation::{Violation, require};

/// Every event of a call lies between its `tool.started` and its one end, `tool.finished` or `tool.pending`.
///
/// # Errors
/// [`Violation`] for the first event of a call that is not running.
pub fn calls_end_once(events: &[Event]) -> Result<(), Violation> {
    let mut running = BTreeMap::new();
    for event in events {
        let (Some(call_id), Some(tool)) = (&event.call_id, event.kind.tool()) else { continue };
        let executions: &mut u32 = running.entry((&event.run_id, call_id, tool)).or_default();
        if let EventKind::ToolStarted { .. } = event.kind {
            *executions += 1;
            continue;
        }
        require(*executions > 0, "E13", || {
            format!("event {} ({}) of call {call_id} comes while it is not running", event.sequence, event.kind.name())
        })?;
        if matches!(event.kind, EventKind::ToolFinished { .. } | EventKind::ToolPending { .. }) {
            *executions -= 1;
        }
    }
    Ok(())
}

/// The calls that began and did not end. In a log of a scenario that has come to its end these are the calls that were
/// interrupted by control flow or dropped, and no others.
///
/// ```
/// assert!(windtunnel_proptests::invariants::open_calls(&[]).is_empty());
/// ```
pub fn open_calls(events: &[Event]) -> Vec<CallTimeline> {
    let mut all = CallTimeline::all(events);
    all.retain(|timeline| timeline.end == TimelineEnd::Open);
    all
}

/// No event of a run follows its `run.finished`, until the run is started again.
///
/// # Errors
/// [`Violation`] for the first event that does.
pub fn nothing_follows_a_run(events: &[Event]) -> Result<(), Violation> {
    let mut finished = BTreeSet::new();
    events.iter().try_for_each(|event| {
        match event.kind {
            EventKind::RunStarted {} => finished.remove(&event.run_id),
            EventKind::RunFinished {} if finished.insert(&event.run_id) => return Ok(()),
            _ => false,
        };
        require(!finished.contains(&event.run_id), "E9", || {
            format!("event {} ({}) comes after its run {} finished", event.sequence, event.kind.name(), event.run_id)
        })
    })
}
