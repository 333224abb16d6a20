//! A trace for <https://ui.perfetto.dev>, in the Trace Event Format.

use std::fmt::{self, Display, Write};
use std::time::Duration;

use serde_json::{Map, Value};
use windtunnel_core::event::{Event, EventKind};

use super::lane::{Lane, Lanes};
use super::message::messages;
use super::span::{Span, SpanKind, Spans};

/// The trace as JSON in the Trace Event Format, which <https://ui.perfetto.dev> and `chrome://tracing` open.
///
/// A host is a process; a run and a call are threads. Calls, attempts, pauses before a retry, approvals, operations and
/// lives of hosts are slices, messages between hosts are arrows, and everything else is a mark, faults across their whole
/// host. Times are those of the world; the same trace gives the same text.
pub fn perfetto(events: &[Event]) -> String {
    let mut text = Text { lines: String::new() };
    let mut lanes = Lanes::default();
    let read = Spans::of(events);
    for span in &read.spans {
        text.slice(lanes.of_span(span), span);
    }
    for (event, _) in &read.instants {
        let lane = lanes.of_instant(event);
        match event.kind {
            // An arrow begins and ends at a slice.
            EventKind::NetworkSend { .. } | EventKind::NetworkReceive { .. } => text.moment(lane, event),
            _ => text.mark(lane, event),
        }
    }
    for (number, message) in messages(events).into_iter().enumerate() {
        text.flow("\"s\"", lanes.of_instant(message.sent), message.sent, number);
        text.flow("\"f\",\"bp\":\"e\"", lanes.of_instant(message.received), message.received, number);
    }
    for process in &lanes.processes {
        text.name("process_name", Lane { process: process.number, thread: process.number }, &process.name);
        for (thread, name) in &process.threads {
            text.name("thread_name", Lane { process: process.number, thread: *thread }, name);
        }
    }
    format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{}\n]}}\n", text.lines)
}

/// The events of the format, each on a line.
struct Text {
    lines: String,
}

impl Text {
    fn slice(&mut self, lane: Lane, span: &Span<'_>) {
        let lasted = Micros(span.end.saturating_sub(span.first.at));
        let (kind, at) = (kind(span.kind), Micros(span.first.at));
        let (name, data) = (quoted(&name(span)), Value::Object(span_data(span)));
        self.line(format_args!(
            r#"{{"ph":"X",{lane},"ts":{at},"dur":{lasted},"cat":"{kind}","name":{name},"args":{data}}}"#
        ));
    }

    fn moment(&mut self, lane: Lane, event: &Event) {
        let (at, name, data) = (Micros(event.at), event.kind.name(), Value::Object(data(event)));
        self.line(format_args!(
            r#"{{"ph":"X",{lane},"ts":{at},"dur":0,"cat":"network","name":"{name}","args":{data}}}"#
        ));
    }

    fn mark(&mut self, lane: Lane, event: &Event) {
        let (at, data) = (Micros(event.at), Value::Object(data(event)));
        let (name, scope) = (quoted(&mark(event)), scope(event));
        let kind = event.kind.name();
        self.line(format_args!(
            r#"{{"ph":"i","s":"{scope}",{lane},"ts":{at},"cat":"{kind}","name":{name},"args":{data}}}"#
        ));
    }

