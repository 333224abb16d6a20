//! Events as `tracing` spans and records, with OpenTelemetry's GenAI names where it has one.

use tracing::{Level, Span};

use super::{Event, EventKind};

const TARGET: &str = "windtunnel::event";

/// The span of one call.
pub(crate) fn call_span(tool: &str, call_id: &str, run_id: &str) -> Span {
    tracing::info_span!(
        target: TARGET,
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        gen_ai.tool.call.id = call_id,
        run_id,
    )
}

pub(super) fn is_on() -> bool {
    tracing::enabled!(target: TARGET, Level::DEBUG)
}

/// The fields of a record; those that an event does not have are left out of it.
#[derive(Default)]
struct Fields<'a> {
    operation: Option<&'a str>,
    model: Option<&'a str>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    approval_id: Option<&'a str>,
    approved: Option<bool>,
    edited: Option<bool>,
    attempt: Option<u32>,
    attempts: Option<u32>,
    turn: Option<u32>,
    delay_s: Option<f64>,
    duration_s: Option<f64>,
    cached: Option<bool>,
    error: Option<&'static str>,
}

pub(super) fn record(event: &Event) {
    let fields = Fields::of(&event.kind);
    tracing::debug!(
        target: TARGET,
        sequence = event.sequence,
        run_id = &*event.run_id,
        parent_id = event.parent_id.as_deref(),
        gen_ai.operation.name = fields.operation,
        gen_ai.request.model = fields.model,
        gen_ai.tool.call.id = event.call_id.as_deref(),
        gen_ai.tool.name = event.kind.tool().map(|tool| &**tool),
        gen_ai.usage.input_tokens = fields.input_tokens,
        gen_ai.usage.output_tokens = fields.output_tokens,
        error.type = fields.error,
        approval_id = fields.approval_id,
        approved = fields.approved,
        edited = fields.edited,
        attempt = fields.attempt,
        attempts = fields.attempts,
        turn = fields.turn,
        delay_s = fields.delay_s,
        duration_s = fields.duration_s,
        cached = fields.cached,
        "{}",
        event.kind.name()
    );
}

impl<'a> Fields<'a> {
    fn of(kind: &'a EventKind) -> Self {
        let tool = Self { operation: Some("execute_tool"), ..Self::default() };
        let model = Self { operation: Some("chat"), ..Self::default() };
        match kind {
            EventKind::ActivationRetry { cause, delay_s, .. } => {
                Self { error: Some(cause), delay_s: Some(*delay_s), ..Self::default() }
            }
            EventKind::ActivationFinished { error, duration_s, .. }
            | EventKind::OperationExecuted { error, duration_s, .. } => {
                Self { error: *error, duration_s: Some(*duration_s), ..Self::default() }
            }
            EventKind::OperationRefused { error, .. } => Self { error: Some(error), ..Self::default() },
            EventKind::ToolStarted { .. } | EventKind::ToolCacheHit { .. } | EventKind::ToolBody { .. } => tool,
            EventKind::ToolAttempt { attempt, .. } | EventKind::ProgramCall { attempt, .. } => {
                Self { attempt: Some(*attempt), ..tool }
            }
            EventKind::ProgramAnswer { attempt, error, duration_s, .. } => {
                Self { attempt: Some(*attempt), error: *error, duration_s: Some(*duration_s), ..tool }
            }
            EventKind::ProgramFinished { error, duration_s, .. } => {
                Self { error: *error, duration_s: Some(*duration_s), ..Self::default() }
            }
            EventKind::ToolRetry { attempt, cause, delay_s, .. }
            | EventKind::ProgramRetry { attempt, cause, delay_s, .. } => {
                Self { attempt: Some(*attempt), error: Some(cause), delay_s: Some(*delay_s), ..tool }
            }
            EventKind::ToolFinished { error, attempts, cached, duration_s, .. } => Self {
                error: *error,
                attempts: Some(*attempts),
                cached: Some(*cached),
                duration_s: Some(*duration_s),
                ..tool
            },
            EventKind::ToolPending { approval_id, .. } | EventKind::ApprovalRequested { approval_id, .. } => {
                Self { approval_id: Some(approval_id), ..tool }
            }
            EventKind::ApprovalDecided { approval_id, approved, edited, .. } => {
                Self { approval_id: Some(approval_id), approved: Some(*approved), edited: Some(*edited), ..tool }
            }
            EventKind::ModelStarted { model: name, turn } => Self { model: Some(name), turn: Some(*turn), ..model },
            EventKind::ModelFinished { model: name, turn, error, input_tokens, output_tokens, .. } => Self {
                model: Some(name),
                turn: Some(*turn),
                error: *error,
                input_tokens: Some(*input_tokens),
                output_tokens: Some(*output_tokens),
                ..model
            },
            EventKind::ModelRequest { model: name } => Self { model: Some(name), ..model },
            _ => Self::default(),
        }
    }
}
