//! How calls fail.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::BoxError;
use crate::causes;
use crate::json::Path;

/// An error that a tool raises on purpose, for the model to read.
///
/// ```
/// use windtunnel_core::tool::ToolError;
///
/// let bad_input = ToolError::new("invoice numbers start with INV-");
/// assert!(!bad_input.is_retryable());
/// let busy = ToolError::retryable("billing API busy");
/// assert!(busy.is_retryable());
/// ```
#[derive(Clone)]
pub struct ToolError {
    message: String,
    retryable: bool,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// The model must change its arguments: not retried. The message goes to the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), retryable: false, source: None }
    }

    /// The upstream said "try later": retried while attempts are left.
    pub fn retryable(message: impl Into<String>) -> Self {
        Self { retryable: true, ..Self::new(message) }
    }

    /// Keeps the cause reachable in code; its text reaches neither the model nor a log above DEBUG.
    #[must_use]
    pub fn with_source(self, source: impl Into<BoxError>) -> Self {
        Self { source: Some(Arc::from(source.into())), ..self }
    }

    /// What the model may read.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether another attempt may succeed.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }
}

/// Without the cause, whose text may be secret.
impl fmt::Debug for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolError")
            .field("message", &self.message)
            .field("retryable", &self.retryable)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// Arguments that a tool does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ArgumentsError {
    /// The place of the first offence.
    pub path: Path,
    /// What is wrong there, without the value itself.
    pub problem: String,
}

/// The kinds of error that a call can end with (E6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// No tool has this name.
    ToolNotFound,
    /// The arguments do not fit the tool's schema.
    ToolArgsInvalid,
    /// The tool may run once in a run, and did.
    OncePerRun,
    /// The run has made all the calls it may make.
    MaxCalls,
    /// The reviewer, or the absence of one, refused.
    ApprovalDenied,
    /// A hook refused for its budget.
    BudgetExceeded,
    /// The tool itself refused; the message is its own.
    ToolError,
    /// The last attempt ran out of time.
    ToolTimeout,
    /// Every attempt failed; the message never holds the cause.
    ToolFailed,
}

impl ErrorKind {
    /// The kebab-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolNotFound => "tool-not-found",
            Self::ToolArgsInvalid => "tool-args-invalid",
            Self::OncePerRun => "once-per-run",
            Self::MaxCalls => "max-calls",
            Self::ApprovalDenied => "approval-denied",
            Self::BudgetExceeded => "budget-exceeded",
            Self::ToolError => "tool-error",
            Self::ToolTimeout => "tool-timeout",
            Self::ToolFailed => "tool-failed",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The error that a call ended with (E5).
///
/// The message is safe to show to a model. The cause is reachable through [`Error::source`].
#[derive(Clone)]
pub struct CallError {
    /// The kind.
    pub kind: ErrorKind,
    /// What the model may read.
    pub message: String,
    /// Whether the same call may succeed later. True only for `tool-timeout`.
    pub retryable: bool,
    pub(crate) source: Option<Arc<dyn Error + Send + Sync>>,
}

impl CallError {
    /// An error without a cause.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: kind == ErrorKind::ToolTimeout, source: None }
    }
}

/// Without the cause, whose text may be secret.
impl fmt::Debug for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallError")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .field("retryable", &self.retryable)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind, self.message)
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// The error by which a tool or hook says that its work was cancelled: control flow, never retried or recorded (E3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Control flow passed through the executor: [`Cancelled`], or an error of a type registered as control flow.
///
/// The call has no result, no ledger entry and no `tool.finished` event.
#[derive(Debug)]
pub struct Interrupted {
    error: BoxError,
}

impl Interrupted {
    /// Control flow that a provider of tools raises itself; an executor finds it in what its tools return.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self { error: error.into() }
    }

    /// The control-flow error itself.
    pub fn into_inner(self) -> BoxError {
        self.error
    }

    /// The control-flow error, if it is a `T` or was wrapped around one, as by the calls that it passed through.
    pub fn downcast_ref<T: Error + 'static>(&self) -> Option<&T> {
        causes::find(&*self.error)
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the call was interrupted by control flow")
    }
}

impl Error for Interrupted {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}
