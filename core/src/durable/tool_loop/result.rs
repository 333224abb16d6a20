//! The result of a call, as it is recorded.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::durable::frozen::freeze;
use crate::durable::limits::STATE_BYTES_MAX;
use crate::durable::stored::whole_nanoseconds;
use crate::executor::{Outcome, ToolResult};
use crate::json::dismantle;
use crate::tool::{CallError, ErrorKind};

/// What became of a call.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallRecord {
    pub(super) outcome: CallOutcome,
    attempts: u32,
    cached: bool,
    duration_ns: u64,
    /// Whether the run's guards counted it.
    pub(super) counted: bool,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum CallOutcome {
    Value(Value),
    Error {
        kind: ErrorKind,
        message: String,
        retryable: bool,
    },
    /// It waits for approval of these arguments.
    Pending {
        arguments: Value,
    },
}

/// The value, or, where it cannot be kept, what the model is told instead: the tool has run, and is not to run again.
fn storable(value: Value) -> CallOutcome {
    let Err(error) = freeze("the tool's result", &value, STATE_BYTES_MAX) else { return CallOutcome::Value(value) };
    dismantle(value);
    let message = format!("the tool ran, but its result cannot be kept: {error}");
    CallOutcome::Error { kind: ErrorKind::ToolFailed, message, retryable: false }
}

impl CallRecord {
    pub(super) fn new(result: ToolResult, asked_for: Option<Value>, counted: bool) -> Self {
        let outcome = match result.outcome {
            Outcome::Ok(value) => storable(value),
            Outcome::Error(CallError { kind, message, retryable, .. }) => {
                CallOutcome::Error { kind, message, retryable }
            }
            Outcome::Pending { .. } => CallOutcome::Pending { arguments: asked_for.unwrap_or_default() },
        };
        let duration_ns = whole_nanoseconds(result.duration);
        Self { outcome, attempts: result.attempts, cached: result.cached, duration_ns, counted }
    }

    /// The result, as the call had it.
    pub(super) fn into_result(self, run_id: Arc<str>, call_id: &str, tool: &str, approval_id: Arc<str>) -> ToolResult {
        let outcome = match self.outcome {
            CallOutcome::Value(value) => Outcome::Ok(value),
            CallOutcome::Error { kind, message, retryable } => {
                Outcome::Error(CallError { retryable, ..CallError::new(kind, message) })
            }
            CallOutcome::Pending { .. } => Outcome::Pending { approval_id },
        };
        ToolResult {
            run_id,
            call_id: call_id.into(),
            tool: tool.into(),
            outcome,
            attempts: self.attempts,
            cached: self.cached,
            duration: Duration::from_nanos(self.duration_ns),
        }
    }
}
