//! A program as JSON, in one form: every field, in a fixed order, nothing between tokens.

use std::sync::Arc;

use super::super::datum::Datum;
use super::tree::{Children, Definition, NameId, Node, NodeId, Operation, Title, Tree, Version};
use crate::json;

/// What is still to be written, so that a deep program needs no deep call stack (V9).
enum Step<'t> {
    Text(&'static str),
    String(&'t str),
    Node(NodeId),
    Definition(&'t Definition),
}

/// Writes a program.
pub(super) fn write(tree: &Tree) -> String {
    let mut writing = Writing { tree, text: String::new(), steps: vec![Step::Node(Tree::ROOT)] };
    while let Some(step) = writing.steps.pop() {
        match step {
            Step::Text(text) => writing.text.push_str(text),
            Step::String(text) => json::push_string(&mut writing.text, text),
            Step::Node(node) => writing.node(node),
            Step::Definition(definition) => writing.definition(definition),
        }
    }
    writing.text
}

/// Appends a value of a program.
pub(super) fn push_datum(text: &mut String, value: &Datum) {
    match value {
        Datum::Shared { value, .. } => json::push_compact(text, value),
        scalar => json::push_compact(text, &scalar.clone().into_value()),
    }
}

struct Writing<'t> {
    tree: &'t Tree,
    text: String,
    steps: Vec<Step<'t>>,
}

impl<'t> Writing<'t> {
    /// Puts `steps` before everything that is still to be written.
    fn then(&mut self, steps: Vec<Step<'t>>) {
        self.steps.extend(steps.into_iter().rev());
    }

    fn node(&mut self, node: NodeId) {
        let tree = self.tree;
        match tree.node(node) {
            Node::Program { body, mode, title } => {
                let mut steps = vec![Step::Text("{\"type\":\"program\"")];
                if tree.version == Version::V2 {
                    steps.push(Step::Text(",\"definitions\":["));
                    steps.extend(separated(tree.definitions.iter().map(Step::Definition)));
                    steps.push(Step::Text("]"));
                }
                steps.push(Step::Text(",\"body\":["));
                steps.extend(nodes(*body));
                steps.extend([Step::Text("],\"mode\":"), Step::String(mode.as_str())]);
                steps.extend(self.title(title));
                self.then(steps);
            }
            Node::Value { name, value, .. } => {
                self.text.push_str("{\"type\":\"value\",\"name\":");
                json::push_string(&mut self.text, tree.name(*name));
                self.text.push_str(",\"value\":");
                push_datum(&mut self.text, value);
                self.text.push('}');
            }
            Node::Function { name, params, .. } => {
                let head =
                    [Step::Text("{\"type\":\"function\",\"name\":"), self.name(*name), Step::Text(",\"params\":[")];
                self.then(head.into_iter().chain(nodes(*params)).chain([Step::Text("]}")]).collect());
            }
            Node::Conditional { parts } => self.conditional(*parts),
            Node::HigherOrder { operation, parts } => self.then(vec![
                Step::Text(match operation {
                    Operation::Map => "{\"type\":\"map\",\"function\":",
                    Operation::Filter => "{\"type\":\"filter\",\"function\":",
                    Operation::Reduce { .. } => "{\"type\":\"reduce\",\"function\":",
                }),
                Step::Node(parts.get(0)),
                Step::Text(",\"iterable\":"),
                Step::Node(parts.get(1)),
                Step::Text("}"),
            ]),
            Node::Lambda { params, body } => {
                let mut steps = vec![Step::Text("{\"type\":\"lambda\",\"params\":[")];
                steps.extend(self.names(params));
                steps.extend([Step::Text("],\"body\":"), Step::Node(*body), Step::Text("}")]);
                self.then(steps);
            }
            expression => self.expression(expression),
        }
    }

    /// What only version 2 has.
    fn expression(&mut self, expression: &'t Node) {
        let tree = self.tree;
        match expression {
            Node::Literal { value } => {
                self.text.push_str("{\"type\":\"literal\",\"value\":");
                push_datum(&mut self.text, value);
                self.text.push('}');
            }
            Node::Variable { name, .. } => {
                self.then(vec![Step::Text("{\"type\":\"variable\",\"name\":"), self.name(*name), Step::Text("}")]);
            }
            Node::Call { definition, arguments } => {
                let name = self.name(tree.definitions[*definition as usize].name);
                let mut steps =
                    vec![Step::Text("{\"type\":\"call\",\"function\":"), name, Step::Text(",\"arguments\":[")];
                steps.extend(nodes(*arguments));
                steps.push(Step::Text("]}"));
                self.then(steps);
            }
            Node::ToolCall { tool, names, arguments } => {
                let tool = Step::String(tree.tool(*tool));
                let mut steps =
                    vec![Step::Text("{\"type\":\"tool_call\",\"tool\":"), tool, Step::Text(",\"arguments\":{")];
                for (index, (name, argument)) in names.iter().zip(arguments.iter()).enumerate() {
                    steps.extend((index > 0).then_some(Step::Text(",")));
                    steps.extend([self.name(*name), Step::Text(":"), Step::Node(argument)]);
                }
                steps.push(Step::Text("}}"));
                self.then(steps);
            }
            Node::Memo { key, expression } => self.then(vec![
                Step::Text("{\"type\":\"memo\",\"key\":"),
                Step::String(&tree.memo_keys[key.0 as usize]),
                Step::Text(",\"expression\":"),
                Step::Node(*expression),
                Step::Text("}"),
            ]),
            _ => {}
        }
    }

    fn definition(&mut self, definition: &'t Definition) {
        let mut steps = vec![
            Step::Text("{\"type\":\"function_definition\",\"name\":"),
            self.name(definition.name),
            Step::Text(",\"params\":["),
        ];
        steps.extend(self.names(&definition.params));
        steps.extend([Step::Text("],\"body\":"), Step::Node(definition.body), Step::Text("}")]);
        self.then(steps);
    }

    fn conditional(&mut self, parts: Children) {
        let false_branch = if parts.count > 2 { Step::Node(parts.get(2)) } else { Step::Text("null") };
        self.then(vec![
            Step::Text("{\"type\":\"conditional\",\"condition\":"),
            Step::Node(parts.get(0)),
            Step::Text(",\"true_branch\":"),
            Step::Node(parts.get(1)),
            Step::Text(",\"false_branch\":"),
            false_branch,
            Step::Text("}"),
        ]);
    }

    fn title(&self, title: &'t Title) -> Vec<Step<'t>> {
        let nullable = |text: &'t Option<Arc<str>>| text.as_ref().map_or(Step::Text("null"), |text| Step::String(text));
        vec![
            Step::Text(",\"name\":"),
            nullable(&title.name),
            Step::Text(",\"description\":"),
            nullable(&title.description),
            Step::Text(",\"schema_version\":"),
            Step::String(self.tree.version.as_str()),
            Step::Text("}"),
        ]
    }

    fn name(&self, name: NameId) -> Step<'t> {
        Step::String(self.tree.name(name))
    }

    fn names(&self, names: &'t [NameId]) -> Vec<Step<'t>> {
        separated(names.iter().map(|name| self.name(*name)))
    }
}

fn nodes<'t>(children: Children) -> Vec<Step<'t>> {
    separated(children.iter().map(Step::Node))
}

/// `steps` with commas between them.
fn separated<'t>(steps: impl Iterator<Item = Step<'t>>) -> Vec<Step<'t>> {
    let mut separated = Vec::new();
    for (index, step) in steps.enumerate() {
        separated.extend((index > 0).then_some(Step::Text(",")));
        separated.push(step);
    }
    separated
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    #[track_caller]
    fn check(text: &str, written: &str) {
        let program = Program::parse(text, Program::BOUNDS).unwrap();
        assert_eq!(program.to_json(), written);
        assert!(Program::parse(written, Program::BOUNDS).unwrap() == program);
        let value = serde_json::from_str(text).unwrap();
        assert!(Program::from_value(&value).unwrap() == program);
    }

    #[test]
    fn version_1_is_written_with_every_field_in_a_fixed_order() {
        check(
            r#"{ "schema_version": "1.0", "mode": "parallel", "name": "n\"é\n", "body": [
                {"iterable": {"value": [1, 1.0, -0.0, {"b": 1, "a": 2}], "name": "v", "type": "value"}, "type": "map",
                 "function": {"body": {"name": "functions.f", "params": [{"type": "value", "name": "x", "value": null}]},
                    "params": ["x"]}},
                {"type": "conditional",
                 "condition": {"type": "program", "body": [], "mode": "single"},
                 "true_branch": {"type": "function", "name": "g", "params": []}}
            ]}"#,
            concat!(
                r#"{"type":"program","body":[{"type":"map","function":{"type":"lambda","params":["x"],"body":"#,
                r#"{"type":"function","name":"functions.f","params":[{"type":"value","name":"x","value":null}]}},"#,
                r#""iterable":{"type":"value","name":"v","value":[1,1.0,-0.0,{"b":1,"a":2}]}},"#,
                r#"{"type":"conditional","condition":{"type":"program","body":[],"mode":"single","name":null,"#,
                r#""description":null,"schema_version":"1.0"},"true_branch":{"type":"function","name":"g","params":[]},"#,
                r#""false_branch":null}],"mode":"parallel","name":"n\"é\n","description":null,"schema_version":"1.0"}"#
            ),
        );
    }

    #[test]
    fn version_2_is_written_with_every_field_in_a_fixed_order() {
        check(
            r#"{"schema_version": "2.0", "body": [
                {"function": "f", "arguments": [{"value": 1e2, "type": "literal"}], "type": "call"},
                {"type": "memo", "expression": {"type": "tool_call", "tool": "t"}, "key": "k"}
            ], "definitions": [{"params": ["n"], "name": "f", "body": {"type": "conditional",
                "true_branch": {"type": "variable", "name": "n"},
                "false_branch": {"type": "tool_call", "tool": "t", "arguments": {
                    "z": {"type": "literal", "value": null}, "a": {"type": "call", "function": "g"}}},
                "condition": {"type": "literal", "value": "s"}}},
                {"name": "g", "body": {"type": "literal", "value": true}}]}"#,
            concat!(
                r#"{"type":"program","definitions":[{"type":"function_definition","name":"f","params":["n"],"body":"#,
                r#"{"type":"conditional","condition":{"type":"literal","value":"s"},"#,
                r#""true_branch":{"type":"variable","name":"n"},"false_branch":{"type":"tool_call","tool":"t","#,
                r#""arguments":{"z":{"type":"literal","value":null},"a":{"type":"call","function":"g","arguments":[]}}}}},"#,
                r#"{"type":"function_definition","name":"g","params":[],"body":{"type":"literal","value":true}}],"#,
                r#""body":[{"type":"call","function":"f","arguments":[{"type":"literal","value":100.0}]},"#,
                r#"{"type":"memo","key":"k","expression":{"type":"tool_call","tool":"t","arguments":{}}}],"#,
                r#""mode":"single","name":null,"description":null,"schema_version":"2.0"}"#
            ),
        );
    }
}
