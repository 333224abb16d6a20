//! Calls of user functions and of tools: arguments, attempts, retries (V4, V5, V7).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::datum::Datum;
use super::super::definition::ToolDefinition;
use super::super::error::{EvaluationError, ProviderError, ToolFailure};
use super::super::syntax::{Children, Node, NodeId, ToolId, Tree};
use super::failure::ROUNDS_TO_HEAR;
use super::frame::{Frame, FrameId, State, Values};
use super::interpreter::{Input, Machine, Request, Step, Stepped};
use super::scope::Scope;

impl<'p> Machine<'p> {
    /// Evaluates arguments in order, one after another.
    pub(super) fn begin_arguments(&mut self, id: FrameId, arguments: Children) -> Stepped {
        self.advance_arguments(id, arguments, State::values(arguments), 0)
    }

    /// Goes on to the next argument that is more than a plain value.
    fn advance_arguments(&mut self, id: FrameId, arguments: Children, mut values: Values, begin: u32) -> Stepped {
        let Frame { depth, ref scope, .. } = *self.frames.get(id);
        let mut suspended = None;
        for next in begin..arguments.count {
            let node = arguments.get(next);
            match self.leaf(node, scope.as_deref()) {
                Some(datum) => {
                    self.budget.use_node(u64::from(depth) + 1)?;
                    values[next as usize] = datum;
                }
                None => {
                    suspended = Some((next, node));
                    break;
                }
            }
        }
        let Some((next, node)) = suspended else { return self.apply(id, values) };
        self.frames.get_mut(id).state = State::Arguments { values, next };
        Ok(Step::Next(self.add_child(id, node, next), Input::Enter))
    }

