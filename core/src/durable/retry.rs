//! What becomes of an attempt that failed. A pure decision.

use std::num::NonZeroU32;
use std::time::Duration;

use super::error::{DurableError, ErrorKind};
use super::limits::MESSAGE_BYTES_MAX;
use crate::BoxError;
use crate::causes;
use crate::executor::Backoff;
use crate::model::ModelError;

/// When a failed attempt of an activation is made again.
///
/// An attempt that ended because a commit was not acknowledged is made again without end, since that is the store's
/// failure and not the workflow's. So is one whose worker is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationRetry {
    /// How many attempts may fail; with the last one the workflow does. Default 3.
    pub failures_max: NonZeroU32,
    /// How long to wait before the next attempt; longer, if a model that failed asks for more.
    pub backoff: Backoff,
}

impl Default for ActivationRetry {
    fn default() -> Self {
        Self { failures_max: NonZeroU32::MIN.saturating_add(2), backoff: Backoff::default() }
    }
}

/// An attempt failed. The message holds no text of a cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// An operation or the decision failed, and the entry passed that on.
    #[error(transparent)]
    Durable(DurableError),
    /// The entry returned another error.
    #[error("the entry failed; see the cause")]
    Entry(#[source] BoxError),
    /// The entry panicked.
    #[error("the entry panicked; see the cause")]
    Panicked(#[source] BoxError),
    /// The store refused the decision.
    #[error("the decision was refused: {0}")]
    Refused(super::commit::Refusal),
}

impl AttemptError {
    /// What an entry returned.
    pub(super) fn of_entry(error: BoxError) -> Self {
        match causes::find::<DurableError>(&*error) {
            Some(durable) => Self::Durable(durable.clone()),
            None => Self::Entry(error),
        }
    }

    /// The kind of a [`DurableError`], `entry-failed`, `entry-panicked` or `decision-refused`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Durable(error) => error.kind().as_str(),
            Self::Entry(_) => "entry-failed",
            Self::Panicked(_) => "entry-panicked",
            Self::Refused(_) => "decision-refused",
        }
    }

    /// Whether the workflow is to blame, and not the store.
    pub(super) fn is_own(&self) -> bool {
        use super::commit::Refusal;
        match self {
            Self::Durable(error) => {
                !matches!(error.kind(), ErrorKind::CommitUnacknowledged | ErrorKind::ActivationPoisoned)
            }
            Self::Entry(_) | Self::Panicked(_) => true,
            Self::Refused(refusal) => matches!(refusal, Refusal::OverBound | Refusal::EventKeyUsed),
        }
    }

    /// How long a model asks to wait, if one failed.
    fn retry_after(&self) -> Option<Duration> {
        causes::find::<ModelError>(self)?.retry_after
    }

    /// What a workflow says that fails with it.
    pub(super) fn message(&self) -> String {
        let message = self.to_string();
        if message.len() > MESSAGE_BYTES_MAX { format!("the activation failed: {}", self.kind()) } else { message }
    }
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Give the claim up, and let another attempt be made after a time.
    Retry {
        after: Duration,
        /// Whether the attempt counts as failed.
        is_failure: bool,
    },
    /// End the workflow.
    Fail,
}

impl ActivationRetry {
    /// Judges an attempt after `failures` that failed before. `unit` is in `[0, 1)`.
    pub(super) fn judge(&self, error: &AttemptError, failures: u32, unit: f64) -> Verdict {
        let is_failure = error.is_own();
        let failures = failures.saturating_add(1);
        if is_failure && failures >= self.failures_max.get() {
            return Verdict::Fail;
        }
        let after = self.backoff.delay(failures, unit).max(error.retry_after().unwrap_or_default());
        Verdict::Retry { after, is_failure }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit::{Commit, Refusal};
    use super::*;

    fn judge(error: &AttemptError, failures: u32) -> Verdict {
        ActivationRetry::default().judge(error, failures, 0.0)
    }

    #[test]
    fn a_workflow_fails_with_its_last_attempt() {
        let failed = AttemptError::of_entry("no such order".into());
        let retry = |after_ms| Verdict::Retry { after: Duration::from_millis(after_ms), is_failure: true };
        assert_eq!([0, 1, 2].map(|failures| judge(&failed, failures)), [retry(500), retry(1000), Verdict::Fail]);
        assert_eq!((failed.kind(), failed.message().as_str()), ("entry-failed", "the entry failed; see the cause"));
    }

    #[test]
    fn a_workflow_does_not_fail_for_its_store() {
        let unacknowledged = DurableError::CommitUnacknowledged { key: "a".into(), commit: Commit::Unknown };
        for error in [AttemptError::of_entry(unacknowledged.into()), AttemptError::Refused(Refusal::Rejected)] {
            assert!(matches!(judge(&error, 7), Verdict::Retry { is_failure: false, .. }));
        }
        assert_eq!(judge(&AttemptError::Refused(Refusal::EventKeyUsed), 7), Verdict::Fail);
    }

    #[test]
    fn a_durable_error_is_found_under_the_entrys_own() {
        #[derive(Debug, thiserror::Error)]
        #[error("while paying")]
        struct Wrapped(#[source] DurableError);
        let error = AttemptError::of_entry(Wrapped(DurableError::ActivationClosed).into());
        assert_eq!(error.kind(), "activation-closed");
    }
}
