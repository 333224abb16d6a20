//! Events as `tracing` spans and records, with OpenTelemetry's GenAI names where it has one.

use serde_json::Value;
use tracing::{Level, Span};

use super::Event;

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

pub(super) fn record(event: &Event) {
    let data = event.data();
    let text = |name| data.get(name).and_then(Value::as_str);
    let count = |name| data.get(name).and_then(Value::as_u64);
    let seconds = |name| data.get(name).and_then(Value::as_f64);
    let truth = |name| data.get(name).and_then(Value::as_bool);
    let (tool, model) = (text("tool"), text("model"));
    let operation = tool.map(|_| "execute_tool").or(model.map(|_| "chat"));
    tracing::debug!(
        target: TARGET,
        sequence = event.sequence,
        run_id = &*event.run_id,
        parent_id = event.parent_id.as_deref(),
        gen_ai.operation.name = operation,
        gen_ai.request.model = model,
        gen_ai.tool.call.id = event.call_id.as_deref(),
        gen_ai.tool.name = tool,
        gen_ai.usage.input_tokens = count("input_tokens"),
        gen_ai.usage.output_tokens = count("output_tokens"),
        error.type = text("error").or(text("cause")),
        approval_id = text("approval_id"),
        approved = truth("approved"),
        edited = truth("edited"),
        attempt = count("attempt"),
        attempts = count("attempts"),
        turn = count("turn"),
        delay_s = seconds("delay_s"),
        duration_s = seconds("duration_s"),
        cached = truth("cached"),
        "{}",
        event.kind.name()
    );
}
