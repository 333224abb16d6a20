//! Evaluations of programs: their events, and what their provider was asked for (V6, V7, V8).

use std::collections::BTreeMap;
use std::sync::Arc;

use windtunnel_core::evaluator::{ErrorKind, RetryPolicy};
use windtunnel_core::event::{Event, EventKind};

use crate::played::ObservedAttempt;
use crate::violation::{Violation, require};

/// Every evaluation begins and finishes once, all that it calls lies between, and it states as many attempts as it
/// announced, or more if a limit refused some.
///
/// # Errors
/// [`Violation`] for the first evaluation that does not.
pub fn programs_finish_once(events: &[Event]) -> Result<(), Violation> {
    let mut open: BTreeMap<&Arc<str>, u64> = BTreeMap::new();
    for event in events {
        let at = || format!("event {} ({})", event.sequence, event.kind.name());
        match (&event.kind, &event.call_id, &event.parent_id) {
            (EventKind::ProgramStarted { .. }, Some(id), _) => {
                require(open.insert(id, 0).is_none(), "V8", || format!("{} begins {id} again", at()))?;
            }
            (EventKind::ProgramFinished { tool_calls, .. }, Some(id), _) => {
                let announced = open.remove(id);
                require(announced.is_some(), "V8", || format!("{} ends {id}, which is not open", at()))?;
                require(announced <= Some(*tool_calls), "V6", || {
                    format!("{} states {tool_calls} attempts, and announced {announced:?}", at())
                })?;
            }
            (EventKind::ProgramCall { .. }, _, Some(id)) => match open.get_mut(id) {
                Some(announced) => *announced += 1,
                None => return Err(Violation::new("V8", format!("{} is of {id}, which is not open", at()))),
            },
            (EventKind::ProgramAnswer { .. } | EventKind::ProgramRetry { .. }, _, Some(id)) => {
                require(open.contains_key(id), "V8", || format!("{} is of {id}, which is not open", at()))?;
            }
            _ => {}
        }
    }
    require(open.is_empty(), "V8", || format!("{:?} did not finish", open.keys()))
}

/// The attempts of one call share its tool, its arguments and its id, are counted from 1 without gaps, come one after
/// the other, and follow only on failures that the policy lets them follow on.
///
/// # Errors
/// [`Violation`] for the first call that changes or goes on.
pub fn attempts_keep_their_call(attempts: &[ObservedAttempt], policy: &RetryPolicy) -> Result<(), Violation> {
    let mut last: BTreeMap<&str, &ObservedAttempt> = BTreeMap::new();
    for attempt in attempts {
        let call = || format!("attempt {} of call {} of tool {:?}", attempt.attempt, attempt.call_id, attempt.tool);
        let before = last.insert(&attempt.call_id, attempt);
        let Some(before) = before else {
            require(attempt.attempt == 1, "V7", || format!("{} comes first", call()))?;
            continue;
        };
        let is_same = before.tool == attempt.tool && before.arguments == attempt.arguments;
        require(is_same, "V7", || format!("{} is not the call that it was", call()))?;
        require(attempt.attempt == before.attempt + 1, "V7", || {
            format!("{} comes after attempt {}", call(), before.attempt)
        })?;
        let most = policy.max_attempts.get();
        require(attempt.attempt <= most, "V7", || format!("{} is one of {most}", call()))?;
        let is_idempotent = policy.idempotent_tools.contains(&attempt.tool);
        require(is_idempotent, "V7", || format!("{} repeats what may not be repeated", call()))?;
        let may_pass = |kind: ErrorKind| kind != ErrorKind::ReplayMismatch && policy.retryable.contains(&kind);
        require(before.ended.is_some() && before.failure.is_some_and(may_pass), "V7", || {
            format!("{} follows on {:?}", call(), before.failure)
        })?;
    }
    Ok(())
}
