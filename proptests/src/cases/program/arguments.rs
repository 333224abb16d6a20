//! The values of a program that can be arguments of it as a tool (V11).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Expression, FunctionNode, ProgramTree, Version1Node};

/// A value of a program, by the name of the argument that stands in for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramArgument {
    /// The name.
    pub name: String,
    /// The value that is written in the program.
    pub default: Value,
}

impl ProgramTree {
    /// The arguments in order: those of the body, then those of the definitions.
    pub fn arguments(&self) -> Vec<ProgramArgument> {
        let mut arguments = Vec::new();
        self.clone().visit(&mut |name, value| arguments.push(ProgramArgument { name, default: value.clone() }));
        arguments
    }

    /// The program with other values written into it, by the names of the arguments.
    #[must_use]
    pub fn with_arguments(&self, values: &BTreeMap<String, Value>) -> Self {
        let mut tree = self.clone();
        tree.visit(&mut |name, value| {
            if let Some(other) = values.get(&name) {
                *value = other.clone();
            }
        });
        tree
    }

    fn visit(&mut self, meet: &mut dyn FnMut(String, &mut Value)) {
        let mut visit = Visit { counts: BTreeMap::new(), memos: memos(&self.to_json()), meet };
        match self {
            Self::Version1(program) => program.body.iter_mut().for_each(|node| visit.node(node, &[])),
            Self::Version2(program) => {
                let params: BTreeMap<_, _> =
                    program.definitions.iter().map(|known| (known.name.clone(), known.params.clone())).collect();
                program.body.iter_mut().for_each(|expression| visit.expression(expression, &params));
                for definition in &mut program.definitions {
                    visit.expression(&mut definition.body, &params);
                }
            }
        }
    }
}

/// How often each memo key stands in a program.
fn memos(program: &Value) -> BTreeMap<String, usize> {
    let mut memos = BTreeMap::new();
    let mut open = vec![program];
    while let Some(value) = open.pop() {
        if value["type"] == "memo" {
            *memos.entry(value["key"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        match value {
            Value::Array(elements) => open.extend(elements),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    memos
}

struct Visit<'m> {
    counts: BTreeMap<String, usize>,
    memos: BTreeMap<String, usize>,
    meet: &'m mut dyn FnMut(String, &mut Value),
}

impl Visit<'_> {
    fn value(&mut self, name: &str, value: &mut Value) {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        let name = if *count == 1 { name.to_owned() } else { format!("{name}_{count}") };
        (self.meet)(name, value);
    }

    fn node(&mut self, node: &mut Version1Node, bound: &[String]) {
        match node {
            Version1Node::Value { name, value } => {
                if !bound.contains(name) {
                    self.value(&name.clone(), value);
                }
            }
            Version1Node::Function(function) => self.function(function, bound),
            Version1Node::Conditional { condition, true_branch, false_branch } => {
                self.node(condition, bound);
                self.node(true_branch, bound);
                false_branch.iter_mut().for_each(|branch| self.node(branch, bound));
            }
            Version1Node::HigherOrder(node) => {
                let inner: Vec<_> = bound.iter().chain(&node.params).cloned().collect();
                self.function(&mut node.body, &inner);
                self.node(&mut node.iterable, bound);
            }
            Version1Node::Program(program) => program.body.iter_mut().for_each(|node| self.node(node, bound)),
        }
    }

    fn function(&mut self, function: &mut FunctionNode, bound: &[String]) {
        function.params.iter_mut().for_each(|param| self.node(param, bound));
    }

    fn expression(&mut self, expression: &mut Expression, params: &BTreeMap<String, Vec<String>>) {
        match expression {
            Expression::Literal(_) | Expression::Variable(_) => {}
            Expression::Call { function, arguments } => {
                let names = params.get(function).cloned().unwrap_or_default();
                for (name, argument) in names.iter().zip(arguments) {
                    self.argument(name, argument, params);
                }
            }
            Expression::ToolCall { arguments, .. } => {
                for (name, argument) in arguments {
                    self.argument(name, argument, params);
                }
            }
            Expression::Conditional { condition, true_branch, false_branch } => {
                [condition, true_branch, false_branch].into_iter().for_each(|part| self.expression(part, params));
            }
            // One value serves all the places of a key: it has no arguments.
            Expression::Memo { key, .. } if self.memos[key] > 1 => {}
            Expression::Memo { expression, .. } => self.expression(expression, params),
        }
    }

    fn argument(&mut self, name: &str, argument: &mut Expression, params: &BTreeMap<String, Vec<String>>) {
        match argument {
            Expression::Literal(value) => self.value(name, value),
            other => self.expression(other, params),
        }
    }
}
