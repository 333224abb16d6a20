//! What came of calls.

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::executor::{LedgerEntry, Outcome, ToolResult};

/// What came of the calls of a case.
#[derive(Debug, Default)]
pub struct CallsOutcome {
    /// The calls in the order of the file; `None` for one that did not finish.
    pub calls: Vec<Option<FinishedCall>>,
    /// The ledger, in the order the calls finished.
    pub ledger: Vec<LedgerEntry>,
    /// How often the reviewer was asked.
    pub approval_requests: usize,
}

/// A call with its result.
#[derive(Clone, Debug)]
pub struct FinishedCall {
    /// The result.
    pub result: ToolResult,
    /// When it was there, since the case began.
    pub finished: Duration,
    /// The waits between its attempts, in seconds. `None` where two calls of a batch share an id and a tool, so that
    /// nobody can tell whose they were.
    pub delays_s: Option<Vec<f64>>,
}

impl FinishedCall {
    /// The call as JSON, with the names that case files use; what is absent is `null`.
    pub fn to_json(&self) -> Value {
        let ToolResult { run_id, call_id, tool, outcome, attempts, cached, duration } = &self.result;
        let error = self.result.error();
        let approval_id = match outcome {
            Outcome::Pending { approval_id } => Some(&**approval_id),
            _ => None,
        };
        json!({
            "tool": &**tool,
            "call_id": &**call_id,
            "run_id": &**run_id,
            "status": self.result.status(),
            "attempts": attempts,
            "error": error.map(|error| error.kind.as_str()),
            "message": error.map(|error| error.message.as_str()),
            "retryable": error.map(|error| error.retryable),
            "value": self.result.value(),
            "approval_id": approval_id,
            "cached": cached,
            "delays_s": self.delays_s,
            "duration_s": duration.as_secs_f64(),
            "finished_us": self.finished_us(),
        })
    }

    /// When the call finished, in microseconds since the case began, rounded.
    pub fn finished_us(&self) -> u64 {
        u64::try_from((self.finished.as_nanos() + 500) / 1000).unwrap_or(u64::MAX)
    }
}

/// An entry of the ledger as JSON.
pub(super) fn ledger_entry_to_json(entry: &LedgerEntry) -> Value {
    json!({
        "kind": entry.kind,
        "entry_id": &*entry.entry_id,
        "run_id": &*entry.run_id,
        "tool": &*entry.tool,
        "status": entry.status,
        "error": entry.error,
        "cost_usd": entry.cost_usd,
        "attempts": entry.attempts,
        "duration_s": entry.duration.as_secs_f64(),
    })
}
