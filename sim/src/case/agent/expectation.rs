//! What must come out, held against what did.

use serde_json::{Map, Value, json};
use windtunnel_core::json::Path;
use windtunnel_fixtures::difference::{Difference, differences_at};

use super::crashes::{Crash, CrashPoint};
use super::outcome::AgentOutcome;
use super::wire::{WireCrashed, WireExpect, WireOutcome};
use crate::case::CaseRun;
use crate::case::run::invocation_to_json;

/// What a file expects. What it does not mention is not compared.
#[derive(Debug)]
pub(super) struct Expectation {
    outcome: Option<Map<String, Value>>,
    /// What is compared whole, by its name in the file.
    whole: Vec<(&'static str, Value)>,
    crashes: Option<Vec<Map<String, Value>>>,
}

impl From<WireExpect> for Expectation {
    fn from(wire: WireExpect) -> Self {
        let invocations = wire.invocations.map(|invocations| {
            invocations.into_iter().map(|one| json!({"tool": one.tool, "arguments": one.arguments})).collect::<Value>()
        });
        let whole = [
            ("activations", wire.activations.map(Value::from)),
            ("attempts", wire.attempts.map(Value::from)),
            ("executed", wire.executed.map(Value::from)),
            ("replayed", wire.replayed.map(Value::from)),
            ("journal", wire.journal.map(|journal| json!(journal))),
            ("effects", wire.effects.map(|effects| json!(effects))),
            ("repeats", wire.repeats.map(|repeats| json!(repeats))),
            ("invocations", invocations),
            ("approvals", wire.approvals.map(|approvals| json!(approvals))),
            ("model_requests", wire.model_requests.map(Value::from)),
            ("read", wire.read.map(|read| json!(read))),
            ("elapsed_ms", wire.elapsed_ms.map(|elapsed| json!(elapsed.0.as_nanos() as f64 / 1e6))),
        ];
        Self {
            outcome: wire.outcome.as_ref().map(outcome_fields),
            whole: whole.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            crashes: wire.crashes.map(|crashes| crashes.into_iter().map(crash_fields).collect()),
        }
    }
}

/// The fields that are there.
fn outcome_fields(wire: &WireOutcome) -> Map<String, Value> {
    match json!(wire) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fields that are there.
fn crash_fields(wire: WireCrashed) -> Map<String, Value> {
    let fields = [
        ("at", wire.at.map(|at| json!(CrashPoint::from(at).as_str()))),
        ("operation", wire.operation.map(Value::from)),
        ("activation", wire.activation.map(|activation| json!(activation.0))),
        ("worker", wire.worker.map(|worker| json!(worker.0))),
        ("at_ms", wire.at_ms.map(Value::from)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// One of them says how an agent ended.
const ENDINGS: [&str; 3] = ["end", "failed", "waits_for"];

impl Expectation {
    /// The differences, with paths as in the file.
    pub(super) fn compare(&self, outcome: &AgentOutcome, run: &CaseRun) -> Vec<Difference> {
        let at = |name: &str| Path::root().member("expect").member(name);
        let mut differences = Vec::new();
        if let Some(expected) = &self.outcome {
            differences.extend(compare_outcome(at("outcome"), expected, outcome.ending.to_json()));
        }
        for (name, expected) in &self.whole {
            differences.extend(differences_at(at(name), expected, &found(name, outcome, run)));
        }
        if let Some(expected) = &self.crashes {
            differences.extend(compare_crashes(&at("crashes"), expected, &outcome.crashes));
        }
        differences
    }
}

fn found(name: &str, outcome: &AgentOutcome, run: &CaseRun) -> Value {
    match name {
        "activations" => json!(outcome.activations.len()),
        "attempts" => json!(outcome.attempts()),
        "executed" => json!(outcome.activations.iter().map(|activation| activation.executed).sum::<u64>()),
        "replayed" => json!(outcome.activations.iter().map(|activation| activation.replayed).sum::<u64>()),
        "journal" => outcome.keys(),
        "effects" => outcome.effect_counts(),
        "repeats" => outcome.repeat_counts(),
        "invocations" => run.invocations.iter().map(invocation_to_json).collect(),
        "approvals" => outcome.approvals.iter().map(|approval| approval.status()).collect(),
        "model_requests" => json!(outcome.requests.len()),
        "read" => json!(outcome.read()),
        _ => run.variable(name),
    }
}

/// Where one ending is expected, another one is a difference too.
fn compare_outcome(path: Path, expected: &Map<String, Value>, found: Value) -> Vec<Difference> {
    let Value::Object(mut found) = found else { return Vec::new() };
    let names_ending = ENDINGS.iter().any(|name| expected.contains_key(*name));
    found.retain(|name, value| {
        !value.is_null() && (expected.contains_key(name) || names_ending && ENDINGS.contains(&name.as_str()))
    });
    differences_at(path, &Value::Object(expected.clone()), &Value::Object(found)).collect()
}

/// As many as are expected, each with the fields that are told of it.
fn compare_crashes(path: &Path, expected: &[Map<String, Value>], found: &[Crash]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for index in 0..expected.len().max(found.len()) {
        let path = path.clone().element(index);
        let all = found.get(index).map(Crash::to_json);
        match (expected.get(index), all) {
            (Some(expected), Some(Value::Object(mut all))) => {
                all.retain(|name, _| expected.contains_key(name));
                differences.extend(differences_at(path, &Value::Object(expected.clone()), &Value::Object(all)));
            }
            (expected, found) => {
                differences.push(Difference { path, expected: expected.cloned().map(Value::Object), found });
            }
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::case::{Case, Format};

    fn failures(expect: &Value) -> Vec<String> {
        let case = json!({
            "model": {"turns": [{"calls": [{"id": "a", "name": "pay"}]}, {"says": "paid"}]},
            "tools": [{"name": "pay"}],
            "rng": 0.0,
            "crashes": [{"at": "after-effect", "operation": "tool:turn:0:a"}],
            "expect": expect,
        });
        let cases = Case::parse("f", Format::Json, &case.to_string()).unwrap();
        cases[0].judge(&cases[0].run(0)).failures()
    }

    #[test]
    fn what_is_as_expected_is_no_difference() {
        let expect = json!({
            "outcome": {"end": "answer", "answer": "paid", "turns": 2, "calls": 1, "input_tokens": 0, "output_tokens": 0},
            "activations": 2, "attempts": 3, "executed": 4, "replayed": 1,
            "journal": [["model:turn:0", "tool:turn:0:a"], ["model:turn:1"]],
            "effects": {"pay": 2}, "repeats": {"pay": 1},
            "invocations": [{"tool": "pay", "arguments": {}}, {"tool": "pay", "arguments": {}}],
            "crashes": [{"at": "after-effect", "operation": "tool:turn:0:a", "activation": 1, "worker": 1, "at_ms": 0.0}],
            "approvals": [], "model_requests": 2, "read": [r#"{"echo":{}}"#], "elapsed_ms": 60_000,
        });
        assert_eq!(failures(&expect), Vec::<String>::new());
        assert_eq!(failures(&json!({"outcome": {}, "crashes": [{}]})), Vec::<String>::new());
    }

    #[test]
    fn each_difference_has_its_path() {
        for (expect, told) in [
            (json!({"outcome": {"end": "turn-limit"}}), r#"outcome.end: expected "turn-limit", found "answer""#),
            (json!({"outcome": {"answer": "no"}}), r#"outcome.answer: expected "no", found "paid""#),
            (json!({"attempts": 2}), "attempts: expected 2, found 3"),
            (json!({"executed": 3}), "executed: expected 3, found 4"),
            (
                json!({"journal": [["model:turn:0", "tool:turn:0:b"], ["model:turn:1"]]}),
                r#"journal[0][1]: expected "tool:turn:0:b", found "tool:turn:0:a""#,
            ),
            (json!({"effects": {"pay": 1}}), "effects.pay: expected 1, found 2"),
            (json!({"repeats": {}}), "repeats.pay: expected nothing, found 1"),
            (
                json!({"crashes": [{"at": "before-commit"}]}),
                r#"crashes[0].at: expected "before-commit", found "after-effect""#,
            ),
            (json!({"crashes": [{}, {"worker": 2}]}), r#"crashes[1]: expected {"worker":2}, found nothing"#),
            (json!({"approvals": ["accepted"]}), r#"approvals[0]: expected "accepted", found nothing"#),
            (json!({"elapsed_ms": 1}), "elapsed_ms: expected 1.0, found 60000.0"),
        ] {
            assert_eq!(failures(&expect), [format!("$.expect.{told}")]);
        }
    }

    #[test]
    fn another_ending_than_the_expected_one_is_told() {
        let failed = failures(&json!({"outcome": {"failed": "call-failed"}}));
        assert_eq!(
            failed,
            [
                r#"$.expect.outcome.failed: expected "call-failed", found nothing"#,
                r#"$.expect.outcome.end: expected nothing, found "answer""#,
            ]
        );
    }
}
