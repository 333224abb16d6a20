//! A trace as spans of OpenTelemetry.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use windtunnel_core::event::{Event, EventKind};

use super::span::{Span, SpanKind, Spans};
use crate::trace;

/// The trace as JSON of the OpenTelemetry Protocol, which a collector takes at `/v1/traces` or from a file.
///
/// Each host is a service. Names and attributes are those of OpenTelemetry's conventions for generative AI where it has
/// one. What does not last is an event of the span that it is part of, or else a span without a duration. Times are those
/// of the world, whose wall clock showed `epoch` when it began; identifiers follow from the trace, so that the same trace
/// gives the same text.
pub fn otlp(events: &[Event], epoch: SystemTime) -> String {
    let digest = trace::digest(events);
    let since_1970 = epoch.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let Spans { mut spans, instants } = Spans::of(events);
    let mut marks: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    let at = |time: Duration| (since_1970 + time).as_nanos().to_string();
    for (event, parent) in instants {
        let mark =
            json!({"timeUnixNano": at(event.at), "name": event.kind.name(), "attributes": attributes(event.data())});
        match parent {
            Some(parent) => marks.entry(parent).or_default().push(mark),
            None => {
                spans.push(Span { kind: SpanKind::Mark, first: event, last: Some(event), end: event.at, parent: None });
            }
        }
    }
    let mut written: Vec<(&Event, Value)> = Vec::with_capacity(spans.len());
    for (place, span) in spans.iter().enumerate() {
        let root = root(&spans, place);
        let mut json = json!({
            "traceId": identifier(&digest, "trace", root, 32),
            "spanId": identifier(&digest, "span", place, 16),
            "name": name(span),
            "kind": kind(span),
            "startTimeUnixNano": at(span.first.at),
            "endTimeUnixNano": at(span.end),
            "attributes": attributes(data(span)),
            "events": marks.remove(&place).unwrap_or_default(),
            "status": status(span),
        });
        if let Some(parent) = span.parent {
            json["parentSpanId"] = identifier(&digest, "span", parent, 16).into();
        }
        written.push((span.first, json));
    }
    format!("{}\n", json!({"resourceSpans": resources(written)}))
}

/// The spans by their hosts, in the order in which hosts came up.
fn resources(spans: Vec<(&Event, Value)>) -> Vec<Value> {
    let mut services: Vec<(&str, Vec<Value>)> = Vec::new();
    for (event, span) in spans {
        let service = event.host.as_deref().unwrap_or("windtunnel");
        match services.iter_mut().find(|(name, _)| *name == service) {
            Some((_, spans)) => spans.push(span),
            None => services.push((service, vec![span])),
        }
    }
    let scope = json!({"name": "windtunnel", "version": env!("CARGO_PKG_VERSION")});
    let resource = |(service, spans): (&str, Vec<Value>)| {
        let attributes = [json!({"key": "service.name", "value": {"stringValue": service}})];
        json!({"resource": {"attributes": attributes}, "scopeSpans": [{"scope": scope, "spans": spans}]})
    };
    services.into_iter().map(resource).collect()
}

/// What a span is part of in the end: each has a trace of its own.
fn root(spans: &[Span<'_>], mut place: usize) -> usize {
    while let Some(parent) = spans[place].parent {
        place = parent;
    }
    place
}

/// So many hexadecimal digits that follow from the trace.
fn identifier(digest: &str, what: &str, number: usize, digits: usize) -> String {
    let hash = Sha256::digest(format!("{digest} {what} {number}"));
    hash.iter().take(digits / 2).map(|byte| format!("{byte:02x}")).collect()
}

fn name(span: &Span<'_>) -> String {
    match &span.first.kind {
        EventKind::ToolStarted { tool } => format!("execute_tool {tool}"),
        EventKind::ModelStarted { model, .. } => format!("chat {model}").trim_end().to_owned(),
        EventKind::ActivationStarted { workflow, .. } => format!("invoke_agent {workflow}"),
        EventKind::OperationStarted { operation, .. } => format!("operation {operation}"),
        EventKind::ProgramStarted { program, .. } => format!("program {program}").trim_end().to_owned(),
        EventKind::ToolAttempt { attempt, .. } => format!("attempt {attempt}"),
        EventKind::ProgramCall { tool, attempt, .. } => format!("{tool} attempt {attempt}"),
        EventKind::ToolRetry { .. } | EventKind::ProgramRetry { .. } => "wait".to_owned(),
        EventKind::ApprovalRequested { .. } => "approval".to_owned(),
        EventKind::OperationCommit { operation, .. } => format!("commit {operation}"),
        EventKind::HostStarted {} => "life of the host".to_owned(),
        EventKind::HostPaused {} => "pause of the host".to_owned(),
        EventKind::RunStarted {} => format!("run {}", span.first.run_id),
        kind => kind.name().to_owned(),
    }
}

/// Models are asked over a network, the rest is internal.
fn kind(span: &Span<'_>) -> u8 {
    if span.kind == SpanKind::Turn { 3 } else { 1 }
}

/// What both ends of a span say, under the names of OpenTelemetry where it has one.
fn data(span: &Span<'_>) -> Map<String, Value> {
    let mut data = span.first.data();
    if let Some(last) = span.last.filter(|last| last.call_id == span.first.call_id) {
        data.extend(last.data());
    }
    data.remove("status");
    let renamed = [
        ("tool", "gen_ai.tool.name"),
        ("model", "gen_ai.request.model"),
        ("workflow", "gen_ai.agent.name"),
        ("input_tokens", "gen_ai.usage.input_tokens"),
        ("output_tokens", "gen_ai.usage.output_tokens"),
        ("error", "error.type"),
        // Why an attempt failed, and not the pause after it.
        (if span.kind == SpanKind::Attempt { "cause" } else { "" }, "error.type"),
    ];
    for (ours, theirs) in renamed {
        if let Some(value) = data.remove(ours) {
            data.insert(theirs.to_owned(), value);
        }
    }
    let operation = match span.kind {
        SpanKind::Call => Some("execute_tool"),
        SpanKind::Turn => Some("chat"),
        SpanKind::Activation => Some("invoke_agent"),
        _ => None,
    };
    let event = span.first;
    let call = (span.kind == SpanKind::Call).then_some(event.call_id.as_deref()).flatten();
    let texts = [("gen_ai.operation.name", operation), ("gen_ai.tool.call.id", call), ("run_id", Some(&*event.run_id))];
    data.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into()))));
    data
}

/// An error, where the event that ended the span says so; no status, where the trace or the host ended first.
fn status(span: &Span<'_>) -> Value {
    let data = span.last.map(Event::data).unwrap_or_default();
    let is_error = data.contains_key("error") || data.contains_key("cause");
    let is_ok = data.get("status").is_some_and(|status| status == "ok");
    match (is_error, is_ok) {
        (true, _) => json!({"code": 2}),
        (false, true) => json!({"code": 1}),
        (false, false) => json!({}),
    }
}

fn attributes(data: Map<String, Value>) -> Vec<Value> {
    let attribute = |(key, value): (String, Value)| {
        let value = match value {
            Value::Bool(value) => json!({"boolValue": value}),
            // Whole numbers of 64 bits are texts in this JSON.
            Value::Number(number) if !number.is_f64() => json!({"intValue": number.to_string()}),
            Value::Number(number) => json!({"doubleValue": number}),
            Value::String(text) => json!({"stringValue": text}),
            value => json!({"stringValue": value.to_string()}),
        };
        json!({"key": key, "value": value})
    };
    data.into_iter().map(attribute).collect()
}
