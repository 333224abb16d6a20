//! What a program's tool answers where no step of its script says otherwise.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use windtunnel_core::evaluator::ToolFailure;

use super::functions::Function;

/// First by its arguments, else always the same, else by its function, else an echo.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    pub(super) by_arguments: Arc<[Answer]>,
    pub(super) always: Option<Value>,
    pub(super) function: Option<Function>,
}

/// The answer to calls with these arguments, whatever their others are.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) when: Map<String, Value>,
    pub(super) ok: Value,
}

impl Answers {
    pub(super) fn to(&self, arguments: &Value) -> Result<Value, ToolFailure> {
        let fits = |answer: &&Answer| answer.when.iter().all(|(name, value)| arguments.get(name) == Some(value));
        match (self.by_arguments.iter().find(fits), &self.always, self.function) {
            (Some(answer), ..) => Ok(answer.ok.clone()),
            (None, Some(value), _) => Ok(value.clone()),
            (None, None, Some(function)) => function.call(arguments),
            (None, None, None) => Ok(json!({"echo": arguments})),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, CaseOutcome, Format};

    /// What a tool with these fields, and the parameters a and b, answers to each call.
    #[track_caller]
    fn check(fields: Value, calls: &[(Value, Value)]) {
        let literal = |value: &Value| json!({"type": "literal", "value": value});
        let body = calls.iter().map(|(arguments, _)| {
            let arguments = arguments.as_object().unwrap().iter().map(|(name, value)| (name.clone(), literal(value)));
            json!({"type": "tool_call", "tool": "t", "arguments": arguments.collect::<Map<_, _>>()})
        });
        let mut tool = json!({"name": "t"});
        tool.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let case = json!({
            "tools": [tool],
            "program": {"schema_version": "2.0", "mode": "parallel", "body": body.collect::<Value>()},
        });
        let case = Case::parse("f", Format::Json, &case.to_string()).unwrap().remove(0);
        let CaseOutcome::Program(outcome) = case.run(0).outcome else { panic!("a program is a program") };
        let expected: Value = calls.iter().map(|(_, answer)| answer.clone()).collect();
        assert_eq!(outcome.value(), Some(expected), "{}", outcome.to_json());
    }

    #[test]
    fn the_arguments_decide_and_not_the_order() {
        let answers = json!([
            {"when": {"a": 1, "b": {"x": []}}, "ok": "both"},
            {"when": {"a": 1}, "ok": null},
            {"when": {"a": 1.0}, "ok": "float"},
        ]);
        let parameters = json!({"a": "any", "b": "any"});
        let calls = |otherwise: Value| {
            [
                (json!({"a": 1.0, "b": 0}), json!("float")),
                (json!({"a": 1, "b": 0}), json!(null)),
                (json!({"a": 1, "b": {"x": []}}), json!("both")),
                (json!({"a": 2, "b": 0}), otherwise),
            ]
        };
        let fields = json!({"parameters": parameters, "answers": answers});
        check(fields, &calls(json!({"echo": {"a": 2, "b": 0}})));
        check(json!({"parameters": parameters, "answers": answers, "ok": null}), &calls(json!(null)));
        check(
            json!({"fn": "add", "answers": answers}),
            &[(json!({"a": 2, "b": 0}), json!(2)), (json!({"a": 1.0, "b": 1}), json!("float"))],
        );
    }

    #[test]
    fn a_step_of_the_script_says_otherwise() {
        let empty = json!({});
        check(
            json!({"ok": "pong", "script": [{"ok": 1}, {}], "random": {"delay_ms": {"min": 1, "max": 5}}}),
            &[(empty.clone(), json!(1)), (empty.clone(), json!("pong")), (empty, json!("pong"))],
        );
    }
}
