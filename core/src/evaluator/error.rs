//! How an evaluation fails (V6a).

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::limits::LimitExceeded;
use crate::BoxError;
use crate::json::Path;
use crate::tool::Interrupted;

/// The kinds of error that an evaluation, or one branch of it, can end with (V6a).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The provider has no tool of this name.
    ToolNotFound,
    /// The tool says that it failed.
    ToolExecution,
    /// The tool's provider ran out of time. The evaluation's own deadline is an [`ErrorKind::ExecutionLimit`].
    Timeout,
    /// Any other error of a tool.
    Unclassified,
    /// The provider gave something that is not a tool's definition.
    ProviderResponse,
    /// The program, or the arguments that it came to, break a rule.
    AstValidation,
    /// A map, filter or reduce met something that is not a list, or a value has too many levels.
    TypeError,
    /// A limit was crossed.
    ExecutionLimit,
    /// The policy does not fit the program.
    InvalidPolicy,
    /// A replay met a call that was not recorded.
    ReplayMismatch,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::ToolNotFound,
        Self::ToolExecution,
        Self::Timeout,
        Self::Unclassified,
        Self::ProviderResponse,
        Self::AstValidation,
        Self::TypeError,
        Self::ExecutionLimit,
        Self::InvalidPolicy,
        Self::ReplayMismatch,
    ];

    /// The kebab-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolNotFound => "tool-not-found",
            Self::ToolExecution => "tool-execution",
            Self::Timeout => "timeout",
            Self::Unclassified => "unclassified",
            Self::ProviderResponse => "provider-response",
            Self::AstValidation => "ast-validation",
            Self::TypeError => "type-error",
            Self::ExecutionLimit => "execution-limit",
            Self::InvalidPolicy => "invalid-policy",
            Self::ReplayMismatch => "replay-mismatch",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// How a provider failed to define or call a tool. The message is for the program's owner to read: it holds no cause.
#[derive(Clone)]
pub struct ToolFailure {
    kind: ErrorKind,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolFailure {
    /// There is no such tool.
    pub fn not_found() -> Self {
        Self::new(ErrorKind::ToolNotFound, "there is no such tool")
    }

    /// The tool failed and says so; with a retry policy that covers it, it is tried again (V7).
    pub fn execution(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ToolExecution, message)
    }

    /// The provider ran out of time; with a retry policy that covers the tool, it is tried again (V7).
    pub fn timeout() -> Self {
        Self::new(ErrorKind::Timeout, "it ran out of time")
    }

    /// Any other error. Its text may be secret: it stays reachable as the source, and out of the message.
    pub fn unclassified(source: impl Into<BoxError>) -> Self {
        Self::new(ErrorKind::Unclassified, "it failed with an error that nothing classifies").with_source(source)
    }

    /// The tool was refused before it ran, by a budget, a guard or a reviewer.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unclassified, message)
    }

    /// The provider's answer is not what a provider may answer.
    pub fn response(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ProviderResponse, message)
    }

    /// The tool does not take these arguments, although its schema does.
    pub fn arguments(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::AstValidation, message)
    }

    /// The call is not the one that was recorded. Never retried (R1).
    pub fn replay_mismatch(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ReplayMismatch, message)
    }

    /// One that was recorded before: its cause is gone.
    pub fn recorded(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::new(kind, message)
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Keeps the cause reachable in code; its text goes into no message.
    #[must_use]
    pub fn with_source(self, source: impl Into<BoxError>) -> Self {
        Self { source: Some(Arc::from(source.into())), ..self }
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the program's owner may read.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Without the cause, whose text may be secret.
impl fmt::Debug for ToolFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolFailure")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for ToolFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// A provider gave no definition or value.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It failed.
    #[error(transparent)]
    Failed(#[from] ToolFailure),
    /// Control flow, such as a cancellation: it ends the evaluation, and is never retried or collected (V7, V8).
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// An evaluation gave no value.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// A tool, or the provider that was asked for it.
    #[error("tool {tool:?}: {failure}")]
    Tool {
        /// The tool's name.
        tool: Arc<str>,
        /// How it failed.
        #[source]
        failure: ToolFailure,
    },
    /// The program, or the arguments that it came to, break a rule (`ast-validation`).
    #[error("{path}: {problem}")]
    Invalid {
        /// The place in the program.
        path: Path,
        /// What is wrong there, without any value.
        problem: String,
    },
    /// A map, filter or reduce met something that is not a list, or values were put together to one of more than 128
    /// levels (`type-error`, V4).
    #[error("{path}: {problem}")]
    Type {
        /// The place in the program.
        path: Path,
        /// What it met, without the value.
        problem: String,
    },
    /// A limit was crossed (`execution-limit`, V6).
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// The policy does not fit the program (`invalid-policy`, V8).
    #[error("{path}: failures can only be collected in a program of mode \"parallel\"")]
    Policy {
        /// The place of the program with another mode.
        path: Path,
    },
    /// Control flow passed through. It has no kind.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl EvaluationError {
    /// The kind, unless control flow passed through.
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Tool { failure, .. } => Some(failure.kind()),
            Self::Invalid { .. } => Some(ErrorKind::AstValidation),
            Self::Type { .. } => Some(ErrorKind::TypeError),
            Self::Limit(_) => Some(ErrorKind::ExecutionLimit),
            Self::Policy { .. } => Some(ErrorKind::InvalidPolicy),
            Self::Interrupted(_) => None,
        }
    }

    /// The limit that was crossed.
    pub fn limit(&self) -> Option<&LimitExceeded> {
        match self {
            Self::Limit(limit) => Some(limit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_they_are_named() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_cause_is_reachable_and_in_no_message() {
        let failure = ToolFailure::unclassified("password=hunter2");
        assert!(!format!("{failure} {failure:?}").contains("hunter2"));
        let error = EvaluationError::Tool { tool: "pay".into(), failure };
        assert!(!format!("{error} {error:?}").contains("hunter2"));
        assert_eq!(error.source().unwrap().source().unwrap().to_string(), "password=hunter2");
    }
}
