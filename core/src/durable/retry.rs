//! What becomes of an attempt that failed. A pure decision.

use std::num::NonZeroU32;
use std::time::Duration;

use super::error::{DurableError, ErrorKind};
use super::limits::MESSAGE_BYTES_MAX;
use crate::BoxError;
use crate::causes;
use crate::evaluator::{self, EvaluationError};
use crate::executor::Backoff;
use crate::model::{ModelError, ModelErrorKind};

/// When a failed attempt of an activation is made again.
///
/// An attempt that ended because a commit was not acknowledged is made again without end, since that is the store's
/// failure and not the workflow's. So is one whose worker is gone. A model that fails in a way that may pass
/// ([`ModelErrorKind::is_retryable`](crate::model::ModelErrorKind::is_retryable)) is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActivationRetry {
    /// How many attempts may fail; with the last one the workflow does. What cannot be stored fails it at once. Default 3.
    pub failures_max: NonZeroU32,
    /// How many attempts there may be while a model fails in a way that may pass; these do not count as failed. Default 100:
    /// with the default backoff that is three quarters of an hour.
    pub outage_attempts_max: NonZeroU32,
    /// How long to wait before the next attempt; longer, if a model that failed asks for more.
    pub backoff: Backoff,
}

impl Default for ActivationRetry {
    fn default() -> Self {
        Self {
            failures_max: NonZeroU32::MIN.saturating_add(2),
            outage_attempts_max: NonZeroU32::MIN.saturating_add(99),
            backoff: Backoff::default(),
        }
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

    /// Whether every further attempt would come to the same: it would only repeat effects. A replay that does not match
    /// is never tried again (R1).
    fn is_final(&self) -> bool {
        let is_mismatch = self.model_error().is_some_and(|error| error.kind == ModelErrorKind::ReplayMismatch)
            || causes::find::<EvaluationError>(self)
                .is_some_and(|error| error.kind() == Some(evaluator::ErrorKind::ReplayMismatch));
        if is_mismatch {
            return true;
        }
        let Self::Durable(error) = self else { return false };
        matches!(
            error.kind(),
            ErrorKind::InvalidCallable
                | ErrorKind::InvalidJson
                | ErrorKind::InvalidKey
                | ErrorKind::InvalidVersion
                | ErrorKind::TooLarge
                | ErrorKind::TooManyRecords
        )
    }

    /// The model that failed, if one did.
    fn model_error(&self) -> Option<&ModelError> {
        causes::find(self)
    }

    /// What a workflow says that fails with it. Of causes only those are told whose texts hold no secrets.
    pub(super) fn message(&self) -> String {
        let told = self.model_error().map(ToString::to_string);
        let told = told.or_else(|| causes::find::<EvaluationError>(self).map(ToString::to_string));
        let own = self.to_string();
        let own = own.strip_suffix("; see the cause").unwrap_or(&own);
        let message = told.map_or_else(|| own.to_owned(), |told| format!("{own}: {told}"));
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
    /// Judges the `attempt`, after `failures` that failed before. `unit` is in `[0, 1)`.
    pub(super) fn judge(&self, error: &AttemptError, attempt: u64, failures: u32, unit: f64) -> Verdict {
        let model_error = error.model_error();
        let is_outage = model_error.is_some_and(|error| error.kind.is_retryable());
        let is_failure = error.is_own() && !is_outage;
        let failures = failures.saturating_add(1);
        let is_last = if is_outage {
            attempt >= self.outage_attempts_max.get().into()
        } else {
            is_failure && (failures >= self.failures_max.get() || error.is_final())
        };
        if is_last {
            return Verdict::Fail;
        }
        let nth = if is_outage { u32::try_from(attempt).unwrap_or(u32::MAX) } else { failures };
        let asked = model_error.and_then(|error| error.retry_after).unwrap_or_default();
        Verdict::Retry { after: self.backoff.delay(nth, unit).max(asked), is_failure }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commit::{Commit, Refusal};
    use super::*;

    fn judge(error: &AttemptError, failures: u32) -> Verdict {
        ActivationRetry::default().judge(error, 1, failures, 0.0)
    }

    #[test]
    fn a_workflow_fails_with_its_last_attempt() {
        let failed = AttemptError::of_entry("no such order".into());
        let retry = |after_ms| Verdict::Retry { after: Duration::from_millis(after_ms), is_failure: true };
        assert_eq!([0, 1, 2].map(|failures| judge(&failed, failures)), [retry(500), retry(1000), Verdict::Fail]);
        assert_eq!((failed.kind(), failed.message().as_str()), ("entry-failed", "the entry failed"));
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
    fn what_cannot_be_stored_is_not_tried_again() {
        let too_large = DurableError::TooLarge { what: "it", bytes: 2, bytes_max: 1 };
        assert_eq!(judge(&AttemptError::of_entry(too_large.into()), 0), Verdict::Fail);
    }

    /// A mismatch is never retried (R1).
    #[test]
    fn a_replay_that_does_not_match_is_not_tried_again() {
        let model = ModelError::new(ModelErrorKind::ReplayMismatch, "never recorded").into();
        let failure = evaluator::ToolFailure::replay_mismatch("never recorded");
        let tool = EvaluationError::Tool { tool: "pay".into(), failure }.into();
        for source in [model, tool] {
            let failed = DurableError::CallFailed { key: "a".into(), source };
            assert_eq!(judge(&AttemptError::of_entry(failed.into()), 0), Verdict::Fail);
        }
    }

    #[test]
    fn a_model_that_may_come_back_is_waited_for_and_told() {
        let failed = |kind| {
            let source = ModelError::new(kind, "no capacity").into();
            AttemptError::Durable(DurableError::CallFailed { key: "model:turn:0".into(), source })
        };
        let (outage, refused) = (failed(ModelErrorKind::Overloaded), failed(ModelErrorKind::InvalidRequest));
        let retry = ActivationRetry::default();
        let waits = |attempt| retry.judge(&outage, attempt, 2, 0.0);
        let after = |after_ms| Verdict::Retry { after: Duration::from_millis(after_ms), is_failure: false };
        assert_eq!(
            [waits(1), waits(2), waits(99), waits(100)],
            [after(500), after(1000), after(30_000), Verdict::Fail]
        );
        assert_eq!(retry.judge(&refused, 3, 2, 0.0), Verdict::Fail);
        let told = "the callable of operation \"model:turn:0\" failed and left no record: the model failed \
                    (invalid-request): no capacity";
        assert_eq!(refused.message(), told);
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
