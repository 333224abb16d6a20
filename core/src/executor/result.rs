//! How a call ends.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::tool::{CallError, ErrorKind, Interrupted};

/// The result of one call. A refusal is a result too (E2).
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// The run the call was in.
    pub run_id: Arc<str>,
    /// The call's id.
    pub call_id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The value, the error, or the approval it waits for.
    pub outcome: Outcome,
    /// How many attempts ran: 0 for a refusal and for a cached value.
    pub attempts: u32,
    /// Whether the value came from the cache.
    pub cached: bool,
    /// From arrival to result on the environment's clock.
    pub duration: Duration,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// With a value.
    Ok(Value),
    /// With an error.
    Error(CallError),
    /// Not yet: it waits for a decision (E8). Make the same call again when there is one.
    Pending {
        /// The approval, the same when the call is made again.
        approval_id: Arc<str>,
    },
}

impl Outcome {
    /// `ok`, `error` or `pending`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::Error(_) => "error",
            Self::Pending { .. } => "pending",
        }
    }

    /// The value of an ok outcome.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Ok(value) => Some(value),
            _ => None,
        }
    }

    /// The error of an error outcome.
    pub fn error(&self) -> Option<&CallError> {
        match self {
            Self::Error(error) => Some(error),
            _ => None,
        }
    }
}

impl ToolResult {
    /// `ok`, `error` or `pending`.
    pub fn status(&self) -> &'static str {
        self.outcome.status()
    }

    /// The value of an ok result.
    pub fn value(&self) -> Option<&Value> {
        self.outcome.value()
    }

    /// The error of an error result.
    pub fn error(&self) -> Option<&CallError> {
        self.outcome.error()
    }

    /// The error's kind.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.error().map(|error| error.kind)
    }

    /// The value, or why there is none.
    ///
    /// # Errors
    /// [`RunError`] for an error or pending result.
    pub fn into_value(self) -> Result<Value, RunError> {
        match self.outcome {
            Outcome::Ok(value) => Ok(value),
            Outcome::Error(error) => Err(RunError::Call(error)),
            Outcome::Pending { approval_id } => Err(RunError::Pending { approval_id }),
        }
    }

    /// What a model reads of the result, as JSON text: the value, or an `error` with kind, message and `retryable`.
    pub fn to_model_text(&self) -> String {
        match &self.outcome {
            Outcome::Ok(value) => value.to_string(),
            Outcome::Error(CallError { kind, message, retryable, .. }) => {
                json!({"error": {"kind": kind.as_str(), "message": message, "retryable": retryable}}).to_string()
            }
            Outcome::Pending { approval_id } => json!({"pending": {"approval_id": &**approval_id}}).to_string(),
        }
    }
}

/// A call made through [`Executor::run`](super::Executor::run) gave no value.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The call ended with an error.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The call waits for an approval.
    #[error("the call waits for approval {approval_id}; make it again when it is decided")]
    Pending {
        /// The approval.
        approval_id: Arc<str>,
    },
    /// Control flow passed through.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
