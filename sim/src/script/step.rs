//! The vocabulary of scripts: what one attempt does, and how it ends.

use std::time::Duration;

use serde_json::Value;
use windtunnel_core::BoxError;
use windtunnel_core::tool::ToolError;

/// What one attempt does. It fails by an `F`: a [`Failure`] of a tool, or a
/// [`ToolFailure`](windtunnel_core::evaluator::ToolFailure) of a program's provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<F = Failure> {
    /// How long it takes, on the environment's clock.
    pub delay: Duration,
    /// How it ends.
    pub then: Then<F>,
}

/// How an attempt ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Then<F = Failure> {
    /// With this value, or with what the tool answers by itself, such as `{"echo": arguments}`.
    Answer(Option<Value>),
    /// With an error.
    Fail(F),
    /// Never.
    Hang,
    /// By a panic.
    Panic,
}

// Derived, it would ask for a failure that has a default.
impl<F> Default for Step<F> {
    fn default() -> Self {
        Self { delay: Duration::ZERO, then: Then::default() }
    }
}

impl<F> Default for Then<F> {
    fn default() -> Self {
        Self::Answer(None)
    }
}

/// How an attempt fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A foreign error: a reset connection.
    Foreign,
    /// A [`ToolError`] that may be retried.
    Busy,
    /// A [`ToolError`] that may not.
    ToolError,
}

impl Failure {
    pub(crate) fn error(self) -> BoxError {
        match self {
            Self::Foreign => std::io::Error::from(std::io::ErrorKind::ConnectionReset).into(),
            Self::Busy => ToolError::retryable("the upstream is busy").into(),
            Self::ToolError => ToolError::new("the tool refuses these arguments").into(),
        }
    }
}

impl<F> Step<F> {
    /// Answers at once.
    pub fn answer() -> Self {
        Self::default()
    }

    /// Fails at once.
    pub fn fail(failure: F) -> Self {
        Self { then: Then::Fail(failure), ..Self::default() }
    }

    /// The same after a delay.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}
