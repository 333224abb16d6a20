//! Calls of user functions and of tools: arguments, attempts, retries (V4, V5, V7).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::datum::Datum;
use super::super::definition::ToolDefinition;
use super::super::error::{EvaluationError, ProviderError, ToolFailure};
use super::super::syntax::{Children, Node, NodeId, ToolId};
use super::failure::ROUNDS_TO_HEAR;
use super::frame::{FrameId, State};
use super::interpreter::{Input, Machine, Request, Step, Stepped};
use super::scope::Scope;

impl<'p> Machine<'p> {
    /// Evaluates arguments in order, one after another.
    pub(super) fn begin_arguments(&mut self, id: FrameId, arguments: Children) -> Stepped<'p> {
        self.frames.get_mut(id).state = State::Arguments { values: State::values(arguments), next: 0 };
        self.advance_arguments(id)
    }

    /// Goes on to the next argument that is more than a plain value.
    pub(super) fn advance_arguments(&mut self, id: FrameId) -> Stepped<'p> {
        loop {
            let frame = self.frames.get(id);
            let State::Arguments { next, .. } = frame.state else { return Ok(Step::Wait) };
            let arguments = self.arguments_of(frame.node);
            if next == arguments.count {
                return self.complete(id);
            }
            let node = arguments.get(next);
            let Some(datum) = self.leaf(node, frame.scope.as_deref()) else {
                return Ok(Step::Next(self.add_child(id, node, next), Input::Enter));
            };
            self.budget.use_node(u64::from(frame.depth) + 1)?;
            if let State::Arguments { values, next } = &mut self.frames.get_mut(id).state {
                values[*next as usize] = datum;
                *next += 1;
            }
        }
    }

    fn arguments_of(&self, node: NodeId) -> Children {
        match self.tree.node(node) {
            Node::Function { params: arguments, .. }
            | Node::Call { arguments, .. }
            | Node::ToolCall { arguments, .. } => *arguments,
            _ => Children { first: 0, count: 0 },
        }
    }

    /// A version 1 function knows its tool before its parameters.
    pub(super) fn enter_function(&mut self, id: FrameId, tool: ToolId, params: Children) -> Stepped<'p> {
        let Some(definition) = &self.definitions[tool.0 as usize] else {
            return Ok(Step::Request(Request::Definition { frame: id, tool: self.tree.tool(tool) }));
        };
        let (given, properties) = (params.count as usize, definition.properties().len());
        // V5
        let does_fit = if definition.has_input_schema() { given <= properties } else { given == properties };
        if !does_fit {
            let at_most = if definition.has_input_schema() { "at most " } else { "" };
            let name = definition.name();
            let problem = format!("tool {name:?} takes {at_most}{properties} parameters, and is given {given}");
            return Err(self.invalid(self.frames.get(id).node, problem));
        }
        if self.is_sequential() { self.begin_arguments(id, params) } else { self.begin_parameters(id, params) }
    }

    /// Evaluates parameters at once (V4); all plain values have one turn.
    fn begin_parameters(&mut self, id: FrameId, params: Children) -> Stepped<'p> {
        let values = State::values(params);
        self.frames.get_mut(id).state = State::Parameters { values, waiting: params.count, is_failing: false };
        let tree = self.tree;
        let is_plain = |node: NodeId| matches!(tree.node(node), Node::Value { .. });
        let plain = params.iter().filter(|node| is_plain(*node)).count() as u32;
        for _ in 1..params.count - plain {
            self.budget.begin_work();
        }
        match (params.count, plain) {
            (0, _) => self.complete(id),
            (count, plain) if count == plain => Ok(Step::Later(1, id, Input::PlainParameters)),
            (_, plain) => {
                if plain > 0 {
                    self.turns.add(1, id, Input::PlainParameters);
                }
                Ok(self.fork(id, Self::parts_of(params).filter(|(_, node)| !is_plain(*node))))
            }
        }
    }

    /// The turn of the plain values among a frame's parameters.
    pub(super) fn take_plain_parameters(&mut self, id: FrameId) -> Step<'p> {
        let mut refused = None;
        for (slot, node) in Self::parts_of(self.arguments_of(self.frames.get(id).node)) {
            let frame = self.frames.get(id);
            let Some(datum) = self.leaf(node, frame.scope.as_deref()) else { continue };
            let used = self.budget.use_node(u64::from(frame.depth) + 1);
            refused = refused.or_else(|| used.err().map(|limit| (slot, limit)));
            if let State::Parameters { values, waiting, .. } = &mut self.frames.get_mut(id).state {
                values[slot as usize] = datum;
                *waiting -= 1;
            }
        }
        match (refused, &self.frames.get(id).state) {
            (Some((slot, limit)), _) => self.fail_part(id, slot, limit.into()),
            (None, State::Parameters { waiting: 0, is_failing: false, .. }) => {
                Step::Later(ROUNDS_TO_HEAR, id, Input::Complete)
            }
            (None, _) => Step::Wait,
        }
    }

    /// All arguments are known: enters the user function, or calls the tool.
    pub(super) fn complete(&mut self, id: FrameId) -> Stepped<'p> {
        let tree = self.tree;
        match tree.node(self.frames.get(id).node) {
            Node::Call { definition, .. } => {
                let body = tree.definitions[*definition as usize].body;
                let values = self.take_values(id);
                let frame = self.frames.get_mut(id);
                // The body takes the call's place, at its own depth (V6): a loop by tail calls needs no memory.
                frame.node = body;
                frame.depth = 2;
                frame.call_depth += 1;
                frame.scope = Some(Scope::new(None, values));
                Ok(Step::Next(id, Input::Enter))
            }
            Node::ToolCall { tool, .. } | Node::Function { tool, .. } => {
                let Some(definition) = self.definitions[tool.0 as usize].clone() else {
                    return Ok(Step::Request(Request::Definition { frame: id, tool: tree.tool(*tool) }));
                };
                self.call(id, *tool, &definition)
            }
            _ => Ok(Step::Wait),
        }
    }

    /// The values that a frame gathered; it is then about to do something else.
    fn take_values(&mut self, id: FrameId) -> Box<[Datum]> {
        match std::mem::replace(&mut self.frames.get_mut(id).state, State::Entering) {
            State::Arguments { values, .. } | State::Parameters { values, .. } => values,
            _ => Box::default(),
        }
    }

    fn call(&mut self, id: FrameId, tool: ToolId, definition: &ToolDefinition) -> Stepped<'p> {
        let tree = self.tree;
        let node = self.frames.get(id).node;
        let values = self.take_values(id);
        let mut arguments = Map::with_capacity(values.len());
        for (index, datum) in values.into_iter().enumerate() {
            let name = match tree.node(node) {
                Node::ToolCall { names, .. } => tree.name(names[index]),
                _ => definition.property(index),
            };
            arguments.insert(name.to_owned(), datum.into_value());
        }
        let arguments = Value::Object(arguments);
        if let Err(error) = definition.check(&arguments) {
            let problem = format!("tool {:?} does not take these arguments: {error}", definition.name());
            return Err(self.invalid(node, problem));
        }
        self.calls += 1;
        self.attempt(id, tool, self.calls, 1, arguments)
    }

    fn attempt(&mut self, id: FrameId, tool: ToolId, number: u64, attempt: u32, arguments: Value) -> Stepped<'p> {
        self.budget.use_tool_call()?;
        let tool = self.tree.tool(tool);
        let retry = &self.policy.retry;
        let is_last = attempt >= retry.max_attempts.get() || !retry.covers(tool);
        let kept = (!is_last).then(|| Box::new(arguments.clone()));
        self.frames.get_mut(id).state = State::Calling { number, attempt, arguments: kept };
        Ok(Step::Request(Request::Attempt { frame: id, tool, number, attempt, arguments }))
    }

    pub(super) fn define(
        &mut self,
        id: FrameId,
        defined: Result<Arc<ToolDefinition>, Box<ProviderError>>,
    ) -> Stepped<'p> {
        let tool = self.tool_of(id);
        let name = self.tree.tool(tool);
        let definition = defined.map_err(|error| tool_error(name, *error))?;
        if definition.name() != &**name {
            let problem = format!("the provider gave the definition of {:?} for it", definition.name());
            return Err(EvaluationError::Tool { tool: Arc::clone(name), failure: ToolFailure::response(problem) });
        }
        self.definitions[tool.0 as usize] = Some(definition);
        match self.tree.node(self.frames.get(id).node) {
            Node::Function { params, .. } => self.enter_function(id, tool, *params),
            _ => self.complete(id),
        }
    }

    pub(super) fn answer(&mut self, id: FrameId, answered: Result<Datum, Box<ProviderError>>) -> Stepped<'p> {
        let error = match answered {
            Ok(datum) => return Ok(self.finish(id, datum)),
            Err(error) => *error,
        };
        let tool = self.tree.tool(self.tool_of(id));
        if let (ProviderError::Failed(failure), State::Calling { number, attempt, .. }) =
            (&error, &self.frames.get(id).state)
        {
            let (cause, retry) = (failure.kind(), &self.policy.retry);
            if retry.retries(tool, *attempt, cause) {
                let (number, attempt, delay) = (*number, *attempt, retry.delay);
                return Ok(Step::Request(Request::Rest { frame: id, tool, number, attempt, cause, delay }));
            }
        }
        Err(tool_error(tool, error))
    }

    /// The next attempt, with the same arguments (V7).
    pub(super) fn retry(&mut self, id: FrameId) -> Stepped<'p> {
        let tool = self.tool_of(id);
        match &mut self.frames.get_mut(id).state {
            State::Calling { number, attempt, arguments } => {
                let (number, attempt) = (*number, *attempt + 1);
                let arguments = arguments.take().map_or(Value::Null, |arguments| *arguments);
                self.attempt(id, tool, number, attempt, arguments)
            }
            _ => Ok(Step::Wait),
        }
    }

    fn tool_of(&self, id: FrameId) -> ToolId {
        match self.tree.node(self.frames.get(id).node) {
            Node::Function { tool, .. } | Node::ToolCall { tool, .. } => *tool,
            _ => ToolId(0),
        }
    }
}

fn tool_error(tool: &Arc<str>, error: ProviderError) -> EvaluationError {
    match error {
        ProviderError::Failed(failure) => EvaluationError::Tool { tool: Arc::clone(tool), failure },
        ProviderError::Interrupted(interrupted) => EvaluationError::Interrupted(interrupted),
    }
}
