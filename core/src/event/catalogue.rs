//! The catalogue of events (E13).

use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// One step of one run.
///
/// Its JSON form is the line format of traces: `sequence`, `at_ns`, `host` where there is one, `run_id`, `call_id` and `parent_id` where there is
/// one, `type`, `data`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Counts from 0 over all events of one environment, in the order of emission.
    pub sequence: u64,
    /// The environment's monotonic time; nanoseconds as `at_ns` in JSON.
    pub at: Duration,
    /// The simulated host where it happened, if there are hosts.
    pub host: Option<Arc<str>>,
    /// The run.
    pub run_id: Arc<str>,
    /// The call, unless the event is the run's own.
    pub call_id: Option<Arc<str>>,
    /// The enclosing call.
    pub parent_id: Option<Arc<str>>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened, with its data, which is its JSON form. Durations are in seconds, costs in US dollars, attempts count from 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventKind {
    /// A run scope was entered.
    RunStarted {},
    /// A run scope was left; no event of the run follows.
    RunFinished {},
    /// A call arrived.
    ToolStarted {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// An attempt is about to run.
    ToolAttempt {
        /// The tool's name.
        tool: Arc<str>,
        /// This attempt.
        attempt: u32,
    },
    /// An attempt failed and another will follow.
    ToolRetry {
        /// The tool's name.
        tool: Arc<str>,
        /// The attempt that failed.
        attempt: u32,
        /// How it failed: `timeout`, `retryable` (a `ToolError` that says so), `foreign` or `panic`.
        cause: &'static str,
        /// How long to wait before the next one, in seconds.
        delay_s: f64,
    },
    /// A call has its result.
    ToolFinished {
        /// The tool's name.
        tool: Arc<str>,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind (E6).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many attempts ran.
        attempts: u32,
        /// Whether the value came from the cache.
        cached: bool,
        /// From arrival to result, in seconds.
        duration_s: f64,
    },
    /// A call waits for a decision that comes later (E8).
    ToolPending {
        /// The tool's name.
        tool: Arc<str>,
        /// The approval it waits for.
        approval_id: Arc<str>,
    },
    /// The cache had the value.
    ToolCacheHit {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// A decision was asked for.
    ApprovalRequested {
        /// The tool's name.
        tool: Arc<str>,
        /// The approval.
        approval_id: Arc<str>,
    },
    /// A decision came.
    ApprovalDecided {
        /// The tool's name.
        tool: Arc<str>,
        /// The approval.
        approval_id: Arc<str>,
        /// Whether the call may run.
        approved: bool,
        /// Whether the reviewer changed the arguments.
        edited: bool,
    },
    /// A program's evaluation began.
    ProgramStarted {
        /// The program's name, empty if it has none.
        program: Arc<str>,
        /// Its schema's version.
        version: &'static str,
    },
    /// An evaluation is about to make one attempt of a call.
    ProgramCall {
        /// The tool's name.
        tool: Arc<str>,
        /// Where the call stands in the program, such as `$.body[1].params[0]`. A body of a function or lambda stands there
        /// once, however often it is evaluated.
        path: Arc<str>,
        /// This attempt.
        attempt: u32,
    },
    /// An attempt of an evaluation's call ended.
    ProgramAnswer {
        /// The tool's name.
        tool: Arc<str>,
        /// This attempt.
        attempt: u32,
        /// `ok`, `error` or `interrupted`.
        status: &'static str,
        /// The error's kind (V6a).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How long it took, in seconds.
        duration_s: f64,
    },
    /// An attempt of an evaluation's call failed and another will follow (V7).
    ProgramRetry {
        /// The tool's name.
        tool: Arc<str>,
        /// The attempt that failed.
        attempt: u32,
        /// The kind of its error (V6a).
        cause: &'static str,
        /// How long to wait before the next one, in seconds.
        delay_s: f64,
    },
    /// A program's evaluation is over.
    ProgramFinished {
        /// `ok`, `error`, `interrupted` by control flow, or `cancelled` when it was dropped.
        status: &'static str,
        /// The error's kind (V6a).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many nodes it evaluated.
        nodes: u64,
        /// How many attempts of tools it made.
        tool_calls: u64,
        /// From beginning to end, in seconds.
        duration_s: f64,
    },
    /// A model was asked for a turn.
    ModelStarted {
        /// The model's name.
        model: Arc<str>,
        /// The turn, from 1.
        turn: u32,
    },
    /// A model answered or failed.
    ModelFinished {
        /// The model's name.
        model: Arc<str>,
        /// The turn, from 1.
        turn: u32,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many tools it called.
        tool_calls: usize,
        /// Tokens it read.
        input_tokens: u64,
        /// Tokens it wrote.
        output_tokens: u64,
    },
    /// An attempt of a workflow's activation begins.
    ActivationStarted {
        /// The workflow's name.
        workflow: Arc<str>,
        /// Where it begins.
        entry: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// Why the activation began: `started`, `continued`, `timer`, `event` or `timeout`.
        wake: &'static str,
        /// How many records it can replay.
        records: usize,
    },
    /// The decision of an attempt is about to be committed.
    ActivationDecided {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// `continue`, `sleep`, `wait_event`, `complete` or `fail`.
        decision: &'static str,
    },
    /// The commit of a decision was not acknowledged, and what was really committed has been read back.
    ActivationReconciled {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// `decided`, `open`, `superseded` or, if it could not be read, `unknown`.
        status: &'static str,
    },
    /// An attempt abandons itself to replay what it has committed, to find what replays otherwise.
    ActivationReplayed {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// How many records it can replay.
        records: usize,
    },
    /// An attempt failed and another will follow.
    ActivationRetry {
        /// The workflow's name.
        workflow: Arc<str>,
        /// The attempt that failed.
        attempt: u64,
        /// The kind of its error (D4a), `entry-failed` or `entry-panicked`.
        cause: &'static str,
        /// How long to wait before the next one, in seconds.
        delay_s: f64,
    },
    /// An attempt is over.
    ActivationFinished {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// `decided`, `failed`, `superseded`, `uncertain`, or `cancelled` when it was dropped.
        status: &'static str,
        /// What it decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        decision: Option<&'static str>,
        /// The kind of its error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many callables ran.
        executed: usize,
        /// How many requests were answered from the journal.
        replayed: usize,
        /// From beginning to end, in seconds.
        duration_s: f64,
    },
    /// The callable of an operation is about to run.
    OperationStarted {
        /// The key.
        operation: Arc<str>,
        /// `model` or `tool`.
        kind: &'static str,
        /// The callable's name.
        callable: Arc<str>,
        /// This attempt of the activation.
        attempt: u64,
    },
    /// The callable of an operation ended: its effect has happened, and nothing is committed yet (D8).
    OperationExecuted {
        /// The key.
        operation: Arc<str>,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind (D4a).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How long it took, in seconds.
        duration_s: f64,
    },
    /// The record of an operation is about to be committed.
    OperationCommit {
        /// The key.
        operation: Arc<str>,
        /// The size of the record.
        bytes: usize,
    },
    /// The store answered to the commit of a record.
    OperationCommitted {
        /// The key.
        operation: Arc<str>,
        /// `acknowledged`, `refused` or `unknown`.
        status: &'static str,
    },
    /// A request was answered from the journal.
    OperationReplayed {
        /// The key.
        operation: Arc<str>,
        /// `model` or `tool`.
        kind: &'static str,
        /// The callable's name.
        callable: Arc<str>,
    },
    /// A request was refused: its callable did not run.
    OperationRefused {
        /// The key, unless it is no key.
        operation: Arc<str>,
        /// The error's kind (D4a).
        error: &'static str,
    },
}

impl EventKind {
    /// The name in the catalogue, such as `tool.retry`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted {} => "run.started",
            Self::RunFinished {} => "run.finished",
            Self::ToolStarted { .. } => "tool.started",
            Self::ToolAttempt { .. } => "tool.attempt",
            Self::ToolRetry { .. } => "tool.retry",
            Self::ToolFinished { .. } => "tool.finished",
            Self::ToolPending { .. } => "tool.pending",
            Self::ToolCacheHit { .. } => "tool.cache_hit",
            Self::ApprovalRequested { .. } => "approval.requested",
            Self::ApprovalDecided { .. } => "approval.decided",
            Self::ProgramStarted { .. } => "program.started",
            Self::ProgramCall { .. } => "program.call",
            Self::ProgramAnswer { .. } => "program.answer",
            Self::ProgramRetry { .. } => "program.retry",
            Self::ProgramFinished { .. } => "program.finished",
            Self::ModelStarted { .. } => "model.started",
            Self::ModelFinished { .. } => "model.finished",
            Self::ActivationStarted { .. } => "activation.started",
            Self::ActivationDecided { .. } => "activation.decided",
            Self::ActivationReconciled { .. } => "activation.reconciled",
            Self::ActivationReplayed { .. } => "activation.replayed",
            Self::ActivationRetry { .. } => "activation.retry",
            Self::ActivationFinished { .. } => "activation.finished",
            Self::OperationStarted { .. } => "operation.started",
            Self::OperationExecuted { .. } => "operation.executed",
            Self::OperationCommit { .. } => "operation.commit",
            Self::OperationCommitted { .. } => "operation.committed",
            Self::OperationReplayed { .. } => "operation.replayed",
            Self::OperationRefused { .. } => "operation.refused",
        }
    }

    /// The tool that the event is about.
    pub fn tool(&self) -> Option<&Arc<str>> {
        match self {
            Self::ToolStarted { tool }
            | Self::ToolAttempt { tool, .. }
            | Self::ToolRetry { tool, .. }
            | Self::ToolFinished { tool, .. }
            | Self::ToolPending { tool, .. }
            | Self::ToolCacheHit { tool }
            | Self::ApprovalRequested { tool, .. }
            | Self::ApprovalDecided { tool, .. }
            | Self::ProgramCall { tool, .. }
            | Self::ProgramAnswer { tool, .. }
            | Self::ProgramRetry { tool, .. } => Some(tool),
            Self::RunStarted {}
            | Self::RunFinished {}
            | Self::ProgramStarted { .. }
            | Self::ProgramFinished { .. }
            | Self::ModelStarted { .. }
            | Self::ModelFinished { .. }
            | Self::ActivationStarted { .. }
            | Self::ActivationDecided { .. }
            | Self::ActivationReconciled { .. }
            | Self::ActivationReplayed { .. }
            | Self::ActivationRetry { .. }
            | Self::ActivationFinished { .. }
            | Self::OperationStarted { .. }
            | Self::OperationExecuted { .. }
            | Self::OperationCommit { .. }
            | Self::OperationCommitted { .. }
            | Self::OperationReplayed { .. }
            | Self::OperationRefused { .. } => None,
        }
    }
}

