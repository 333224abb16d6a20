//! What becomes of a failed attempt (E3, E5).
//!
//! A pure decision: the driver in [`attempt`](super::attempt) waits and tries again.

use std::sync::Arc;

use super::result::RunError;
use crate::BoxError;
use crate::canary::{Weakness, is_weakened};
use crate::causes::{self, Panicked};
use crate::tool::{ArgumentsError, CallError, ErrorKind, ToolError};

/// How one attempt failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// It ran out of time.
    Timeout,
    /// The tool returned an error that is not control flow, or panicked.
    Error(BoxError),
}

impl Failure {
    /// A word for the event of a retry, without the error's text.
    pub(super) fn cause(&self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Error(error) if causes::find::<Panicked>(&**error).is_some() => "panic",
            Self::Error(error) if causes::find::<ToolError>(&**error).is_some() => "retryable",
            Self::Error(_) => "foreign",
        }
    }
}

/// What to do next.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Wait, and try again.
    Retry,
    /// End the call with this error.
    Final(CallError),
}

/// Judges the failure of attempt `attempt` (from 1).
pub(super) fn judge(tool: &str, attempt: u32, retries: u32, failure: Failure) -> Verdict {
    let retries = retries.saturating_add(is_weakened(Weakness::RetriesOneMore).into());
    let attempts_left = attempt <= retries;
    match failure {
        Failure::Timeout if attempts_left => Verdict::Retry,
        Failure::Timeout => {
            let message = format!("tool {tool:?} ran out of time; it made {}", attempts_made(attempt));
            Verdict::Final(CallError::new(ErrorKind::ToolTimeout, message))
        }
        Failure::Error(error) => match refusal(&error) {
            Some(refusal) => Verdict::Final(CallError { source: Some(Arc::from(error)), ..refusal }),
            None if attempts_left && !waits_for_approval(&error) => Verdict::Retry,
            None => {
                let message = format!("tool {tool:?} failed after {}", attempts_made(attempt));
                Verdict::Final(CallError {
                    source: Some(Arc::from(error)),
                    ..CallError::new(ErrorKind::ToolFailed, message)
                })
            }
        },
    }
}

/// The error to end with at once, if another attempt would give the same answer.
fn refusal(error: &BoxError) -> Option<CallError> {
    if let Some(nested) = nested(error) {
        return (!nested.retryable).then(|| nested.clone());
    }
    if let Some(error) = causes::find::<ArgumentsError>(&**error) {
        return Some(CallError::new(ErrorKind::ToolArgsInvalid, error.to_string()));
    }
    let error = causes::find::<ToolError>(&**error)?;
    (!error.is_retryable()).then(|| CallError::new(ErrorKind::ToolError, error.message()))
}

/// The error of a nested call that the tool passed on: that call was refused, or has made its own attempts.
fn nested(error: &BoxError) -> Option<&CallError> {
    match causes::find::<RunError>(&**error) {
        Some(RunError::Call(error)) => Some(error),
        _ => causes::find::<CallError>(&**error),
    }
}

/// Whether the tool passed on that a nested call waits for approval: another attempt would only ask again.
fn waits_for_approval(error: &BoxError) -> bool {
    matches!(causes::find::<RunError>(&**error), Some(RunError::Pending { .. }))
}

fn attempts_made(attempts: u32) -> String {
    if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    fn error(error: impl Into<BoxError>) -> Failure {
        Failure::Error(error.into())
    }

    #[track_caller]
    fn check(attempt: u32, failure: Failure, expected: Option<(ErrorKind, &str, bool)>) {
        match (judge("pay", attempt, 1, failure), expected) {
            (Verdict::Retry, None) => {}
            (Verdict::Final(error), Some((kind, message, retryable))) => {
                assert_eq!((error.kind, &*error.message, error.retryable), (kind, message, retryable));
            }
            (verdict, expected) => panic!("{verdict:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn what_may_pass_is_retried_until_no_attempt_is_left() {
        check(1, Failure::Timeout, None);
        check(1, error("reset by peer"), None);
        check(1, error(ToolError::retryable("busy")), None);
        let timeout = "tool \"pay\" ran out of time; it made 2 attempts";
        check(2, Failure::Timeout, Some((ErrorKind::ToolTimeout, timeout, true)));
        let failed = Some((ErrorKind::ToolFailed, "tool \"pay\" failed after 2 attempts", false));
        check(2, error("reset by peer"), failed);
        check(2, error(ToolError::retryable("busy")), failed);
    }

    #[test]
    fn what_would_fail_again_ends_at_once() {
        check(1, error(ToolError::new("no such card")), Some((ErrorKind::ToolError, "no such card", false)));
    }

    #[test]
    fn a_tool_error_is_found_under_other_errors() {
        #[derive(Debug, thiserror::Error)]
        #[error("while paying")]
        struct Wrapped(#[source] ToolError);
        check(1, error(Wrapped(ToolError::new("no such card"))), Some((ErrorKind::ToolError, "no such card", false)));
    }

    #[test]
    fn the_cause_stays_reachable_and_out_of_the_message() {
        let Verdict::Final(failed) = judge("pay", 1, 0, error("password=hunter2")) else { panic!("retried") };
        assert_eq!(failed.message, "tool \"pay\" failed after 1 attempt");
        assert_eq!(failed.source().unwrap().to_string(), "password=hunter2");
    }
}
