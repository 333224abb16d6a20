//! A program for people: an indented tree, one node a line.

use std::collections::BTreeMap;
use std::fmt;

use super::super::datum::Datum;
use super::tree::{Children, Definition, NameId, Node, NodeId, Operation, Tree};
use super::wording::{plain, quoted, shortened};
use super::writing::push_datum;

/// Levels that are indented. Deeper ones say their number instead, so that no outline grows with the square of its
/// program.
const INDENTED_MAX: usize = 40;

/// The outline of a program.
pub(super) struct Outline<'t> {
    tree: &'t Tree,
    /// The values that a reduce begins with, and whether it takes what their name stands for outside instead.
    accumulators: BTreeMap<NodeId, bool>,
}

impl fmt::Display for Outline<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pending = vec![Pending { item: Item::Node(Tree::ROOT), level: 0, label: None }];
        while let Some(Pending { item, level, label }) = pending.pop() {
            if level <= INDENTED_MAX {
                write!(formatter, "{:1$}", "", level * 2)?;
            } else {
                write!(formatter, "{:1$}[level {level}] ", "", INDENTED_MAX * 2)?;
            }
            if let Some(label) = label {
                write!(formatter, "{}: ", plain(label))?;
            }
            writeln!(formatter, "{}", self.line(&item))?;
            let below = self.below(&item).into_iter().rev();
            pending.extend(below.map(|(label, item)| Pending { item, level: level + 1, label }));
        }
        Ok(())
    }
}

/// What is still to be shown.
struct Pending<'t> {
    item: Item<'t>,
    level: usize,
    /// What it is to the node around it.
    label: Option<&'t str>,
}

enum Item<'t> {
    Definition(&'t Definition),
    Node(NodeId),
}

impl<'t> Outline<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        // A value may begin more than one reduce: the innermost comes last, and the value is its parameter.
        let accumulators = tree.nodes.iter().filter_map(|node| match node {
            Node::HigherOrder { operation: Operation::Reduce { accumulator, outer }, .. } => {
                Some((*accumulator, outer.is_some()))
            }
            _ => None,
        });
        Self { tree, accumulators: accumulators.collect() }
    }

    /// A value that stands for a parameter.
    fn parameter(&self, node: NodeId, name: &str, value: &Datum) -> String {
        match self.accumulators.get(&node) {
            None => format!("parameter {name}"),
            Some(true) => format!("parameter {name}, at first the {name} around the reduce"),
            Some(false) if *value == Datum::Null => format!("parameter {name}, at first the first item"),
            Some(false) => format!("parameter {name}, at first {}", payload(value)),
        }
    }

    fn line(&self, item: &Item<'t>) -> String {
        let tree = self.tree;
        let name = |name: NameId| plain(tree.name(name));
        let names = |names: &[NameId]| names.iter().map(|param| name(*param)).collect::<Vec<_>>().join(", ");
        let node = match item {
            Item::Definition(definition) => {
                return format!("define {}({})", name(definition.name), names(&definition.params));
            }
            Item::Node(node) => *node,
        };
        match tree.node(node) {
            Node::Program { mode, title, .. } => {
                let mut line = format!("program {}, {}", tree.version.as_str(), mode.as_str());
                for text in [&title.name, &title.description].into_iter().flatten() {
                    line.push_str(", ");
                    line.push_str(&quoted(text));
                }
                line
            }
            Node::Value { name: called, value, binding: Some(_) } => self.parameter(node, &name(*called), value),
            Node::Value { name: called, value, .. } => format!("{} = {}", name(*called), payload(value)),
            Node::Function { name: called, .. } => format!("tool {}", name(*called)),
            Node::Conditional { .. } => "conditional".to_owned(),
            Node::HigherOrder { operation: Operation::Map, .. } => "map".to_owned(),
            Node::HigherOrder { operation: Operation::Filter, .. } => "filter".to_owned(),
            Node::HigherOrder { operation: Operation::Reduce { .. }, .. } => "reduce".to_owned(),
            Node::Lambda { params, .. } => format!("lambda ({})", names(params)),
            Node::Literal { value } => payload(value),
            Node::Variable { name: called, .. } => format!("variable {}", name(*called)),
            Node::Call { definition, .. } => {
                format!("call {}", name(tree.definitions[*definition as usize].name))
            }
            Node::ToolCall { tool, .. } => format!("tool {}", plain(tree.tool(*tool))),
            Node::Memo { key, .. } => format!("memo {}", plain(&tree.memo_keys[key.0 as usize])),
        }
    }

    fn below(&self, item: &Item<'t>) -> Vec<(Option<&'t str>, Item<'t>)> {
        let tree = self.tree;
        let labelled = |label: &'t str, node: NodeId| (Some(label), Item::Node(node));
        let plain = |children: Children| children.iter().map(|child| (None, Item::Node(child)));
        let node = match item {
            Item::Definition(definition) => return vec![(None, Item::Node(definition.body))],
            Item::Node(node) => *node,
        };
        match tree.node(node) {
            Node::Program { body, .. } => {
                let definitions = tree.definitions.iter().filter(|_| node == Tree::ROOT);
                definitions.map(|definition| (None, Item::Definition(definition))).chain(plain(*body)).collect()
            }
            Node::Function { params: children, .. } | Node::Call { arguments: children, .. } => {
                plain(*children).collect()
            }
            Node::Conditional { parts } => {
                parts.iter().zip(["if", "then", "else"]).map(|(part, label)| labelled(label, part)).collect()
            }
            Node::HigherOrder { parts, .. } => vec![(None, Item::Node(parts.get(0))), labelled("over", parts.get(1))],
            Node::Lambda { body, .. } => vec![(None, Item::Node(*body))],
            Node::ToolCall { names, arguments, .. } => {
                let arguments = names.iter().zip(arguments.iter());
                arguments.map(|(name, argument)| labelled(tree.name(*name), argument)).collect()
            }
            Node::Memo { expression, .. } => vec![(None, Item::Node(*expression))],
            Node::Value { .. } | Node::Literal { .. } | Node::Variable { .. } => Vec::new(),
        }
    }
}

