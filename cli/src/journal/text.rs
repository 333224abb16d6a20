//! Journals for people.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::Value;
use windtunnel_core::durable::sqlite::{Finding, WorkflowReading};
use windtunnel_core::durable::{
    ActivationHistory, CommittedRecord, Decision, JOURNAL_BYTES_MAX, OUTPUT_BYTES_MAX, RECORDS_MAX, STATE_BYTES_MAX,
    Wake,
};
use windtunnel_core::json::canonical;

use super::document::journal_bytes;
use super::show::Counts;
use crate::printable;
use crate::style::Style;

pub(super) fn write_workflow(
    workflow: &Result<WorkflowReading, Finding>,
    has_values: bool,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let workflow = match workflow {
        Ok(workflow) => workflow,
        Err(finding) => return write_finding("", finding, style, out),
    };
    let (id, name) = (quoted(&workflow.workflow_id), quoted(&workflow.workflow));
    writeln!(out, "{} of {name}: {}", style.strong(&format!("workflow {id}")), standing(workflow))?;
    for activation in &workflow.activations {
        match activation {
            Ok(activation) => write_activation(activation, has_values, style, out)?,
            Err(finding) => write_finding("  ", finding, style, out)?,
        }
    }
    workflow.findings.iter().try_for_each(|finding| write_finding("  ", finding, style, out))
}

/// How far the workflow has come, as far as it can be read.
fn standing(workflow: &WorkflowReading) -> &'static str {
    if !workflow.is_sound() {
        return "damaged";
    }
    let last = workflow.activations.last().and_then(|activation| activation.as_ref().ok());
    match last.and_then(|activation| activation.decision.as_ref()) {
        Some((Decision::Complete(_), _)) => "completed",
        Some((Decision::Fail { .. }, _)) => "failed",
        _ => "open",
    }
}

fn write_activation(
    activation: &ActivationHistory,
    has_values: bool,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let (id, entry) = (&activation.activation_id, quoted(activation.checkpoint.entry()));
    writeln!(out, "  {} at {entry}: {}", style.strong(id), begun(activation))?;
    let (state, records, bytes) = (activation.checkpoint.bytes(), activation.records.len(), journal_bytes(activation));
    writeln!(
        out,
        "    state of {state} of {STATE_BYTES_MAX} bytes; journal of {records} of {RECORDS_MAX} records, {bytes} of \
         {JOURNAL_BYTES_MAX} bytes"
    )?;
    if has_values {
        if let Some(Wake::Event { payload, .. }) = &activation.wake {
            write_value("    ", "payload", payload, out)?;
        }
        write_value("    ", "state", activation.checkpoint.state(), out)?;
    }
    write_records(activation, has_values, out)?;
    write_decision(activation, has_values, out)
}

/// Why it began, and how often.
fn begun(activation: &ActivationHistory) -> String {
    let why = match &activation.wake {
        None => "waits for its event".to_owned(),
        Some(Wake::Timer { key }) => format!("timer {}", quoted(key)),
        Some(Wake::Event { key, payload }) => format!("event {} of {} bytes", quoted(key), bytes_of(payload)),
        Some(Wake::Timeout { key }) => format!("timeout of {}", quoted(key)),
        Some(wake) => wake.name().to_owned(),
    };
    let attempts = counted(activation.attempts, "attempt");
    let failed = if activation.failures > 0 { format!(", {} failed", activation.failures) } else { String::new() };
    format!("{why}, {attempts}{failed}")
}

fn write_records(activation: &ActivationHistory, has_values: bool, out: &mut impl Write) -> io::Result<()> {
    let columns = |committed: &CommittedRecord| {
        let binding = committed.record.binding();
        let called = format!("{} {}", binding.kind(), binding.callable());
        [quoted(binding.key()), shown(&called), quoted(binding.version())]
    };
    let rows: Vec<_> = activation.records.iter().map(columns).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    for (committed, [key, called, version]) in activation.records.iter().zip(&rows) {
        let bytes = committed.record.bytes();
        let [of_key, of_called, of_version] = widths;
        writeln!(
            out,
            "    {key:of_key$}  {called:of_called$}  version {version:of_version$}  {bytes:6} bytes  {}",
            attempts_of(committed, activation.attempts)
        )?;
        if has_values {
            write_value("      ", "arguments", committed.record.binding().arguments(), out)?;
            write_value("      ", "result", committed.record.output(), out)?;
        }
    }
    Ok(())
}

/// Who made the call, and who was given its result instead.
fn attempts_of(committed: &CommittedRecord, attempts: u64) -> String {
    let made = match committed.attempt {
        0 => "there before any attempt".to_owned(),
        attempt => format!("executed by attempt {attempt}"),
    };
    match committed.attempt + 1 {
        first if first > attempts => made,
        first if first == attempts => format!("{made}, kept for attempt {first}"),
        first => format!("{made}, kept for attempts {first} to {attempts}"),
    }
}

fn write_decision(activation: &ActivationHistory, has_values: bool, out: &mut impl Write) -> io::Result<()> {
    let Some((decision, by)) = &activation.decision else { return writeln!(out, "    not decided") };
    let what = match decision {
        Decision::Continue(_) => "continue".to_owned(),
        Decision::Sleep { key, duration, .. } => format!("sleep {} for {} s", quoted(key), duration.as_secs_f64()),
        Decision::WaitEvent { key, timeout, .. } => {
            let timeout = timeout.map(|timeout| format!(" for at most {} s", timeout.as_secs_f64()));
            format!("wait for the event {}{}", quoted(key), timeout.unwrap_or_default())
        }
        Decision::Complete(output) => {
            format!("complete with an output of {} of {OUTPUT_BYTES_MAX} bytes", bytes_of(output))
        }
        Decision::Fail { kind, message } => {
            format!("fail as {} with a message of {} bytes", quoted(kind), message.len())
        }
    };
    writeln!(out, "    decided by attempt {by}: {what}")?;
    match decision {
        Decision::Complete(output) if has_values => write_value("      ", "output", output, out),
        Decision::Fail { message, .. } if has_values => write_named("      ", "message", &quoted(message), out),
        _ => Ok(()),
    }
}

/// Something that is damaged, with where.
pub(super) fn write_finding(indent: &str, finding: &Finding, style: Style, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{indent}{} {}", style.bad("DAMAGED"), shown(&finding.to_string()))
}

pub(super) fn write_counts(
    counts: &Counts,
    is_interrupted: bool,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let Counts { workflows, activations, records, findings } = *counts;
    if is_interrupted {
        writeln!(out, "interrupted")?;
    }
    let all = [(workflows, "workflow"), (activations, "activation"), (records, "record")];
    let all = all.map(|(count, name)| counted(count as u64, name)).join(", ");
    if findings == 0 {
        return writeln!(out, "{all}");
    }
    writeln!(out, "{all}, {}", style.bad(&format!("{findings} damaged")))
}

fn write_value(indent: &str, name: &str, value: &Value, out: &mut impl Write) -> io::Result<()> {
    write_named(indent, name, &shown(&value.to_string()), out)
}

fn write_named(indent: &str, name: &str, value: &impl Display, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{indent}{name:9} {value}")
}

fn bytes_of(value: &Value) -> usize {
    canonical(value).len()
}

pub(super) fn counted(count: u64, name: &str) -> String {
    if count == 1 { format!("{count} {name}") } else { format!("{count} {name}s") }
}

fn quoted(text: &str) -> String {
    shown(&Value::from(text).to_string())
}

fn shown(text: &str) -> String {
    printable::line(text).into_owned()
}
