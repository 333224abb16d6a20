//! What an operation does when it is called.

use std::time::Duration;

use windtunnel_core::env::Env;

use super::policy::rust;
use super::{ErrorClass, OperationError};

/// One call of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How long it takes.
    pub takes: Duration,
    /// How it fails; nothing, if it succeeds.
    pub error: Option<AnswerError>,
}

/// How a call fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError {
    /// Whether another call may help.
    pub class: ErrorClass,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
    /// The header with which it asks.
    pub retry_after_header: Option<String>,
}

impl Answer {
    /// Success after a while.
    pub const fn success(takes: Duration) -> Self {
        Self { takes, error: None }
    }

    /// A failure after a while.
    pub const fn failure(takes: Duration, class: ErrorClass) -> Self {
        Self { takes, error: Some(AnswerError { class, retry_after: None, retry_after_header: None }) }
    }

    /// The same, but for the wait that it asks for, if it is a failure.
    #[must_use]
    pub fn asking(mut self, retry_after: Duration) -> Self {
        if let Some(error) = &mut self.error {
            error.retry_after = Some(retry_after);
        }
        self
    }

    /// The same, but for the header with which it asks to wait, if it is a failure.
    #[must_use]
    pub fn asking_by_header(mut self, header: &str) -> Self {
        if let Some(error) = &mut self.error {
            error.retry_after_header = Some(header.to_owned());
        }
        self
    }

    pub(super) fn is_success(&self) -> bool {
        self.error.is_none()
    }

    pub(super) fn class(&self) -> Option<ErrorClass> {
        self.error.as_ref().map(|error| error.class)
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.error.as_ref().and_then(|error| error.retry_after)
    }

    /// Acts it out, as call `call` (from 1).
    pub(super) async fn play(self, env: Env, call: u32) -> Result<(), OperationError> {
        if !self.takes.is_zero() {
            env.until(env.now().saturating_add(self.takes)).await;
        }
        match self.error {
            None => Ok(()),
            Some(AnswerError { class, retry_after, retry_after_header }) => {
                Err(OperationError { call, class, retry_after, retry_after_header })
            }
        }
    }

    pub(super) fn as_rust(&self) -> String {
        let Some(AnswerError { class, retry_after, retry_after_header }) = &self.error else {
            return format!("Answer::success({})", rust(self.takes));
        };
        let mut text = format!("Answer::failure({}, ErrorClass::{class:?})", rust(self.takes));
        if let Some(retry_after) = retry_after {
            text.push_str(&format!(".asking({})", rust(*retry_after)));
        }
        if let Some(header) = retry_after_header {
            text.push_str(&format!(".asking_by_header({header:?})"));
        }
        text
    }
}

/// The answer to call `call` (from 1). The last one repeats; without any, every call succeeds at once.
pub(super) fn nth(answers: &[Answer], call: u32) -> Answer {
    let index = usize::try_from(call.saturating_sub(1)).unwrap_or(usize::MAX);
    answers.get(index).or(answers.last()).cloned().unwrap_or(Answer::success(Duration::ZERO))
}

/// A list of answers as Rust.
pub(super) fn as_rust(answers: &[Answer]) -> String {
    let answers: Vec<_> = answers.iter().map(Answer::as_rust).collect();
    format!("vec![{}]", answers.join(", "))
}
