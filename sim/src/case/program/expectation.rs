//! What a program must come to, held against what it did.

use std::time::Duration;

use serde_json::{Map, Number, Value, json};
use windtunnel_core::evaluator::Answer;
use windtunnel_core::json::Path;
use windtunnel_fixtures::difference::{Difference, differences_at};

use super::outcome::ProgramOutcome;
use super::wire::{WireCall, WireError, WireExpect};
use crate::case::CaseRun;
use crate::case::unordered::compare_unordered;
use crate::script::Invocation;

/// What a file expects. What it does not mention is not compared.
#[derive(Debug)]
pub(super) struct Expectation {
    ending: Option<Ending>,
    elapsed: Option<Duration>,
    /// By their names in the file.
    counts: [(&'static str, Option<u64>); 5],
    calls: Option<Vec<Value>>,
    calls_unordered: Option<Vec<Value>>,
}

/// How the program must end.
#[derive(Debug)]
enum Ending {
    Refused,
    Value(Value),
    /// With an error that has these fields.
    Error(Map<String, Value>),
}

impl From<WireExpect> for Expectation {
    fn from(wire: WireExpect) -> Self {
        let calls = |wire: Vec<WireCall>| wire.into_iter().map(call).collect();
        let ending = match (wire.rejected, wire.ok, wire.error) {
            (true, ..) => Some(Ending::Refused),
            (false, Some(value), _) => Some(Ending::Value(value)),
            (false, None, error) => error.map(|error| Ending::Error(expected_fields(error))),
        };
        Self {
            ending,
            elapsed: wire.elapsed_ms.map(|elapsed| elapsed.0),
            counts: [
                ("nodes", wire.nodes),
                ("tool_calls_used", wire.tool_calls_used),
                ("peak_depth", wire.peak_depth),
                ("peak_call_depth", wire.peak_call_depth),
                ("peak_concurrency", wire.peak_concurrency),
            ],
            calls: wire.calls.map(calls),
            calls_unordered: wire.calls_unordered.map(calls),
        }
    }
}

fn call(WireCall { name, arguments }: WireCall) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// The fields that are there.
fn expected_fields(wire: WireError) -> Map<String, Value> {
    let fields = [
        ("kind", Some(json!(wire.kind))),
        ("resource", wire.resource.map(|resource| json!(resource))),
        ("limit", wire.limit.map(Value::Number)),
        ("message", wire.message.map(Value::String)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Expectation {
    /// Whether the program must be refused.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.ending, Some(Ending::Refused))
    }

    /// The differences, with paths as in the file.
    pub(super) fn compare(&self, outcome: &ProgramOutcome, run: &CaseRun) -> Vec<Difference> {
        let at = |name: &str| Path::root().member("expect").member(name);
        let mut differences = Vec::new();
        if let Some(ending) = &self.ending {
            differences.extend(ending.compare(outcome));
        }
        if let Some(elapsed) = self.elapsed.filter(|elapsed| *elapsed != run.elapsed()) {
            let (expected, found) = (Some(milliseconds(elapsed)), Some(milliseconds(run.elapsed())));
            differences.push(Difference { path: at("elapsed_ms"), expected, found });
        }
        let used = outcome.consumption_to_json();
        for (name, expected) in self.counts {
            if let Some(expected) = expected {
                let found = &used[if name == "tool_calls_used" { "tool_calls" } else { name }];
                differences.extend(differences_at(at(name), &json!(expected), found));
            }
        }
        let calls: Vec<Value> = run.invocations.iter().map(invocation).collect();
        if let Some(expected) = &self.calls {
            let (expected, found) = (Value::from(expected.clone()), Value::from(calls.clone()));
            differences.extend(differences_at(at("calls"), &expected, &found));
        }
        if let Some(expected) = &self.calls_unordered {
            differences.extend(compare_unordered(&at("calls_unordered"), expected, &calls));
        }
        differences
    }
}

impl Ending {
    fn compare(&self, outcome: &ProgramOutcome) -> Vec<Difference> {
        let at = |name: &str| Path::root().member("expect").member(name);
        let (value, error) = (value_for(self, outcome), error_to_json(outcome));
        match (self, &value, &error) {
            (Self::Refused, ..) => {
                let is_refused = json!(matches!(outcome, ProgramOutcome::Refused(_)));
                differences_at(at("rejected"), &json!(true), &is_refused).collect()
            }
            (Self::Value(expected), Some(found), _) => differences_at(at("ok"), expected, found).collect(),
            (Self::Error(expected), _, Some(found)) => compare_errors(&at("error"), expected, found),
            (Self::Value(expected), None, _) => {
                missing(at("ok"), expected.clone()).into_iter().chain(unexpected(at("error"), error)).collect()
            }
            (Self::Error(expected), _, None) => {
                let expected = Value::Object(expected.clone());
                missing(at("error"), expected).into_iter().chain(unexpected(at("ok"), value)).collect()
            }
        }
    }
}

fn missing(path: Path, expected: Value) -> Option<Difference> {
    Some(Difference { path, expected: Some(expected), found: None })
}

fn unexpected(path: Path, found: Option<Value>) -> Option<Difference> {
    found.map(|found| Difference { path, expected: None, found: Some(found) })
}

/// The value that came out, without the messages of branches that the file does not mention.
fn value_for(ending: &Ending, outcome: &ProgramOutcome) -> Option<Value> {
    let mut value = outcome.value()?;
    let is_collected = matches!(outcome.evaluation()?.result, Ok(Answer::Branches(_)));
    if let (true, Ending::Value(Value::Array(expected)), Value::Array(found)) = (is_collected, ending, &mut value) {
        for (expected, found) in expected.iter().zip(found) {
            if let (None, Value::Object(found)) = (expected.get("message"), found) {
                found.shift_remove("message");
            }
        }
    }
    Some(value)
}

fn error_to_json(outcome: &ProgramOutcome) -> Option<Value> {
    outcome.error()?;
    let mut result = outcome.to_json();
    let mut error = json!({"kind": result["error"].take()});
    for name in ["resource", "limit", "message"] {
        if !result[name].is_null() {
            error[name] = result[name].take();
        }
    }
    Some(error)
}

fn compare_errors(path: &Path, expected: &Map<String, Value>, found: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, expected) in expected {
        // A limit of seconds is a float; a file need not say so.
        let is_same_limit = name == "limit" && expected.as_f64() == found[name].as_f64();
        let path = path.clone().member(name);
        match found.get(name) {
            _ if is_same_limit => {}
            Some(found) => differences.extend(differences_at(path, expected, found)),
            None => differences.extend(missing(path, expected.clone())),
        }
    }
    differences
}

/// An invocation with the names that `calls` uses.
fn invocation(invocation: &Invocation) -> Value {
    json!({"name": &*invocation.tool, "arguments": &*invocation.arguments})
}

fn milliseconds(duration: Duration) -> Value {
    let nanoseconds = duration.as_nanos();
    match u64::try_from(nanoseconds / 1_000_000) {
        Ok(whole) if nanoseconds.is_multiple_of(1_000_000) => Value::from(whole),
        _ => Number::from_f64(nanoseconds as f64 / 1e6).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Format};

    /// How a program that comes to `[[1], -2]` with one call differs from `expect`.
    fn differences(expect: Value) -> Vec<String> {
        let call = json!({"type": "tool_call", "tool": "negate", "arguments": {"n": {"type": "literal", "value": 2}}});
        let body = json!([{"type": "literal", "value": [1]}, call]);
        let case = json!({
            "tools": [{"name": "negate", "fn": "negate", "delay_ms": 1.5}],
            "program": {"schema_version": "2.0", "mode": "parallel", "body": body},
            "expect": expect,
        });
        failures(&case)
    }

    fn failures(case: &Value) -> Vec<String> {
        let cases = Case::parse("f", Format::Json, &case.to_string()).unwrap();
        cases[0].judge(&cases[0].run(0)).failures()
    }

    #[test]
    fn what_is_as_expected_is_no_difference() {
        let call = json!({"name": "negate", "arguments": {"n": 2}});
        assert_eq!(
            differences(json!({
                "rejected": false, "ok": [[1], -2], "elapsed_ms": 1.5, "nodes": 4, "tool_calls_used": 1,
                "peak_depth": 3, "peak_call_depth": 0, "calls": [call], "calls_unordered": [call],
            })),
            Vec::<String>::new()
        );
    }

    #[test]
    fn each_difference_has_its_path() {
        let call = json!({"name": "negate", "arguments": {"n": 2.0}});
        assert_eq!(
            differences(json!({
                "ok": [[1.0], -3], "elapsed_ms": 2, "nodes": 5, "tool_calls_used": 0, "peak_call_depth": 1,
                "calls": [call],
            })),
            [
                "$.expect.ok[0][0]: expected 1.0, found 1",
                "$.expect.ok[1]: expected -3, found -2",
                "$.expect.elapsed_ms: expected 2, found 1.5",
                "$.expect.nodes: expected 5, found 4",
                "$.expect.tool_calls_used: expected 0, found 1",
                "$.expect.peak_call_depth: expected 1, found 0",
                "$.expect.calls[0].arguments.n: expected 2.0, found 2",
            ]
        );
        assert_eq!(
            differences(json!({"error": {"kind": "timeout"}})),
            [
                r#"$.expect.error: expected {"kind":"timeout"}, found nothing"#,
                "$.expect.ok: expected nothing, found [[1],-2]",
            ]
        );
        assert_eq!(differences(json!({"rejected": true})), ["$.expect.rejected: expected true, found false"]);
    }

    #[test]
    fn an_error_is_compared_by_what_the_file_says_of_it() {
        let case = |expect: Value| {
            let program =
                json!({"schema_version": "2.0", "body": [{"type": "tool_call", "tool": "a", "arguments": {}}]});
            json!({
                "tools": [{"name": "a", "script": [{"fail": "hang"}]}],
                "program": program, "limits": {"timeout_seconds": 2}, "expect": expect,
            })
        };
        let seconds = "wall_clock_seconds";
        for error in [
            json!({"kind": "execution-limit"}),
            json!({"kind": "execution-limit", "resource": seconds, "limit": 2}),
            json!({"kind": "execution-limit", "limit": 2.0, "message": "the limit of 2.0 wall_clock_seconds is crossed"}),
        ] {
            assert_eq!(failures(&case(json!({"error": error}))), Vec::<String>::new());
        }
        assert_eq!(
            failures(&case(json!({"error": {"kind": "timeout", "resource": "nodes", "limit": 3, "message": ""}}))),
            [
                r#"$.expect.error.kind: expected "timeout", found "execution-limit""#,
                r#"$.expect.error.resource: expected "nodes", found "wall_clock_seconds""#,
                "$.expect.error.limit: expected 3, found 2.0",
                r#"$.expect.error.message: expected "", found "the limit of 2.0 wall_clock_seconds is crossed""#,
            ]
        );
        let shown = failures(&case(json!({"ok": null})));
        assert_eq!(shown[0], "$.expect.ok: expected null, found nothing");
        assert!(
            shown[1].starts_with(r#"$.expect.error: expected nothing, found {"kind":"execution-limit","#),
            "{shown:?}"
        );
    }

    #[test]
    fn the_messages_of_branches_are_compared_where_the_file_has_them() {
        let case = |branch: Value| {
            let body = json!([{"type": "tool_call", "tool": "a", "arguments": {}}]);
            json!({
                "tools": [{"name": "a", "script": [{"fail": "tool-execution", "message": "down"}]}],
                "program": {"schema_version": "2.0", "mode": "parallel", "body": body},
                "policy": {"parallel_failures": "collect"},
                "expect": {"ok": [branch]},
            })
        };
        let failed = json!({"success": false, "error": "tool-execution"});
        assert_eq!(failures(&case(failed.clone())), Vec::<String>::new());
        let mut with_message = failed;
        with_message["message"] = json!("up");
        assert_eq!(
            failures(&case(with_message)),
            [r#"$.expect.ok[0].message: expected "up", found "tool \"a\": down""#]
        );
    }
}