    /// One argument is known.
    pub(super) fn take_argument(&mut self, id: FrameId, datum: Datum) -> Stepped {
        let arguments = self.arguments_of(self.frames.get(id).node);
        match std::mem::replace(&mut self.frames.get_mut(id).state, State::Entering) {
            State::Arguments { mut values, next } => {
                values[next as usize] = datum;
                self.advance_arguments(id, arguments, values, next + 1)
            }
            _ => Ok(Step::Wait),
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
    pub(super) fn enter_function(&mut self, id: FrameId, tool: ToolId, params: Children) -> Stepped {
        let Some(definition) = &self.definitions[tool.0 as usize] else {
            return Ok(self.ask(Request::Definition { frame: id, tool: self.tree.tool(tool) }));
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
    fn begin_parameters(&mut self, id: FrameId, params: Children) -> Stepped {
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
            // Nobody else has a turn, and nothing can be refused: it is all the same without turns.
            (count, plain) if count == plain + 1 && self.turns.is_empty() && self.has_room_for(id, plain) => {
                self.take_plain_parameters(id);
                let work = Self::parts_of(params).find(|(_, node)| !is_plain(*node));
                Ok(work.map_or(Step::Wait, |(slot, node)| {
                    let child = self.add_child(id, node, slot);
                    // Whether others have a turn depends on time, and the names of calls must not.
                    self.part_strands(id, &[(slot, child)]);
                    Step::Next(child, Input::Enter)
                }))
            }
            (_, plain) => {
                if plain > 0 {
                    self.schedule(1, id, Input::PlainParameters);
                }
                let work = Self::parts_of(params).filter(|(_, node)| !is_plain(*node));
                self.fork(id, work, false);
                Ok(Step::Wait)
            }
        }
    }

    fn has_room_for(&self, id: FrameId, parts: u32) -> bool {
        self.budget.has_room_for(parts.into(), u64::from(self.frames.get(id).depth) + 1)
    }

    /// The turn of the plain values among a frame's parameters.
    pub(super) fn take_plain_parameters(&mut self, id: FrameId) -> Step {
        if !matches!(self.frames.get(id).state, State::Parameters { .. }) {
            return Step::Wait;
        }
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

    /// All parameters are known, or the definition that a call waited for.
    pub(super) fn complete(&mut self, id: FrameId) -> Stepped {
        match std::mem::replace(&mut self.frames.get_mut(id).state, State::Entering) {
            State::Arguments { values, .. } | State::Parameters { values, .. } => self.apply(id, values),
            _ => Ok(Step::Wait),
        }
    }

    /// All arguments are known: enters the user function, or calls the tool.
    fn apply(&mut self, id: FrameId, values: Values) -> Stepped {
        let tree = self.tree;
        let node = self.frames.get(id).node;
        match tree.node(node) {
            Node::Call { definition, .. } => {
                let frame = self.frames.get_mut(id);
                // The body takes the call's place, at its own depth (V6): a loop by tail calls needs no memory.
                frame.node = tree.definitions[*definition as usize].body;
                frame.depth = 2;
                frame.call_depth = frame.call_depth.saturating_add(1);
                frame.scope = Some(Scope::new(None, values));
                Ok(Step::Next(id, Input::Enter))
            }
            Node::ToolCall { tool, .. } | Node::Function { tool, .. } => match &self.definitions[tool.0 as usize] {
                Some(definition) => {
                    self.budget.use_bytes(values.iter().map(Datum::copied_bytes).sum())?;
                    let arguments = named(tree, node, definition, values);
                    if let Err(error) = definition.check(&arguments) {
                        let problem = format!("tool {:?} does not take these arguments: {error}", definition.name());
                        return Err(self.invalid(node, problem));
                    }
                    self.calls += 1;
                    self.attempt(id, *tool, self.calls, 1, arguments)
                }
                None => {
                    let next = values.len() as u32;
                    self.frames.get_mut(id).state = State::Arguments { values, next };
                    Ok(self.ask(Request::Definition { frame: id, tool: tree.tool(*tool) }))
                }
            },
            _ => Ok(Step::Wait),
        }
    }

    fn attempt(&mut self, id: FrameId, tool: ToolId, number: u64, attempt: u32, arguments: Value) -> Stepped {
        self.budget.use_tool_call()?;
        let tool = self.tree.tool(tool);
        let node = self.frames.get(id).node;
        let retry = &self.policy.retry;
        let is_last = attempt >= retry.max_attempts.get() || !retry.covers(tool);
        let kept = (!is_last).then(|| Box::new(arguments.clone()));
        self.frames.get_mut(id).state = State::Calling { number, attempt, arguments: kept };
        let place = self.place_of_call(id, number, attempt);
        Ok(self.ask(Request::Attempt { frame: id, node, tool, number, place, attempt, arguments }))
    }

    pub(super) fn define(&mut self, id: FrameId, defined: Result<Arc<ToolDefinition>, Box<ProviderError>>) -> Stepped {
        let tool = self.tool_of(id);
        let name = self.tree.tool(tool);
        let definition = defined.map_err(|error| tool_error(name, *error))?;
        if definition.name() != &**name {
            let problem = format!("the provider gave the definition of {:?} for it", definition.name());
            return Err(tool_error(name, ToolFailure::response(problem).into()));
        }
        // What siblings are told later changes nothing.
        self.definitions[tool.0 as usize].get_or_insert(definition);
        match self.tree.node(self.frames.get(id).node) {
            Node::Function { params, .. } => self.enter_function(id, tool, *params),
            _ => self.complete(id),
        }
    }

    pub(super) fn answer(&mut self, id: FrameId, answered: Result<Datum, Box<ProviderError>>) -> Stepped {
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
                return Ok(self.ask(Request::Rest { frame: id, tool, number, attempt, cause, delay }));
            }
        }
        Err(tool_error(tool, error))
    }

    /// The next attempt, with the same arguments (V7).
    pub(super) fn retry(&mut self, id: FrameId) -> Stepped {
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

/// The arguments of a tool, by name.
fn named(tree: &Tree, node: NodeId, definition: &ToolDefinition, values: Values) -> Value {
    let mut arguments = Map::with_capacity(values.len());
    for (index, datum) in values.into_iter().enumerate() {
        let name = match tree.node(node) {
            Node::ToolCall { names, .. } => tree.name(names[index]),
            _ => definition.property(index),
        };
        arguments.insert(name.to_owned(), datum.into_value());
    }
    Value::Object(arguments)
}

fn tool_error(tool: &Arc<str>, error: ProviderError) -> Box<EvaluationError> {
    Box::new(match error {
        ProviderError::Failed(failure) => EvaluationError::Tool { tool: Arc::clone(tool), failure },
        ProviderError::Interrupted(interrupted) => EvaluationError::Interrupted(interrupted),
    })
}
