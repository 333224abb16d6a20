//! Where a node stands in a program's JSON.

use super::tree::{Children, Node, NodeId, Tree};
use super::wording::shortened;
use crate::json::Path;

/// Each node's parent; the root and the bodies of definitions are their own. Only places in messages need it.
pub(super) fn parents(tree: &Tree) -> Vec<NodeId> {
    let mut parents: Vec<NodeId> = (0..tree.nodes.len() as u32).map(NodeId).collect();
    for (place, node) in tree.nodes.iter().enumerate() {
        let mut adopt = |children: Children| {
            children.iter().for_each(|child| parents[child.0 as usize] = NodeId(place as u32));
        };
        match node {
            Node::Program { body: children, .. }
            | Node::Function { params: children, .. }
            | Node::Conditional { parts: children }
            | Node::HigherOrder { parts: children, .. }
            | Node::Call { arguments: children, .. }
            | Node::ToolCall { arguments: children, .. } => adopt(*children),
            Node::Lambda { body: child, .. } | Node::Memo { expression: child, .. } => {
                adopt(Children { first: child.0, count: 1 });
            }
            Node::Value { .. } | Node::Literal { .. } | Node::Variable { .. } => {}
        }
    }
    parents
}

/// The place of `node`.
pub(super) fn path_of(tree: &Tree, parents: &[NodeId], node: NodeId) -> Path {
    let parent = |node: &NodeId| Some(parents[node.0 as usize]).filter(|parent| parent != node);
    let ancestors: Vec<NodeId> = std::iter::successors(Some(node), parent).collect();
    let outermost = ancestors.last();
    let mut path = Path::root();
    if let Some(definition) = tree.definitions.iter().position(|definition| Some(&definition.body) == outermost) {
        path = path.member("definitions").element(definition).member("body");
    }
    // One step takes up to two segments.
    let mut steps = Vec::new();
    for pair in ancestors.windows(2).rev() {
        push_steps(tree, pair[1], pair[0], &mut steps);
    }
    path.push_bounded(steps.len(), |path, number| match &steps[number] {
        Step::Field(name) => path.push_member(*name),
        Step::Element(index) => path.push_element(*index as usize),
        Step::Argument(name) => path.push_member(shortened(name)),
    });
    path
}

enum Step<'t> {
    Field(&'static str),
    Element(u32),
    Argument(&'t str),
}

/// The place of `child` among `children`, or one that is none.
fn index(children: Children, child: NodeId) -> u32 {
    child.0.checked_sub(children.first).unwrap_or(u32::MAX)
}

fn push_steps<'t>(tree: &'t Tree, parent: NodeId, child: NodeId, steps: &mut Vec<Step<'t>>) {
    match tree.node(parent) {
        Node::Program { body, .. } => steps.extend([Step::Field("body"), Step::Element(index(*body, child))]),
        Node::Function { params, .. } => steps.extend([Step::Field("params"), Step::Element(index(*params, child))]),
        Node::Conditional { parts } => steps.push(Step::Field(match index(*parts, child) {
            0 => "condition",
            1 => "true_branch",
            _ => "false_branch",
        })),
        Node::HigherOrder { parts, .. } => {
            steps.push(Step::Field(if index(*parts, child) == 0 { "function" } else { "iterable" }));
        }
        Node::Lambda { .. } => steps.push(Step::Field("body")),
        Node::Call { arguments, .. } => {
            steps.extend([Step::Field("arguments"), Step::Element(index(*arguments, child))]);
        }
        Node::ToolCall { names, arguments, .. } => {
            let name = tree.name(names[index(*arguments, child) as usize]);
            steps.extend([Step::Field("arguments"), Step::Argument(name)]);
        }
        Node::Memo { .. } => steps.push(Step::Field("expression")),
        Node::Value { .. } | Node::Literal { .. } | Node::Variable { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;
    use super::*;

    #[test]
    fn every_node_has_the_path_where_it_is_written() {
        for text in [
            r#"{"mode": "single", "body": [{"type": "value", "name": "i", "value": 0},
                {"type": "map",
                "function": {"params": ["x"], "body": {"name": "f", "params": [
                    {"type": "function", "name": "g", "params": []},
                    {"type": "value", "name": "x", "value": null}]}},
                "iterable": {"type": "conditional",
                    "condition": {"type": "value", "name": "i", "value": true},
                    "true_branch": {"type": "value", "name": "i", "value": true},
                    "false_branch": {"type": "program", "mode": "single", "body": []}}}]}"#,
            r#"{"schema_version": "2.0", "body": [{"type": "literal", "value": 0},
                {"type": "call", "function": "f", "arguments": [
                {"type": "memo", "key": "k", "expression": {"type": "tool_call", "tool": "t",
                    "arguments": {"z": {"type": "literal", "value": 0}, "a": {"type": "literal", "value": 1}}}}]}],
              "definitions": [{"name": "f", "params": ["n"], "body": {"type": "conditional",
                "condition": {"type": "literal", "value": 0}, "true_branch": {"type": "variable", "name": "n"},
                "false_branch": {"type": "literal", "value": 0}}}]}"#,
        ] {
            let program = Program::parse(text, Program::BOUNDS).unwrap();
            let mut paths = Vec::new();
            let written: serde_json::Value = serde_json::from_str(&program.to_json()).unwrap();
            for place in 0..program.node_count() {
                let node = NodeId(u32::try_from(place).unwrap());
                let path = program.path_of(node).to_string();
                let pointer = path[1..].replace(['.', '['], "/").replace(']', "");
                let found = written.pointer(&pointer).unwrap_or_else(|| panic!("{path} is nowhere"));
                let kind = match program.tree().node(node) {
                    Node::Program { .. } => "program",
                    Node::Value { .. } => "value",
                    Node::Function { .. } => "function",
                    Node::Conditional { .. } => "conditional",
                    Node::HigherOrder { .. } => "map",
                    Node::Lambda { .. } => "lambda",
                    Node::Literal { .. } => "literal",
                    Node::Variable { .. } => "variable",
                    Node::Call { .. } => "call",
                    Node::ToolCall { .. } => "tool_call",
                    Node::Memo { .. } => "memo",
                };
                assert_eq!(found["type"], kind, "{path}");
                paths.push(path);
            }
            paths.sort();
            paths.dedup();
            assert_eq!(paths.len(), program.node_count());
        }
    }
}
