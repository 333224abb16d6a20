//! What must come out, held against what did.

use serde_json::{Map, Value, json};
use windtunnel_core::json::Path;
use windtunnel_fixtures::difference::{Difference, differences_at};

use super::outcome::{FinishedOperation, OperationsOutcome};
use super::wire::{WireExpect, WireResult};

/// What a file expects. What it does not mention is not compared.
#[derive(Debug)]
pub(super) struct Expectation {
    results: Option<Vec<Map<String, Value>>>,
    journal: Option<Value>,
    decided: Option<bool>,
}

impl From<WireExpect> for Expectation {
    fn from(wire: WireExpect) -> Self {
        Self {
            results: wire.results.map(|results| results.into_iter().map(expected_fields).collect()),
            journal: wire.journal.map(Value::from),
            decided: wire.decided,
        }
    }
}

/// The fields that are there.
fn expected_fields(wire: WireResult) -> Map<String, Value> {
    let fields = [
        ("ok", wire.ok),
        ("error", wire.error.map(|error| json!(error))),
        ("executed", wire.executed.map(Value::Bool)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Expectation {
    /// The differences, with paths as in the file.
    pub(super) fn compare(&self, outcome: &OperationsOutcome) -> Vec<Difference> {
        let at = |name: &str| Path::root().member("expect").member(name);
        let mut differences = Vec::new();
        for (index, expected) in self.results.iter().flatten().enumerate() {
            let found = outcome.operations.get(index).and_then(Option::as_ref);
            differences.extend(compare_result(at("results").element(index), expected, found));
        }
        if let Some(expected) = &self.journal {
            let found = outcome.journal.iter().map(|record| record.to_json()).collect();
            differences.extend(differences_at(at("journal"), expected, &found));
        }
        if let Some(expected) = self.decided {
            differences.extend(differences_at(at("decided"), &json!(expected), &json!(outcome.decided)));
        }
        differences
    }
}

fn compare_result(path: Path, expected: &Map<String, Value>, found: Option<&FinishedOperation>) -> Vec<Difference> {
    let Some(found) = found else {
        return vec![Difference { path, expected: Some(Value::Object(expected.clone())), found: None }];
    };
    let mut all = Map::new();
    match &found.result {
        Ok(value) => all.insert("ok".to_owned(), value.clone()),
        Err(error) => all.insert("error".to_owned(), json!(error.kind())),
    };
    all.insert("executed".to_owned(), json!(found.executed));
    // Where one ending is expected, the other one is a difference; where none is, neither is.
    let is_told = |name: &str| expected.contains_key(name) || (name != "executed" && has_ending(expected));
    all.retain(|name, _| is_told(name));
    differences_at(path, &Value::Object(expected.clone()), &Value::Object(all)).collect()
}

fn has_ending(expected: &Map<String, Value>) -> bool {
    expected.contains_key("ok") || expected.contains_key("error")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::case::{Case, Format};

    fn failures(expect: Value) -> Vec<String> {
        let step = |key: &str, answer: (&str, Value)| {
            let mut step = json!({"key": key, "kind": "tool", "callable": "c", "version": "1", "arguments": {"n": 1}});
            step[answer.0] = answer.1;
            step
        };
        let steps = [step("a", ("returns", json!(1))), step("b", ("raises", json!("down")))];
        let case = json!({"steps": steps, "expect": expect});
        let cases = Case::parse("f", Format::Json, &case.to_string()).unwrap();
        cases[0].judge(&cases[0].run(0)).failures()
    }

    #[test]
    fn what_is_as_expected_is_no_difference() {
        let record = json!({
            "callable": "tool:c", "input": {"v": 1, "kind": "tool", "version": "1", "arguments": {"n": 1}},
            "key": "a", "output": 1,
        });
        for results in [json!([{}, {}]), json!([{"ok": 1, "executed": true}, {"error": "call-failed"}])] {
            let expect = json!({"results": results, "journal": [record], "decided": true});
            assert_eq!(failures(expect), Vec::<String>::new());
        }
    }

    #[test]
    fn each_difference_has_its_path() {
        assert_eq!(
            failures(json!({
                "results": [{"ok": 1.0, "executed": false}, {"ok": null}], "journal": [], "decided": false,
            }))
            .into_iter()
            .map(|line| line.split(", found {").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>(),
            [
                "$.expect.results[0].ok: expected 1.0, found 1",
                "$.expect.results[0].executed: expected false, found true",
                "$.expect.results[1].ok: expected null, found nothing",
                r#"$.expect.results[1].error: expected nothing, found "call-failed""#,
                "$.expect.journal[0]: expected nothing",
                "$.expect.decided: expected false, found true",
            ]
        );
    }
}
