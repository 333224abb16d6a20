//! The JSON Schema of each version, for models and editors.

use super::tree::Version;

/// The schema of programs of `version`.
pub(super) const fn of(version: Version) -> &'static str {
    match version {
        Version::V1 => include_str!("schema/program-1.0.json"),
        Version::V2 => include_str!("schema/program-2.0.json"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Program;
    use super::*;

    fn schema(version: Version) -> Value {
        serde_json::from_str(of(version)).unwrap()
    }

    /// Checks that the schema and the reader agree.
    #[track_caller]
    fn check(version: Version, program: &Value, is_valid: bool) {
        let validator = jsonschema::draft202012::new(&schema(version)).unwrap();
        assert_eq!(validator.is_valid(program), is_valid, "the schema: {program}");
        assert_eq!(Program::from_value(program).is_ok(), is_valid, "the reader: {program}");
    }

    fn version_1(node: &Value) -> Value {
        json!({"mode": "single", "body": [node]})
    }

    fn version_2(node: &Value) -> Value {
        json!({"body": [node], "schema_version": "2.0"})
    }

    #[test]
    fn schemas_are_valid_and_say_what_every_field_is() {
        for version in [Version::V1, Version::V2] {
            let schema = schema(version);
            jsonschema::draft202012::meta::validate(&schema).unwrap();
            for (kind, definition) in schema["$defs"].as_object().unwrap() {
                for (name, field) in definition["properties"].as_object().into_iter().flatten() {
                    for text in ["title", "description"] {
                        assert!(field[text].is_string(), "{version}: {kind}.{name} has no {text}");
                    }
                }
                let is_closed = definition["additionalProperties"] == false;
                assert_eq!(is_closed, definition["type"] == "object", "{version}: {kind}");
            }
        }
    }

    #[test]
    fn the_schema_of_version_1_agrees_with_the_reader() {
        let value = json!({"type": "value", "name": "x", "value": null});
        let body = json!({"name": "f", "params": [value]});
        let lambda = json!({"params": ["x"], "body": body});
        let reduce = json!({"params": ["x", "y"], "body": {"name": "f", "params": [
            value, {"type": "value", "name": "y", "value": 1}]}});
        for valid in [
            json!({"type": "value", "name": "x", "value": {"a": [1, "b"]}}),
            json!({"type": "function", "name": "f", "params": [value]}),
            json!({"type": "conditional", "condition": value, "true_branch": value}),
            json!({"type": "conditional", "condition": value, "true_branch": value, "false_branch": null}),
            json!({"type": "map", "function": lambda, "iterable": value}),
            json!({"type": "filter", "function": lambda, "iterable": value}),
            json!({"type": "reduce", "function": reduce, "iterable": value}),
            json!({"type": "program", "mode": "parallel", "body": [value], "schema_version": "1.0"}),
        ] {
            check(Version::V1, &version_1(&valid), true);
        }
        for invalid in [
            json!({"name": "f", "params": []}),
            json!({"type": "macro"}),
            json!({"type": "value", "name": "", "value": 1}),
            json!({"type": "value", "name": "x"}),
            json!({"type": "function", "name": "f"}),
            json!({"type": "function", "name": "f", "params": [], "extra": 1}),
            json!({"type": "conditional", "condition": value}),
            json!({"type": "map", "function": reduce, "iterable": value}),
            json!({"type": "reduce", "function": lambda, "iterable": value}),
            json!({"type": "map", "function": value, "iterable": value}),
            json!({"type": "lambda", "params": ["x"], "body": body}),
            json!({"type": "program", "mode": "single", "body": [], "schema_version": "2.0"}),
        ] {
            check(Version::V1, &version_1(&invalid), false);
        }
        check(Version::V1, &json!({"body": []}), false);
        check(Version::V1, &json!({"body": [], "mode": "both"}), false);
        check(Version::V1, &json!([]), false);
    }

    #[test]
    fn the_schema_of_version_2_agrees_with_the_reader() {
        let literal = json!({"type": "literal", "value": null});
        for valid in [
            literal.clone(),
            json!({"type": "tool_call", "tool": "f"}),
            json!({"type": "tool_call", "tool": "f", "arguments": {"a": literal}}),
            json!({"type": "conditional", "condition": literal, "true_branch": literal, "false_branch": literal}),
            json!({"type": "memo", "key": "k", "expression": literal}),
        ] {
            check(Version::V2, &version_2(&valid), true);
        }
        for invalid in [
            json!({"value": 1}),
            json!({"type": "literal"}),
            json!({"type": "value", "name": "x", "value": 1}),
            json!({"type": "tool_call", "tool": "a-b"}),
            json!({"type": "tool_call", "tool": "f", "arguments": {"a b": literal}}),
            json!({"type": "tool_call", "tool": "f", "arguments": [literal]}),
            json!({"type": "conditional", "condition": literal, "true_branch": literal, "false_branch": null}),
            json!({"type": "memo", "key": 1, "expression": literal}),
            json!({"type": "call", "function": "f", "arguments": null}),
        ] {
            check(Version::V2, &version_2(&invalid), false);
        }
        let variable = json!({"type": "variable", "name": "n"});
        let call = json!({"type": "call", "function": "f", "arguments": [literal]});
        let definition = |params: Value| {
            json!({"definitions": [{"name": "f", "params": params, "body": variable}], "body": [call],
                "schema_version": "2.0"})
        };
        check(Version::V2, &definition(json!(["n"])), true);
        check(Version::V2, &definition(json!(["n", "n"])), false);
        check(Version::V2, &definition(json!(["9"])), false);
        check(Version::V2, &json!({"body": [], "schema_version": "2.0"}), false);
    }
}
