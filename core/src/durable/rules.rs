//! What every store decides alike. Knows no clock: `now` is the time of the store's.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::checkpoint::Checkpoint;
use super::claim::Wake;
use super::commit::Refusal;
use super::decision::Decision;
use super::error::DurableError;
use super::frozen::freeze;
use super::limits::EVENT_BYTES_MAX;
use super::store::Delivery;
use super::text::check_name;
use crate::canary::{Weakness, is_weakened};
use crate::json::canonical;

/// When an activation is due, and why.
#[derive(Clone, Debug)]
pub(super) enum Begins {
    At(Duration, Wake),
    /// When the event comes, or at the timeout.
    WithEvent {
        key: Arc<str>,
        timeout_at: Option<Duration>,
    },
}

impl Begins {
    /// What comes after a decision, with the event that it waits for if that came before; nothing, if the workflow ends.
    pub(super) fn after(decision: &Decision, now: Duration, kept: Option<&Arc<Value>>) -> Option<(Checkpoint, Self)> {
        let begins = match decision {
            Decision::Complete(_) | Decision::Fail { .. } => return None,
            Decision::Continue(_) => Self::At(now, Wake::Continued),
            Decision::Sleep { key, duration, .. } => {
                Self::At(now.saturating_add(*duration), Wake::Timer { key: Arc::clone(key) })
            }
            Decision::WaitEvent { key, timeout, .. } => match kept {
                Some(payload) => Self::with_event(key, payload, now),
                None => Self::WithEvent {
                    key: Arc::clone(key),
                    timeout_at: timeout.map(|timeout| now.saturating_add(timeout)),
                },
            },
        };
        Some((decision.checkpoint()?.clone(), begins))
    }

    pub(super) fn with_event(key: &str, payload: &Arc<Value>, now: Duration) -> Self {
        Self::At(now, Wake::Event { key: key.into(), payload: Arc::clone(payload) })
    }

    /// The end of a wait that is claimed: no event came in time.
    pub(super) fn timed_out(key: &Arc<str>, now: Duration) -> Self {
        Self::At(now, Wake::Timeout { key: Arc::clone(key) })
    }

    /// When it begins by itself.
    pub(super) fn due(&self) -> Option<Duration> {
        match self {
            Self::At(at, _) => Some(*at),
            Self::WithEvent { timeout_at, .. } => *timeout_at,
        }
    }
}

/// Whether the attempt is the last one of its activation.
pub(super) fn check_fence(attempt: u64, last_attempt: u64) -> Result<(), Refusal> {
    match attempt.cmp(&last_attempt) {
        Ordering::Equal => Ok(()),
        Ordering::Less if is_weakened(Weakness::FenceIgnored) => Ok(()),
        Ordering::Less => Err(Refusal::Superseded),
        Ordering::Greater => Err(Refusal::NoActivation),
    }
}

/// Whether two are stored as the same: numbers keep their identity, so that -0.0 is not 0.0.
pub(super) fn is_same(one: &impl Serialize, other: &impl Serialize) -> bool {
    canonical(&json!(one)) == canonical(&json!(other))
}

/// What a decision means where there is one already: only the very same is acknowledged again.
pub(super) fn decided_again(committed: &Decision, by: u64, decision: &Decision, attempt: u64) -> Result<(), Refusal> {
    if by == attempt && is_same(committed, decision) { Ok(()) } else { Err(Refusal::Closed) }
}

/// What a workflow knows of an event that comes.
pub(super) struct Expectation<'a> {
    /// What was delivered under its key before.
    pub(super) delivered: Option<&'a Value>,
    /// Whether the workflow has an open activation.
    pub(super) is_open: bool,
    /// For what that waits, and until when.
    pub(super) waits_for: Option<(&'a str, Option<Duration>)>,
    /// Whether it waits for the event or has waited for it.
    pub(super) has_waited: bool,
}

/// What becomes of an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is stored, and the activation that waits for it is due.
    Wakes,
    /// It is stored for a wait to come.
    Kept,
    /// It is not stored.
    Refused(Delivery),
}

impl Expectation<'_> {
    pub(super) fn meet(&self, key: &str, payload: &Value, now: Duration) -> Arrival {
        if let Some(delivered) = self.delivered {
            let is_repeat = is_same(delivered, payload);
            return Arrival::Refused(if is_repeat { Delivery::Already } else { Delivery::Conflict });
        }
        if !self.is_open {
            return Arrival::Refused(Delivery::NoWorkflow);
        }
        match self.waits_for {
            // At the timeout the wait is over, whether that was seen or not.
            Some((waits_for, Some(timeout_at))) if waits_for == key && now >= timeout_at => {
                Arrival::Refused(Delivery::TooLate)
            }
            Some((waits_for, _)) if waits_for == key => Arrival::Wakes,
            _ if self.has_waited => Arrival::Refused(Delivery::TooLate),
            _ => Arrival::Kept,
        }
    }
}

/// Whether a workflow may be called so.
pub(super) fn check_start(workflow_id: &str, workflow: &str) -> Result<(), DurableError> {
    for (what, name) in [("the workflow's identifier", workflow_id), ("the workflow's name", workflow)] {
        check_name(name).map_err(|flaw| DurableError::InvalidKey { what, flaw })?;
    }
    Ok(())
}

/// Whether an event may be stored.
pub(super) fn check_event(key: &str, payload: &Value) -> Result<(), DurableError> {
    check_name(key).map_err(|flaw| DurableError::InvalidKey { what: "the key of the event", flaw })?;
    freeze("the payload of the event", payload, EVENT_BYTES_MAX).map(drop)
}

/// What the activation at this place of its workflow is called, from 1.
pub(super) fn activation_id(position: usize) -> Arc<str> {
    format!("activation-{position}").into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(waits_for: Option<(&str, Option<Duration>)>, has_waited: bool, arrival: Arrival) {
        let expectation = Expectation { delivered: None, is_open: true, waits_for, has_waited };
        assert_eq!(expectation.meet("k", &json!(1), Duration::from_secs(5)), arrival);
    }

    #[test]
    fn an_event_wakes_who_waits_for_it_until_the_timeout() {
        check(None, false, Arrival::Kept);
        check(Some(("k", None)), true, Arrival::Wakes);
        check(Some(("k", Some(Duration::from_secs(6)))), true, Arrival::Wakes);
        check(Some(("k", Some(Duration::from_secs(5)))), true, Arrival::Refused(Delivery::TooLate));
        check(Some(("l", None)), false, Arrival::Kept);
        check(Some(("l", None)), true, Arrival::Refused(Delivery::TooLate));
    }

    #[test]
    fn a_delivered_event_stays() {
        let meet = |payload: Value| {
            let delivered = json!({"a": 1, "b": 2});
            let delivered = Some(&delivered);
            let expectation = Expectation { delivered, is_open: false, waits_for: None, has_waited: true };
            expectation.meet("k", &payload, Duration::ZERO)
        };
        assert_eq!(meet(json!({"b": 2, "a": 1})), Arrival::Refused(Delivery::Already));
        assert_eq!(meet(json!({"a": 1.0, "b": 2})), Arrival::Refused(Delivery::Conflict));
    }
}
