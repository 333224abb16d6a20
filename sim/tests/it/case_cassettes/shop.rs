//! A shop whose agent pays: its cassettes and its cases.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use windtunnel_sim::case::{Case, CaseRun, Format};

pub(super) const MODEL: &str = "$.model.cassette: shop.json:";

/// A folder with a cassette of these entries.
pub(super) fn folder(tools: &Value, entries: &[Value]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let cassette = json!({"windtunnel_cassette": 1, "tools": tools, "entries": entries});
    fs::write(folder.path().join("shop.json"), cassette.to_string()).unwrap();
    folder
}

pub(super) fn try_case(folder: &Path, case: &Value) -> Result<Case, String> {
    let read = Case::read_in(folder, "f", Format::Json, case.to_string().as_bytes());
    read.map(|mut cases| cases.remove(0)).map_err(|error| error.to_string())
}

pub(super) fn case(folder: &TempDir, case: &Value) -> Case {
    try_case(folder.path(), case).unwrap()
}

#[track_caller]
pub(super) fn run_of(case: &Case, seed: u64) -> CaseRun {
    let run = case.check_determinism(seed).unwrap();
    assert_eq!(case.judge(&run).failures(), Vec::<String>::new(), "seed {seed}");
    run
}

#[track_caller]
pub(super) fn check(case: &Case) {
    drop(run_of(case, 0));
}

#[track_caller]
pub(super) fn check_failures(case: &Case, expected: &[&str]) {
    assert_eq!(case.judge(&case.run(0)).failures(), expected);
}

pub(super) fn with(mut case: Value, fields: Value) -> Value {
    case.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    case
}

pub(super) fn tool_entry(lane: &str, name: &str, arguments: Value, outcome: Value) -> Value {
    let tool = json!({"name": name, "arguments": arguments, "after_us": 250_000, "outcome": outcome});
    json!({"lane": lane, "exchange": {"tool": tool}})
}

pub(super) fn model_entry(request: Value, answer: Value) -> Value {
    json!({"exchange": {"model": {"operation": "complete", "request": request, "answer": answer}}})
}

pub(super) fn response(message: Value, finish_reason: &str) -> Value {
    json!({"response": {"after_us": 2_000_000, "response": {"message": message, "finish_reason": finish_reason}}})
}

/// What is on offer in the shop.
pub(super) fn offered() -> Value {
    json!([{"name": "pay", "description": "Pays.", "parameters": {"type": "object", "required": ["order"]}}])
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub(super) fn pays(ids: &[(&str, u64)]) -> Value {
    let calls = ids.iter().map(|(id, order)| json!({"id": id, "name": "pay", "arguments": {"order": order}}));
    json!({"role": "assistant", "content": "", "tool_calls": calls.collect::<Value>()})
}

pub(super) fn told(id: &str, text: &str) -> Value {
    json!({"role": "tool", "content": json!(text).to_string(), "tool_call_id": id})
}

pub(super) fn request(messages: &[Value]) -> Value {
    json!({"model": "opus", "messages": messages, "tools": offered()})
}

/// An agent that pays once, and tells of it.
pub(super) fn shop() -> Vec<Value> {
    let asked = [user("Pay."), pays(&[("p", 7)]), told("p", "paid")];
    vec![
        model_entry(request(&asked[..1]), response(asked[1].clone(), "tool_calls")),
        tool_entry("main", "pay", json!({"order": 7}), json!({"output": "paid"})),
        model_entry(request(&asked), response(json!({"role": "assistant", "content": "It is paid."}), "stop")),
    ]
}

pub(super) fn agent() -> Value {
    json!({
        "prompt": "Pay.",
        "rng": 0.0,
        "model": {"name": "opus", "cassette": "shop.json"},
        "tools": [{"name": "pay", "cassette": "shop.json"}],
        "expect": {"outcome": {"end": "answer", "answer": "It is paid."}},
    })
}
