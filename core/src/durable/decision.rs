//! How an activation ends (D5).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::Checkpoint;
use super::error::DurableError;
use super::frozen::freeze_owned;
use super::limits::{MESSAGE_BYTES_MAX, OUTPUT_BYTES_MAX, WAIT_MAX};
use super::stored::StoredDecision;
use super::text::check_name;

/// What an activation decides. Preparing one does nothing: it counts when the worker has committed it.
///
/// ```
/// use std::time::Duration;
/// use serde_json::json;
/// use windtunnel_core::durable::Decision;
///
/// let again = Decision::continue_("turn", json!({"round": 2}))?;
/// let later = Decision::sleep("cool-down", Duration::from_secs(86_400), "turn", json!({"round": 2}))?;
/// assert_ne!(again, later);
/// assert_eq!(Decision::complete(json!("done"))?.name(), "complete");
/// # Ok::<(), windtunnel_core::durable::DurableError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredDecision", into = "StoredDecision")]
pub enum Decision {
    /// Another activation begins at once, with an empty journal.
    Continue(Checkpoint),
    /// Another activation begins after a time.
    Sleep {
        /// What the wait is called.
        key: Arc<str>,
        /// How long it takes.
        duration: Duration,
        /// What begins then.
        checkpoint: Checkpoint,
    },
    /// Another activation begins when an event comes, or at the latest after a time.
    WaitEvent {
        /// Which event. A workflow waits once for a key.
        key: Arc<str>,
        /// For how long; forever, if there is none.
        timeout: Option<Duration>,
        /// What begins then.
        checkpoint: Checkpoint,
    },
    /// The workflow ends with this.
    Complete(Arc<Value>),
    /// The workflow ends without a result.
    Fail {
        /// A name for what went wrong.
        kind: Arc<str>,
        /// What to say of it.
        message: Arc<str>,
    },
}

impl Decision {
    /// Another activation at `entry` with `state`.
    ///
    /// # Errors
    /// The entry or the state cannot be stored.
    pub fn continue_(entry: &str, state: Value) -> Result<Self, DurableError> {
        Checkpoint::new(entry, state).map(Self::Continue)
    }

    /// Another activation after `duration`, by the store's clock.
    ///
    /// # Errors
    /// The key, the entry or the state cannot be stored, or the wait is over a year.
    pub fn sleep(key: &str, duration: Duration, entry: &str, state: Value) -> Result<Self, DurableError> {
        let key = checked(key, "the key of the sleep")?;
        check_wait("a sleep", duration)?;
        Ok(Self::Sleep { key, duration, checkpoint: Checkpoint::new(entry, state)? })
    }

    /// Another activation when the event comes. One that comes before the wait is kept for it; one that comes at the
    /// timeout or after it is too late.
    ///
    /// # Errors
    /// The key, the entry or the state cannot be stored, or the timeout is over a year.
    pub fn wait_event(key: &str, timeout: Option<Duration>, entry: &str, state: Value) -> Result<Self, DurableError> {
        let key = checked(key, "the key of the event")?;
        timeout.map_or(Ok(()), |timeout| check_wait("a timeout", timeout))?;
        Ok(Self::WaitEvent { key, timeout, checkpoint: Checkpoint::new(entry, state)? })
    }

    /// The end, with a result.
    ///
    /// # Errors
    /// The output cannot be stored.
    pub fn complete(output: Value) -> Result<Self, DurableError> {
        let (output, _) = freeze_owned("the output of the workflow", output, OUTPUT_BYTES_MAX)?;
        Ok(Self::Complete(Arc::new(output)))
    }

    /// The end, without a result.
    ///
    /// # Errors
    /// The kind cannot be stored, or the message is too long.
    pub fn fail(kind: &str, message: &str) -> Result<Self, DurableError> {
        let kind = checked(kind, "the kind of the failure")?;
        if message.len() > MESSAGE_BYTES_MAX {
            let (what, bytes) = ("the message of the failure", message.len());
            return Err(DurableError::TooLarge { what, bytes, bytes_max: MESSAGE_BYTES_MAX });
        }
        Ok(Self::Fail { kind, message: message.into() })
    }

    /// `continue`, `sleep`, `wait_event`, `complete` or `fail`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Continue(_) => "continue",
            Self::Sleep { .. } => "sleep",
            Self::WaitEvent { .. } => "wait_event",
            Self::Complete(_) => "complete",
            Self::Fail { .. } => "fail",
        }
    }

    /// What the next activation begins with, unless the workflow ends.
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        match self {
            Self::Continue(checkpoint) | Self::Sleep { checkpoint, .. } | Self::WaitEvent { checkpoint, .. } => {
                Some(checkpoint)
            }
            Self::Complete(_) | Self::Fail { .. } => None,
        }
    }
}

fn checked(name: &str, what: &'static str) -> Result<Arc<str>, DurableError> {
    check_name(name).map_err(|flaw| DurableError::InvalidKey { what, flaw })?;
    Ok(name.into())
}

fn check_wait(what: &'static str, wait: Duration) -> Result<(), DurableError> {
    if wait > WAIT_MAX {
        return Err(DurableError::WaitTooLong { what, seconds: wait.as_secs(), seconds_max: WAIT_MAX.as_secs() });
    }
    Ok(())
}

/// Without state, output and message, which may be secret.
impl fmt::Debug for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Decision");
        shown.field("name", &self.name());
        match self {
            Self::Sleep { key, .. } | Self::WaitEvent { key, .. } => shown.field("key", key),
            Self::Fail { kind, .. } => shown.field("kind", kind),
            Self::Continue(_) | Self::Complete(_) => &mut shown,
        };
        if let Some(checkpoint) = self.checkpoint() {
            shown.field("checkpoint", checkpoint);
        }
        shown.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_are_inclusive() {
        let nanosecond = Duration::from_nanos(1);
        assert!(Decision::sleep("k", WAIT_MAX, "e", json!(1)).is_ok());
        assert!(Decision::sleep("k", WAIT_MAX + nanosecond, "e", json!(1)).is_err());
        assert!(Decision::wait_event("k", Some(WAIT_MAX), "e", json!(1)).is_ok());
        assert!(Decision::wait_event("k", Some(WAIT_MAX + nanosecond), "e", json!(1)).is_err());
        assert!(Decision::complete(json!("o".repeat(OUTPUT_BYTES_MAX - 2))).is_ok());
        assert!(Decision::complete(json!("o".repeat(OUTPUT_BYTES_MAX - 1))).is_err());
        assert!(Decision::fail("k", &"m".repeat(MESSAGE_BYTES_MAX)).is_ok());
        assert!(Decision::fail("k", &"m".repeat(MESSAGE_BYTES_MAX + 1)).is_err());
        assert!(Decision::fail("a\nb", "m").is_err());
        assert!(Decision::continue_("e", json!("s".repeat(70_000))).is_err());
    }

    #[test]
    fn nothing_that_may_be_secret_is_shown() {
        let decisions = [
            Decision::continue_("e", json!("hunter2")),
            Decision::complete(json!("hunter2")),
            Decision::fail("refused", "hunter2"),
        ];
        for decision in decisions {
            assert!(!format!("{:?}", decision.unwrap()).contains("hunter2"));
        }
    }
}