fn payload(value: &Datum) -> String {
    let mut text = String::new();
    push_datum(&mut text, value);
    shortened(&text)
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    #[track_caller]
    fn check(text: &str, outline: &str) {
        assert_eq!(Program::parse(text, Program::BOUNDS).unwrap().outline().to_string(), outline);
    }

    #[test]
    fn version_1_is_shown_one_node_a_line() {
        let long = "é".repeat(100);
        check(
            &format!(
                r#"{{"mode": "single", "name": "two\nlines", "body": [{{"type": "map",
                "function": {{"params": ["x"], "body": {{"name": "f", "params": [
                    {{"type": "value", "name": "x", "value": null}},
                    {{"type": "value", "name": "a b", "value": "{long}"}}]}}}},
                "iterable": {{"type": "conditional",
                    "condition": {{"type": "value", "name": "v", "value": true}},
                    "true_branch": {{"type": "program", "mode": "single", "body": []}}}}}}]}}"#
            ),
            &format!(
                "program 1.0, single, \"two\\nlines\"\n  map\n    lambda (x)\n      tool f\n        parameter x\n        \
                 \"a b\" = \"{}…\n    over: conditional\n      if: v = true\n      then: program 1.0, single\n",
                "é".repeat(59)
            ),
        );
    }

    /// The lines of the body of a reduce over `total` and `n`.
    fn body_of_reduce(params: &str) -> String {
        let text = format!(
            r#"{{"mode": "single", "body": [{{"type": "reduce", "iterable": {{"type": "value", "name": "v", "value": []}},
                "function": {{"params": ["total", "n"], "body": {{"name": "add", "params": [{params}]}}}}}}]}}"#
        );
        let outline = Program::parse(&text, Program::BOUNDS).unwrap().outline().to_string();
        let lines = outline.lines().skip(4).map(str::trim);
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_stands_for_a_parameter_is_shown_as_one() {
        let value = |name: &str, value: &str| format!(r#"{{"type": "value", "name": "{name}", "value": {value}}}"#);
        let n = value("n", "5");
        let shown = body_of_reduce(&format!("{}, {n}, {}", value("total", "0"), value("total", "7")));
        assert_eq!(shown, "parameter total, at first 0\nparameter n\nparameter total\nover: v = []");
        let shown = body_of_reduce(&format!("{}, {n}", value("total", "null")));
        assert_eq!(shown, "parameter total, at first the first item\nparameter n\nover: v = []");
        let inner = format!(
            r#"{{"type": "reduce", "iterable": {n}, "function": {{"params": ["n", "m"],
                "body": {{"name": "f", "params": [{n}, {}]}}}}}}"#,
            value("m", "null")
        );
        assert_eq!(
            body_of_reduce(&format!("{}, {n}, {inner}", value("total", "[1]"))),
            "parameter total, at first [1]\nparameter n\nreduce\nlambda (n, m)\ntool f\n\
             parameter n, at first the n around the reduce\nparameter m\nover: parameter n\nover: v = []"
        );
    }

    #[test]
    fn version_2_is_shown_with_its_definitions_first() {
        check(
            r#"{"schema_version": "2.0", "body": [{"type": "call", "function": "f", "arguments": [
                {"type": "memo", "key": "k", "expression": {"type": "tool_call", "tool": "t",
                    "arguments": {"a": {"type": "literal", "value": {"b": [1]}}}}}]}],
              "definitions": [{"name": "f", "params": ["n"], "body": {"type": "variable", "name": "n"}}]}"#,
            "program 2.0, single\n  define f(n)\n    variable n\n  call f\n    memo k\n      tool t\n        \
             a: {\"b\":[1]}\n",
        );
    }

    #[test]
    fn deep_levels_are_numbered_instead_of_indented() {
        let (open, close) = (r#"{"type":"function","name":"f","params":["#, "]}");
        let text = format!(r#"{{"mode":"single","body":[{}{}]}}"#, open.repeat(50), close.repeat(50));
        let outline = Program::parse(&text, Program::BOUNDS).unwrap().outline().to_string();
        assert!(outline.ends_with(&format!("\n{}[level 50] tool f\n", " ".repeat(80))), "{outline}");
    }
}