    fn flow(&mut self, phase: &str, lane: Lane, event: &Event, number: usize) {
        let at = Micros(event.at);
        self.line(format_args!(r#"{{"ph":{phase},"id":{number},{lane},"ts":{at},"cat":"network","name":"message"}}"#));
    }

    fn name(&mut self, what: &str, lane: Lane, name: &str) {
        let name = quoted(name);
        self.line(format_args!(r#"{{"ph":"M",{lane},"name":"{what}","args":{{"name":{name}}}}}"#));
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        let separator = if self.lines.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _infallible = write!(self.lines, "{separator}\n{line}");
    }
}

impl Display for Lane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, r#""pid":{},"tid":{}"#, self.process, self.thread)
    }
}

/// Microseconds, exact to the nanosecond.
struct Micros(Duration);

impl Display for Micros {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        write!(formatter, "{}.{:03}", nanos / 1_000, nanos % 1_000)
    }
}

fn quoted(text: &str) -> Value {
    Value::from(text)
}

fn kind(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Life => "host",
        SpanKind::Pause => "pause",
        SpanKind::Run => "run",
        SpanKind::Call => "call",
        SpanKind::Attempt => "attempt",
        SpanKind::Wait => "wait",
        SpanKind::Approval => "approval",
        SpanKind::Program => "program",
        SpanKind::Turn => "model",
        SpanKind::Activation => "activation",
        SpanKind::Operation => "operation",
        SpanKind::Commit => "commit",
        SpanKind::Mark => "mark",
    }
}

fn name(span: &Span<'_>) -> String {
    match &span.first.kind {
        EventKind::HostStarted {} => "up".to_owned(),
        EventKind::HostPaused {} => "paused".to_owned(),
        EventKind::RunStarted {} => span.first.run_id.to_string(),
        EventKind::ToolStarted { tool } => tool.to_string(),
        EventKind::ToolAttempt { attempt, .. } => format!("attempt {attempt}"),
        EventKind::ProgramCall { tool, attempt, .. } => format!("{tool}, attempt {attempt}"),
        EventKind::ToolRetry { attempt, cause, .. } | EventKind::ProgramRetry { attempt, cause, .. } => {
            format!("wait after attempt {attempt}: {cause}")
        }
        EventKind::ApprovalRequested { .. } => "approval".to_owned(),
        EventKind::ProgramStarted { program, .. } => format!("program {program}").trim_end().to_owned(),
        EventKind::ModelStarted { model, turn } => format!("model {model} turn {turn}").replace("  ", " "),
        EventKind::ActivationStarted { workflow, attempt, .. } => format!("{workflow}, attempt {attempt}"),
        EventKind::OperationStarted { callable, .. } => callable.to_string(),
        EventKind::OperationCommit { .. } => "commit".to_owned(),
        kind => kind.name().to_owned(),
    }
}

fn mark(event: &Event) -> String {
    match &event.kind {
        EventKind::FaultDelivered { fault } => format!("fault: {fault}"),
        EventKind::EffectHappened { effect, .. } => format!("effect: {effect}"),
        EventKind::Mark { mark } => mark.to_string(),
        EventKind::AssertionFailed { assertion } => format!("broken: {assertion}"),
        kind => kind.name().to_owned(),
    }
}

/// Whether a mark is about its thread, its process, or everything.
fn scope(event: &Event) -> &'static str {
    let kind = &event.kind;
    let is_wide = matches!(kind, EventKind::FaultDelivered { .. } | EventKind::AssertionFailed { .. })
        || ["host.", "link.", "clock.", "world."].iter().any(|family| kind.name().starts_with(family));
    match (is_wide, &event.host) {
        (false, _) => "t",
        (true, Some(_)) => "p",
        (true, None) => "g",
    }
}

/// What both ends of a span say.
fn span_data(span: &Span<'_>) -> Map<String, Value> {
    let mut both = data(span.first);
    match span.last {
        Some(last) => {
            if last.call_id == span.first.call_id && last.run_id == span.first.run_id {
                both.extend(last.data());
            }
            both.insert("ended_by".to_owned(), last.kind.name().into());
        }
        None => {
            both.insert("ended_by".to_owned(), "nothing: the trace ends first".into());
        }
    }
    both
}

fn data(event: &Event) -> Map<String, Value> {
    let mut data = event.data();
    data.insert("sequence".to_owned(), event.sequence.into());
    if let Some(parent) = &event.parent_id {
        data.insert("parent_id".to_owned(), (&**parent).into());
    }
    data
}