impl Event {
    /// The event's data by name, as in its JSON form.
    ///
    /// ```
    /// use windtunnel_core::event::EventKind;
    /// # use windtunnel_core::event::Event;
    /// # let event = Event {
    /// #     host: None,
    /// #     sequence: 0, at: std::time::Duration::ZERO, run_id: "run-1".into(), call_id: None, parent_id: None,
    /// #     kind: EventKind::ToolRetry { tool: "search".into(), attempt: 1, cause: "foreign", delay_s: 0.5 },
    /// # };
    /// assert_eq!(event.data()["delay_s"], 0.5);
    /// ```
    pub fn data(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.kind) {
            Ok(Value::Object(data)) => data,
            _ => Map::new(),
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sequence", &self.sequence)?;
        map.serialize_entry("at_ns", &u64::try_from(self.at.as_nanos()).unwrap_or(u64::MAX))?;
        if let Some(host) = &self.host {
            map.serialize_entry("host", host)?;
        }
        map.serialize_entry("run_id", &self.run_id)?;
        if let Some(call_id) = &self.call_id {
            map.serialize_entry("call_id", call_id)?;
        }
        if let Some(parent_id) = &self.parent_id {
            map.serialize_entry("parent_id", parent_id)?;
        }
        map.serialize_entry("type", self.kind.name())?;
        map.serialize_entry("data", &self.kind)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_format_is_stable() {
        let retry = Event {
            host: None,
            sequence: 3,
            at: Duration::from_micros(1_500),
            run_id: "run-1".into(),
            call_id: Some("call-1".into()),
            parent_id: None,
            kind: EventKind::ToolRetry { tool: "search".into(), attempt: 1, cause: "foreign", delay_s: 0.5 },
        };
        assert_eq!(
            serde_json::to_string(&retry).unwrap(),
            r#"{"sequence":3,"at_ns":1500000,"run_id":"run-1","call_id":"call-1","type":"tool.retry","data":{"tool":"search","attempt":1,"cause":"foreign","delay_s":0.5}}"#
        );
        assert_eq!(retry.kind.name(), "tool.retry");
    }
}
