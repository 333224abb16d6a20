//! How often tools run (E2, E7).

use std::collections::{BTreeMap, BTreeSet};

use windtunnel_core::event::Event;

use crate::cases::Policies;
use crate::timeline::CallTimeline;
use crate::violation::{Violation, require};

/// In each run, at most `calls_max` different calls run, and at most one of each tool that may run once.
///
/// Events carry no arguments, so calls count as the same if their ids and tools are. Calls whose values come from a
/// cache do not show here.
///
/// # Errors
/// [`Violation`] for the first run or tool that ran too often.
pub fn guards_hold(events: &[Event], policies: &Policies, calls_max: Option<u64>) -> Result<(), Violation> {
    let mut runs: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for timeline in CallTimeline::all(events).into_iter().filter(|timeline| !timeline.attempts.is_empty()) {
        runs.entry(timeline.run_id).or_default().insert((timeline.tool, timeline.call_id));
    }
    for (run_id, calls) in runs {
        require(calls_max.is_none_or(|calls_max| calls.len() as u64 <= calls_max), "E2", || {
            format!("run {run_id} made {} calls of {calls_max:?}: {calls:?}", calls.len())
        })?;
        for (tool, _) in policies.iter().filter(|(_, policy)| policy.once_per_run) {
            let ran: Vec<_> = calls.iter().filter(|(name, _)| **name == **tool).map(|(_, call_id)| call_id).collect();
            require(ran.len() <= 1, "E2", || {
                format!("tool {tool:?} may run once in run {run_id}, and ran in {ran:?}")
            })?;
        }
    }
    Ok(())
}
