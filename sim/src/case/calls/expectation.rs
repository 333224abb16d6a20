//! What must come out, held against what did.

use serde_json::{Map, Value, json};
use windtunnel_core::json::Path;
use windtunnel_fixtures::difference::{Difference, differences_at};

use super::outcome::{CallsOutcome, FinishedCall};
use super::wire::{WireExpect, WireInvocation, WireResult};
use crate::case::run::invocation_to_json;
use crate::case::unordered::compare_unordered;
use crate::script::Invocation;

/// How far apart two delays may be, in seconds.
const DELAY_TOLERANCE_S: f64 = 1e-9;

/// What a file expects. What it does not mention is not compared.
#[derive(Debug)]
pub(super) struct Expectation {
    results: Option<Vec<Map<String, Value>>>,
    invocations: Option<Vec<Value>>,
    invocations_unordered: Option<Vec<Value>>,
    ledger_entries: Option<u64>,
    approval_requests: Option<u64>,
}

impl From<WireExpect> for Expectation {
    fn from(wire: WireExpect) -> Self {
        let invocations = |wire: Vec<WireInvocation>| wire.into_iter().map(invocation).collect();
        Self {
            results: wire.results.map(|results| results.into_iter().map(expected_fields).collect()),
            invocations: wire.invocations.map(invocations),
            invocations_unordered: wire.invocations_unordered.map(invocations),
            ledger_entries: wire.ledger_entries,
            approval_requests: wire.approval_requests,
        }
    }
}

fn invocation(WireInvocation { tool, arguments }: WireInvocation) -> Value {
    json!({"tool": tool, "arguments": arguments})
}

/// The fields that are there.
fn expected_fields(wire: WireResult) -> Map<String, Value> {
    let fields = [
        ("status", wire.status.map(|status| json!(status))),
        ("attempts", wire.attempts.map(|attempts| json!(attempts))),
        ("error", wire.error.map(|error| json!(error))),
        ("retryable", wire.retryable.map(|retryable| json!(retryable))),
        ("delays_s", wire.delays_s.map(|delays_s| json!(delays_s))),
        ("value", wire.value),
        ("cached", wire.cached.map(|cached| json!(cached))),
        ("finished_us", wire.finished_us.map(|finished_us| json!(finished_us))),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Expectation {
    /// The differences, with paths as in the file.
    pub(super) fn compare(&self, outcome: &CallsOutcome, invocations: &[Invocation]) -> Vec<Difference> {
        let root = || Path::root().member("expect");
        let mut differences = Vec::new();
        for (index, expected) in self.results.iter().flatten().enumerate() {
            let path = root().member("results").element(index);
            differences.extend(compare_result(path, expected, outcome.calls.get(index).and_then(Option::as_ref)));
        }
        let invocations: Vec<Value> = invocations.iter().map(invocation_to_json).collect();
        if let Some(expected) = &self.invocations {
            let (expected, found) = (Value::from(expected.clone()), Value::from(invocations.clone()));
            differences.extend(differences_at(root().member("invocations"), &expected, &found));
        }
        if let Some(expected) = &self.invocations_unordered {
            differences.extend(compare_unordered(&root().member("invocations_unordered"), expected, &invocations));
        }
        for (name, expected, found) in [
            ("ledger_entries", self.ledger_entries, outcome.ledger.len()),
            ("approval_requests", self.approval_requests, outcome.approval_requests),
        ] {
            if let Some(expected) = expected {
                differences.extend(differences_at(root().member(name), &json!(expected), &json!(found)));
            }
        }
        differences
    }
}

fn compare_result(path: Path, expected: &Map<String, Value>, found: Option<&FinishedCall>) -> Vec<Difference> {
    let Some(found) = found else {
        return vec![Difference { path, expected: Some(Value::Object(expected.clone())), found: None }];
    };
    let all = found.to_json();
    let mut differences = Vec::new();
    for (name, expected) in expected {
        let found_value = &all[name];
        let is_near = match name.as_str() {
            "delays_s" => are_near(expected, found_value),
            "finished_us" => expected.as_u64().is_some_and(|expected| found.finished_us().abs_diff(expected) <= 1),
            _ => false,
        };
        if !is_near {
            differences.extend(differences_at(path.clone().member(name), expected, found_value));
        }
    }
    differences
}

/// Whether two lists of delays are the same but for rounding.
fn are_near(expected: &Value, found: &Value) -> bool {
    let (Value::Array(expected), Value::Array(found)) = (expected, found) else { return false };
    let is_near = |(expected, found): (&Value, &Value)| match (expected.as_f64(), found.as_f64()) {
        (Some(expected), Some(found)) => (expected - found).abs() <= DELAY_TOLERANCE_S,
        _ => false,
    };
    expected.len() == found.len() && expected.iter().zip(found).all(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_may_differ_by_their_rounding() {
        assert!(are_near(&json!([0.5, 1]), &json!([0.5 + 9e-10, 1.0])));
        assert!(!are_near(&json!([0.5]), &json!([0.5 + 2e-9])));
        assert!(!are_near(&json!([0.5]), &json!([0.5, 0.5])));
        assert!(!are_near(&json!([0.5]), &json!(null)));
    }
}
