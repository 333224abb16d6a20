//! Programs that several tests use.

/// Version 1: `a + b`, for each of two numbers.
pub(crate) const ADDS: &str = r#"{
    "type": "program",
    "name": "adds",
    "mode": "parallel",
    "body": [
        {"type": "function", "name": "functions.add", "params": [
            {"type": "value", "name": "a", "value": 1},
            {"type": "value", "name": "b", "value": 2}
        ]},
        {"type": "map",
            "function": {"params": ["n"], "body": {"name": "negate", "params": [
                {"type": "value", "name": "n", "value": null}
            ]}},
            "iterable": {"type": "value", "name": "numbers", "value": [3, 4.5]}}
    ]
}"#;

/// Version 2: counts down by recursion.
pub(crate) const COUNTS_DOWN: &str = r#"{
    "schema_version": "2.0",
    "definitions": [{"name": "down", "params": ["n"], "body": {
        "type": "conditional",
        "condition": {"type": "tool_call", "tool": "greater_than",
            "arguments": {"a": {"type": "variable", "name": "n"}, "b": {"type": "literal", "value": 0}}},
        "true_branch": {"type": "call", "function": "down", "arguments": [
            {"type": "tool_call", "tool": "subtract",
                "arguments": {"a": {"type": "variable", "name": "n"}, "b": {"type": "literal", "value": 1}}}]},
        "false_branch": {"type": "literal", "value": "done"}
    }}],
    "body": [{"type": "call", "function": "down", "arguments": [{"type": "literal", "value": 3}]}]
}"#;

/// Version 2: recursion without an end and without a tool.
pub(crate) const ENDLESS: &str = r#"{
    "schema_version": "2.0",
    "definitions": [{"name": "f", "params": [], "body": {"type": "call", "function": "f", "arguments": []}}],
    "body": [{"type": "call", "function": "f", "arguments": []}]
}"#;

/// Version 2: calls of tools without arguments, side by side.
pub(crate) fn parallel(tools: &[&str]) -> String {
    program("parallel", tools)
}

/// Version 2: a call of a tool without arguments.
pub(crate) fn single(tool: &str) -> String {
    program("single", &[tool])
}

fn program(mode: &str, tools: &[&str]) -> String {
    let calls: Vec<_> = tools.iter().map(|tool| format!(r#"{{"type": "tool_call", "tool": "{tool}"}}"#)).collect();
    format!(r#"{{"schema_version": "2.0", "mode": "{mode}", "body": [{}]}}"#, calls.join(", "))
}

/// Version 1: calls of tools, one in the other, with `innermost` inside.
pub(crate) fn nested(levels: usize, innermost: &str) -> String {
    let (open, close) = (r#"{"type":"function","name":"f","params":["#, "]}");
    format!(r#"{{"mode":"single","body":[{}{innermost}{}]}}"#, open.repeat(levels), close.repeat(levels))
}
