//! Journals as a JSON document. What it holds is a contract: `JOURNAL_JSON.md`.

use std::io::{self, Write};

use serde_json::{Value, json};
use windtunnel_core::durable::sqlite::{Finding, Place, WorkflowReading};
use windtunnel_core::durable::{
    ActivationHistory, Checkpoint, CommittedRecord, Decision, JOURNAL_BYTES_MAX, Journal, RECORD_BYTES_MAX,
    RECORDS_MAX, STATE_BYTES_MAX, Wake,
};
use windtunnel_core::json::canonical;

use crate::printable;

/// The version of the documents: a new one where a member changes its meaning or goes away.
pub(super) const FORMAT: u64 = 1;

/// Everything before the workflows.
pub(super) fn write_begin(file: &str, findings: &[Finding], out: &mut impl Write) -> io::Result<()> {
    let head = json!({
        "format": FORMAT,
        "file": file,
        "bounds": {
            "records": RECORDS_MAX,
            "journal_bytes": JOURNAL_BYTES_MAX,
            "record_bytes": RECORD_BYTES_MAX,
            "state_bytes": STATE_BYTES_MAX,
        },
        "findings": findings.iter().map(finding).collect::<Value>(),
    });
    let head = head.to_string();
    let members = head.strip_suffix('}').unwrap_or_default();
    write!(out, "{},\"workflows\":[", printable::line(members))
}

/// Everything after them.
pub(super) fn write_end(is_interrupted: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n],\"interrupted\":{is_interrupted}}}")
}

pub(super) fn workflow(workflow: &Result<WorkflowReading, Finding>, has_values: bool) -> Value {
    match workflow {
        Ok(workflow) => json!({
            "workflow_id": &*workflow.workflow_id,
            "workflow": &*workflow.workflow,
            "sound": workflow.is_sound(),
            "findings": workflow.findings().map(finding).collect::<Value>(),
            "activations": workflow.activations.iter().flatten().map(|one| activation(one, has_values)).collect::<Value>(),
        }),
        Err(damage) => json!({
            "workflow_id": null,
            "workflow": null,
            "sound": false,
            "findings": [finding(damage)],
            "activations": [],
        }),
    }
}

fn activation(activation: &ActivationHistory, has_values: bool) -> Value {
    json!({
        "activation_id": &*activation.activation_id,
        "wake": activation.wake.as_ref().map(|one| wake(one, has_values)),
        "checkpoint": checkpoint(&activation.checkpoint, has_values),
        "attempts": activation.attempts,
        "failures": activation.failures,
        "journal_bytes": journal_bytes(activation),
        "records": activation.records.iter().map(|one| record(one, has_values)).collect::<Value>(),
        "decision": activation.decision.as_ref().map(|(made, by)| decision(made, *by, has_values)),
    })
}

/// How many bytes the journal counts.
pub(super) fn journal_bytes(activation: &ActivationHistory) -> usize {
    let records = activation.records.iter().map(|committed| committed.record.clone());
    Journal::from_records(records).map_or(0, |journal| journal.bytes())
}

fn record(committed: &CommittedRecord, has_values: bool) -> Value {
    let binding = committed.record.binding();
    let mut shown = json!({
        "key": &**binding.key(),
        "kind": binding.kind().as_str(),
        "callable": &**binding.callable(),
        "version": &**binding.version(),
        "bytes": committed.record.bytes(),
        "attempt": committed.attempt,
    });
    add_value(&mut shown, "arguments", binding.arguments(), has_values);
    add_value(&mut shown, "result", committed.record.output(), has_values);
    shown
}

fn wake(wake: &Wake, has_values: bool) -> Value {
    let mut shown = json!({"name": wake.name()});
    if let Wake::Timer { key } | Wake::Event { key, .. } | Wake::Timeout { key } = wake {
        shown["key"] = json!(&**key);
    }
    if let Wake::Event { payload, .. } = wake {
        add_value(&mut shown, "payload", payload, has_values);
    }
    shown
}

fn checkpoint(checkpoint: &Checkpoint, has_values: bool) -> Value {
    let mut shown = json!({"entry": &**checkpoint.entry()});
    add_value(&mut shown, "state", checkpoint.state(), has_values);
    shown
}

fn decision(decision: &Decision, by: u64, has_values: bool) -> Value {
    let mut shown = json!({"name": decision.name(), "attempt": by});
    match decision {
        Decision::Continue(_) => {}
        Decision::Sleep { key, duration, .. } => {
            shown["key"] = json!(&**key);
            shown["duration_s"] = json!(duration.as_secs_f64());
        }
        Decision::WaitEvent { key, timeout, .. } => {
            shown["key"] = json!(&**key);
            shown["timeout_s"] = json!(timeout.map(|timeout| timeout.as_secs_f64()));
        }
        Decision::Complete(output) => add_value(&mut shown, "output", output, has_values),
        Decision::Fail { kind, message } => {
            shown["kind"] = json!(&**kind);
            shown["message_bytes"] = json!(message.len());
            if has_values {
                shown["message"] = json!(&**message);
            }
        }
    }
    shown
}

/// The size always, and the value only where it is asked for.
fn add_value(shown: &mut Value, name: &str, value: &Value, has_values: bool) {
    shown[format!("{name}_bytes")] = json!(canonical(value).len());
    if has_values {
        shown[name] = value.clone();
    }
}

pub(super) fn finding(finding: &Finding) -> Value {
    json!({"place": place(&finding.place), "problem": finding.problem})
}

fn place(place: &Place) -> Value {
    let mut shown = match place {
        Place::File => json!({"kind": "file"}),
        Place::Page { page } => json!({"kind": "page", "page": page}),
        Place::Frame { frame } => json!({"kind": "frame", "frame": frame}),
        Place::Number { number } => json!({"kind": "number", "number": number}),
        Place::Workflow { workflow_id } => json!({"kind": "workflow", "workflow_id": &**workflow_id}),
        Place::Event { workflow_id, key } => json!({"kind": "event", "workflow_id": &**workflow_id, "key": &**key}),
        Place::Activation { workflow_id, activation_id } => {
            json!({"kind": "activation", "workflow_id": &**workflow_id, "activation_id": &**activation_id})
        }
        Place::Record { workflow_id, activation_id, position, key } => json!({
            "kind": "record",
            "workflow_id": &**workflow_id,
            "activation_id": &**activation_id,
            "position": position,
            "key": key.as_deref(),
        }),
        _ => json!({"kind": "other"}),
    };
    shown["text"] = json!(place.to_string());
    shown
}
