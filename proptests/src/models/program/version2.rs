//! Version 2: definitions, named arguments, memo.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use windtunnel_core::evaluator::{ErrorKind, Resource};

use super::ProgramEnd;
use super::interpreter::{Interpreter, Stop, is_true};
use super::memo::Memo;
use crate::cases::{Expression, Version2Program};

/// Where an expression stands while it is evaluated.
#[derive(Clone, Copy)]
struct Place<'p> {
    program: &'p Version2Program,
    variables: &'p BTreeMap<String, Value>,
    depth: u64,
    call_depth: u64,
}

impl Place<'_> {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

impl Interpreter<'_> {
    pub(super) fn run_version_2(&mut self, program: &Version2Program) -> Result<ProgramEnd, Stop> {
        self.count_node(1)?;
        let variables = BTreeMap::new();
        let place = Place { program, variables: &variables, depth: 2, call_depth: 0 };
        let count = program.body.len();
        self.branches(count, program.mode, true, |this, index| this.expression(&program.body[index], place))
    }

    fn expression(&mut self, expression: &Expression, place: Place<'_>) -> Result<Value, Stop> {
        self.count_node(place.depth)?;
        match expression {
            Expression::Literal(value) => Ok(value.clone()),
            Expression::Variable(name) => Ok(place.variables.get(name).cloned().unwrap_or_default()),
            Expression::Call { function, arguments } => self.user_call(function, arguments, place),
            Expression::ToolCall { tool, arguments } => {
                let mut values = Map::new();
                for (name, argument) in arguments {
                    values.insert(name.clone(), self.expression(argument, place.deeper())?);
                }
                let tool = self.tool(tool)?;
                self.call(tool, Value::Object(values))
            }
            Expression::Conditional { condition, true_branch, false_branch } => {
                let condition = self.expression(condition, place.deeper())?;
                let branch = if is_true(&condition) { true_branch } else { false_branch };
                self.expression(branch, place.deeper())
            }
            Expression::Memo { key, expression } => self.memo(key, expression, place),
        }
    }

    fn user_call(&mut self, function: &str, arguments: &[Expression], place: Place<'_>) -> Result<Value, Stop> {
        let call_depth = place.call_depth + 1;
        self.hold(Resource::CallDepth, call_depth, self.case.limits.max_call_depth)?;
        self.peak_call_depth = self.peak_call_depth.max(call_depth);
        let Some(definition) = place.program.definitions.iter().find(|known| known.name == function) else {
            return self.fail(ErrorKind::AstValidation);
        };
        let mut variables = BTreeMap::new();
        for (name, argument) in definition.params.iter().zip(arguments) {
            variables.insert(name.clone(), self.expression(argument, place.deeper())?);
        }
        // The body is at depth 2 at every call (V6).
        self.expression(&definition.body, Place { variables: &variables, depth: 2, call_depth, ..place })
    }

    fn memo(&mut self, key: &str, expression: &Expression, place: Place<'_>) -> Result<Value, Stop> {
        if let Some(memo) = self.memos.known.get(key) {
            // Whoever asks first evaluates it, at its own depth; walking in order may have seen that differently.
            self.is_ordered &= self.forks == 0 || self.now > memo.asked;
            self.now = self.now.max(memo.ready);
            return Ok(memo.value.clone());
        }
        let asked = self.now;
        let result = self.expression(expression, place.deeper());
        match &result {
            Ok(value) => {
                let memo = Memo { value: value.clone(), asked, ready: self.now };
                self.memos.known.insert(key.to_owned(), memo);
            }
            Err(_) => self.is_certain &= self.forks == 0,
        }
        result
    }
}
