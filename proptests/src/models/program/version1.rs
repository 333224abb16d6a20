//! Version 1: positional parameters, lambdas, lists.

use serde_json::{Map, Value};
use windtunnel_core::evaluator::ErrorKind;

use super::ProgramEnd;
use super::interpreter::{Interpreter, Stop, into_value, is_true};
use crate::cases::{FunctionNode, HigherOrderNode, ListOperation, Version1Node, Version1Program};

/// The parameters around, the innermost last.
type Names = Vec<(String, Value)>;

impl Interpreter<'_> {
    pub(super) fn run_version_1(&mut self, program: &Version1Program) -> Result<ProgramEnd, Stop> {
        self.program(program, &Names::new(), 1)
    }

    fn program(&mut self, program: &Version1Program, names: &Names, depth: u64) -> Result<ProgramEnd, Stop> {
        self.count_node(depth)?;
        let (count, mode) = (program.body.len(), program.mode);
        self.branches(count, mode, depth == 1, |this, index| this.node(&program.body[index], names, depth + 1))
    }

    fn node(&mut self, node: &Version1Node, names: &Names, depth: u64) -> Result<Value, Stop> {
        match node {
            Version1Node::Value { name, value } => {
                self.count_node(depth)?;
                Ok(bound(name, names).unwrap_or(value).clone())
            }
            Version1Node::Function(function) => self.function(function, names, depth),
            Version1Node::Conditional { condition, true_branch, false_branch } => {
                self.count_node(depth)?;
                let condition = self.node(condition, names, depth + 1)?;
                match (is_true(&condition), false_branch) {
                    (true, _) => self.node(true_branch, names, depth + 1),
                    (false, Some(branch)) => self.node(branch, names, depth + 1),
                    (false, None) => Ok(Value::Null),
                }
            }
            Version1Node::HigherOrder(node) => self.higher_order(node, names, depth),
            Version1Node::Program(program) => Ok(into_value(self.program(program, names, depth)?)),
        }
    }

    fn function(&mut self, function: &FunctionNode, names: &Names, depth: u64) -> Result<Value, Stop> {
        self.count_node(depth)?;
        let tool = self.tool(&function.tool)?;
        let (given, known) = (function.params.len(), tool.params().len());
        if given > known || given < known && !tool.has_input_schema() {
            return self.fail(ErrorKind::AstValidation);
        }
        let permits = if self.is_sequential() { 1 } else { given };
        let values = match permits {
            1 => {
                function.params.iter().map(|param| self.node(param, names, depth + 1)).collect::<Result<Vec<_>, _>>()?
            }
            _ => self.at_once(given, permits, |this, index| this.node(&function.params[index], names, depth + 1))?,
        };
        let arguments = tool.params().iter().zip(values).map(|(param, value)| (param.name.to_owned(), value));
        let arguments: Map<_, _> = arguments.collect();
        self.call(tool, Value::Object(arguments))
    }

    fn higher_order(&mut self, node: &HigherOrderNode, names: &Names, depth: u64) -> Result<Value, Stop> {
        self.count_node(depth)?;
        let Value::Array(items) = self.node(&node.iterable, names, depth + 1)? else {
            return self.fail(ErrorKind::TypeError);
        };
        let mut items = items.into_iter();
        let mut accumulator = Value::Null;
        if node.operation == ListOperation::Reduce {
            accumulator = initializer(node, names);
            if items.len() == 0 {
                return Ok(Value::Null);
            }
            if accumulator.is_null() {
                accumulator = items.next().unwrap_or_default();
            }
        }
        self.count_node(depth + 1)?;
        let mut results = Vec::new();
        for item in items {
            let values = match node.operation {
                ListOperation::Reduce => vec![accumulator.clone(), item.clone()],
                _ => vec![item.clone()],
            };
            let inside = names.iter().cloned().chain(node.params.iter().cloned().zip(values)).collect();
            let result = self.function(&node.body, &inside, depth + 2)?;
            match node.operation {
                ListOperation::Map => results.push(result),
                ListOperation::Filter if is_true(&result) => results.push(item),
                ListOperation::Filter => {}
                ListOperation::Reduce => accumulator = result,
            }
        }
        Ok(if node.operation == ListOperation::Reduce { accumulator } else { Value::Array(results) })
    }
}

fn bound<'n>(name: &str, names: &'n Names) -> Option<&'n Value> {
    names.iter().rfind(|(known, _)| known == name).map(|(_, value)| value)
}

/// What a reduce starts from: what the accumulator's name stands for outside, or what the first value of that name in
/// the lambda's body says.
fn initializer(node: &HigherOrderNode, names: &Names) -> Value {
    let Some(name) = node.params.first() else { return Value::Null };
    let outside = bound(name, names).cloned();
    outside.or_else(|| first_in_function(&node.body, name).cloned()).unwrap_or_default()
}

fn first_in_function<'n>(function: &'n FunctionNode, name: &str) -> Option<&'n Value> {
    function.params.iter().find_map(|param| first_in_node(param, name))
}

fn first_in_node<'n>(node: &'n Version1Node, name: &str) -> Option<&'n Value> {
    match node {
        Version1Node::Value { name: known, value } => (known == name).then_some(value),
        Version1Node::Function(function) => first_in_function(function, name),
        Version1Node::Conditional { condition, true_branch, false_branch } => {
            let parts = [Some(condition), Some(true_branch), false_branch.as_ref()];
            parts.into_iter().flatten().find_map(|part| first_in_node(part, name))
        }
        Version1Node::HigherOrder(node) => {
            first_in_function(&node.body, name).or_else(|| first_in_node(&node.iterable, name))
        }
        Version1Node::Program(program) => program.body.iter().find_map(|node| first_in_node(node, name)),
    }
}
