//! The machine: which frame goes on, and what each kind of node does first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::super::budget::Budget;
use super::super::datum::{Datum, LEVELS_MAX};
use super::super::definition::ToolDefinition;
use super::super::error::{ErrorKind, EvaluationError, ProviderError};
use super::super::limits::LimitExceeded;
use super::super::outcome::Answer;
use super::super::policy::ExecutionPolicy;
use super::super::syntax::{Binding, Children, Node, NodeId, Program, Tree};
use super::failure::ROUNDS_TO_HEAR;
use super::frame::{Frame, FrameId, State};
use super::frames::Frames;
use super::memo::Memo;
use super::places::Places;
use super::scope::Scope;
use super::turns::Turns;

/// How many steps the machine makes before it pauses, so that a program without tools sees its deadline too (V10).
const STEPS_AT_ONCE: u32 = 1024;

/// Which of the frames that can go on does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluator) enum Order {
    /// Siblings as they are written, then as their tools answer.
    Written,
    /// Any: the driver draws.
    Drawn,
}

/// What makes a frame go on.
#[derive(Debug)]
pub(in crate::evaluator) enum Input {
    /// It is its turn.
    Enter,
    /// It begins if there is a permit.
    Admit,
    /// It has a permit.
    Admitted,
    /// The turn of the plain values among its parameters.
    PlainParameters,
    /// All its parts are known.
    Complete,
    /// A part of it failed: in the next round the others are cancelled.
    Hear(Box<EvaluationError>),
    /// The others are cancelled.
    Cancel(Box<EvaluationError>),
    /// It fails itself.
    Failed(Box<EvaluationError>),
    /// A part of it has a value.
    Value { slot: u32, datum: Datum },
    /// The provider defined the tool, or not.
    Defined(Result<Arc<ToolDefinition>, Box<ProviderError>>),
    /// An attempt of the tool ended.
    Answered(Result<Datum, Box<ProviderError>>),
    /// The pause before the next attempt is over.
    Rested,
}

/// What the machine asks of its driver, for one frame.
#[derive(Debug)]
pub(in crate::evaluator) enum Request<'p> {
    /// The definition of a tool.
    Definition { frame: FrameId, tool: &'p Arc<str> },
    /// One attempt of a tool.
    Attempt {
        frame: FrameId,
        node: NodeId,
        tool: &'p Arc<str>,
        number: u64,
        /// Its name, where calls are named.
        place: Option<Arc<str>>,
        attempt: u32,
        arguments: Value,
    },
    /// A pause before the next attempt.
    Rest { frame: FrameId, tool: &'p Arc<str>, number: u64, attempt: u32, cause: ErrorKind, delay: Duration },
}

/// How far the machine came.
#[derive(Debug)]
pub(in crate::evaluator) enum Progress<'p> {
    /// To the end.
    Done(Result<Answer, EvaluationError>),
    /// It has a request; other frames may go on meanwhile.
    Request(Request<'p>),
    /// It made many steps: let others run, and look at the clock.
    Paused,
    /// Nothing goes on before an input comes.
    Idle,
}

/// What one step leads to.
pub(super) enum Step {
    Next(FrameId, Input),
    /// So many rounds later.
    Later(u64, FrameId, Input),
    /// To what [`Machine::request`] holds.
    Request,
    Wait,
    Done(Box<Result<Answer, EvaluationError>>),
}

/// An error is boxed, so that a step stays small.
pub(super) type Stepped = Result<Step, Box<EvaluationError>>;

/// One evaluation of one program.
#[derive(Debug)]
pub(in crate::evaluator) struct Machine<'p> {
    pub(super) program: &'p Program,
    pub(super) tree: &'p Tree,
    pub(super) policy: &'p ExecutionPolicy,
    /// Values that stand in for those of the program's leaves (V11).
    overrides: &'p BTreeMap<NodeId, Datum>,
    pub(super) budget: Budget,
    pub(super) order: Order,
    pub(super) frames: Frames,
    pub(super) turns: Turns,
    /// By tool.
    pub(super) definitions: Vec<Option<Arc<ToolDefinition>>>,
    /// By memo key.
    pub(super) memos: Vec<Memo>,
    /// How many calls of tools began.
    pub(super) calls: u64,
    /// The names of calls, where they are asked for.
    pub(super) places: Option<Box<Places>>,
    /// Frames that were cancelled and may have a request that runs.
    pub(super) cancelled: Vec<FrameId>,
    /// Here rather than in each step, which is small.
    request: Option<Request<'p>>,
    steps_left: u32,
}

impl<'p> Machine<'p> {
    pub(in crate::evaluator) fn new(
        program: &'p Program,
        policy: &'p ExecutionPolicy,
        overrides: &'p BTreeMap<NodeId, Datum>,
        budget: Budget,
        order: Order,
    ) -> Self {
        let tree = program.tree();
        let mut machine = Self {
            program,
            tree,
            policy,
            overrides,
            budget,
            order,
            frames: Frames::default(),
            turns: Turns::default(),
            definitions: vec![None; tree.tools.len()],
            memos: tree.memo_keys.iter().map(|_| Memo::Unknown).collect(),
            calls: 0,
            places: None,
            cancelled: Vec::new(),
            request: None,
            steps_left: STEPS_AT_ONCE,
        };
        machine.budget.begin_work();
        let root = Frame { node: Tree::ROOT, slot: 0, depth: 1, call_depth: 0, scope: None, state: State::Entering };
        let root = machine.frames.add(None, root);
        machine.turns.add(0, root, Input::Enter);
        machine
    }

    pub(in crate::evaluator) fn program(&self) -> &'p Program {
        self.program
    }

    pub(in crate::evaluator) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Goes on until it needs something, first with `answered`: the answer to its last request, if it came at once.
    /// `draw` picks one of so many frames, where the order is drawn.
    pub(in crate::evaluator) fn run(
        &mut self,
        answered: Option<(FrameId, Input)>,
        draw: &mut dyn FnMut(usize) -> usize,
    ) -> Progress<'p> {
        let mut next = answered;
        while let Some((mut frame, mut input)) =
            next.take().or_else(|| self.turns.take(self.is_drawn().then_some(&mut *draw)))
        {
            if !self.frames.contains(frame) {
                continue;
            }
            loop {
                if self.steps_left == 0 {
                    self.steps_left = STEPS_AT_ONCE;
                    // Siblings have their turn, even beside a loop without an end.
                    self.schedule(1, frame, input);
                    return Progress::Paused;
                }
                self.steps_left -= 1;
                match self.step(frame, input).unwrap_or_else(|error| self.fail(frame, error)) {
                    Step::Next(next, with) => (frame, input) = (next, with),
                    // Nobody else has a turn before it.
                    Step::Later(rounds, next, with) if rounds == 0 || self.turns.is_empty() => {
                        (frame, input) = (next, with)
                    }
                    Step::Later(rounds, next, with) => {
                        self.schedule(rounds, next, with);
                        break;
                    }
                    Step::Request => match self.request.take() {
                        Some(request) => return Progress::Request(request),
                        None => break,
                    },
                    Step::Wait => break,
                    Step::Done(result) => return Progress::Done(*result),
                }
            }
        }
        Progress::Idle
    }

    /// Gives a frame what it waited for.
    pub(in crate::evaluator) fn supply(&mut self, frame: FrameId, input: Input) {
        self.turns.add(0, frame, input);
    }

    /// A turn for a frame, `rounds` after this one.
    pub(super) fn schedule(&mut self, rounds: u64, frame: FrameId, input: Input) {
        let round = self.turns.add(rounds, frame, input);
        self.frames.set_turn(frame, round);
    }

    fn is_drawn(&self) -> bool {
        self.order == Order::Drawn
    }

    /// Frames whose requests are wanted no more.
    pub(in crate::evaluator) fn take_cancelled(&mut self) -> Vec<FrameId> {
        std::mem::take(&mut self.cancelled)
    }

    fn step(&mut self, id: FrameId, input: Input) -> Stepped {
        match input {
            Input::Enter => self.enter(id),
            Input::Admit => Ok(self.admit(id)),
            Input::Admitted => Ok(self.begin_branch(id)),
            Input::PlainParameters => Ok(self.take_plain_parameters(id)),
            Input::Complete => self.resume_complete(id),
            Input::Hear(error) => Ok(Step::Later(1, id, Input::Cancel(error))),
            Input::Cancel(error) => Ok(self.cancel_parts(id, error)),
            Input::Failed(error) => Ok(self.fail(id, error)),
            Input::Value { slot, datum } => self.resume(id, slot, datum),
            Input::Defined(defined) => self.define(id, defined),
            Input::Answered(answered) => self.answer(id, answered),
            Input::Rested => self.retry(id),
        }
    }

    fn resume_complete(&mut self, id: FrameId) -> Stepped {
        match self.frames.get(id).state {
            State::Branches(_) => self.end_branches(id),
            _ => self.complete(id),
        }
    }

    fn enter(&mut self, id: FrameId) -> Stepped {
        let Frame { node, depth, call_depth, .. } = *self.frames.get(id);
        self.budget.use_node(depth.into())?;
        match self.tree.node(node) {
            Node::Value { .. } | Node::Literal { .. } | Node::Variable { .. } => {
                let datum = self.leaf(node, self.frames.get(id).scope.as_deref()).unwrap_or(Datum::Null);
                Ok(self.finish(id, datum))
            }
            Node::Program { body, mode, .. } => self.begin_branches(id, *body, *mode),
            Node::Conditional { parts } => {
                self.frames.get_mut(id).state = State::Condition;
                self.descend(id, parts.get(0))
            }
            Node::Function { tool, params, .. } => self.enter_function(id, *tool, *params),
            Node::HigherOrder { parts, .. } => {
                self.frames.get_mut(id).state = State::Iterable;
                self.descend(id, parts.get(1))
            }
            // Reading lets a lambda stand nowhere but in a map, filter or reduce, which does not enter it.
            Node::Lambda { .. } => Err(self.invalid(node, "a lambda is not a value".to_owned())),
            Node::Call { arguments, .. } => {
                self.budget.use_call_depth(u64::from(call_depth) + 1)?;
                self.begin_arguments(id, *arguments)
            }
            Node::ToolCall { arguments, .. } => self.begin_arguments(id, *arguments),
            Node::Memo { key, expression } => self.enter_memo(id, *key, *expression),
        }
    }

    fn resume(&mut self, id: FrameId, slot: u32, datum: Datum) -> Stepped {
        let frame = self.frames.get_mut(id);
        match &mut frame.state {
            State::Condition => Ok(self.choose(id, &datum)),
            State::Arguments { .. } => self.take_argument(id, datum),
            State::Parameters { values, waiting, is_failing } => {
                values[slot as usize] = datum;
                *waiting -= 1;
                let is_complete = *waiting == 0 && !*is_failing;
                Ok(if is_complete { Step::Later(ROUNDS_TO_HEAR, id, Input::Complete) } else { Step::Wait })
            }
            State::Iterable => self.begin_items(id, datum),
            State::Items(_) => self.take_item(id, datum),
            State::Branches(_) => Ok(self.take_branch(id, slot, Ok(datum))),
            State::MemoOwner => Ok(self.keep_memo(id, datum)),
            State::MemoWaiter => Ok(self.finish(id, datum)),
            State::Queued | State::Entering | State::Calling { .. } | State::Failing => Ok(Step::Wait),
        }
    }

    /// The chosen branch takes the conditional's place.
    fn choose(&mut self, id: FrameId, condition: &Datum) -> Step {
        let frame = self.frames.get_mut(id);
        let chosen = match self.tree.node(frame.node) {
            Node::Conditional { parts } if condition.is_true() => Some(parts.get(1)),
            Node::Conditional { parts } if parts.count > 2 => Some(parts.get(2)),
            _ => None,
        };
        match chosen {
            Some(branch) => {
                frame.node = branch;
                frame.depth += 1;
                frame.state = State::Entering;
                Step::Next(id, Input::Enter)
            }
            None => self.finish(id, Datum::Null),
        }
    }

    /// Evaluates a part of a frame that waits for nothing else.
    pub(super) fn descend(&mut self, id: FrameId, node: NodeId) -> Stepped {
        let Frame { depth, ref scope, .. } = *self.frames.get(id);
        match self.leaf(node, scope.as_deref()) {
            Some(datum) => {
                self.budget.use_node(u64::from(depth) + 1)?;
                Ok(Step::Next(id, Input::Value { slot: 0, datum }))
            }
            None => Ok(Step::Next(self.add_child(id, node, 0), Input::Enter)),
        }
    }

    /// A frame for a part of another, one deeper and in the same scope.
    pub(super) fn add_child(&mut self, id: FrameId, node: NodeId, slot: u32) -> FrameId {
        let Frame { depth, call_depth, ref scope, .. } = *self.frames.get(id);
        let scope = scope.clone();
        let child = Frame { node, slot, depth: depth + 1, call_depth, scope, state: State::Entering };
        self.frames.add(Some(id), child)
    }

    /// Parts of a frame, each with a turn in the next round: to begin, or to ask for a permit if `are_queued`.
    pub(super) fn fork(&mut self, id: FrameId, parts: impl IntoIterator<Item = (u32, NodeId)>, are_queued: bool) {
        let mut children = Vec::new();
        for (slot, node) in parts {
            let child = self.add_child(id, node, slot);
            if are_queued {
                self.frames.get_mut(child).state = State::Queued;
            }
            self.schedule(1, child, if are_queued { Input::Admit } else { Input::Enter });
            if self.places.is_some() {
                children.push((slot, child));
            }
        }
        self.part_strands(id, &children);
    }

    /// The value of a node that needs no evaluation of anything else; `None` for any other node.
    pub(super) fn leaf(&self, node: NodeId, scope: Option<&Scope>) -> Option<Datum> {
        let (value, binding) = match self.tree.node(node) {
            Node::Value { value, binding, .. } => (Some(value), *binding),
            Node::Literal { value } => (Some(value), None),
            Node::Variable { index, .. } => (None, Some(Binding { levels: 0, index: *index })),
            _ => return None,
        };
        let replaced = if self.overrides.is_empty() { None } else { self.overrides.get(&node) };
        let bound = binding.and_then(|binding| scope?.get(binding));
        replaced.or(bound).or(value).cloned()
    }

    /// Hands a frame's value to what it is a part of.
    pub(super) fn finish(&mut self, id: FrameId, datum: Datum) -> Step {
        let (frame, parent) = self.frames.remove(id);
        self.end_strand(id);
        match parent {
            Some(parent) => {
                self.end_child(parent);
                Step::Next(parent, Input::Value { slot: frame.slot, datum })
            }
            None => Step::Done(Box::new(Ok(Answer::Value(datum.into_value())))),
        }
    }

    pub(super) fn ask(&mut self, request: Request<'p>) -> Step {
        self.request = Some(request);
        Step::Request
    }

    /// A child of `parent` is gone: unless it was the last, there is one less at work.
    pub(super) fn end_child(&mut self, parent: FrameId) {
        // A body counts its expressions itself.
        let is_body = matches!(self.frames.get(parent).state, State::Branches(_));
        if !is_body && self.frames.first_child(parent).is_some() {
            self.budget.end_work();
        }
    }

    /// Whether everything inside an expression of the body runs one after another (V6).
    pub(super) fn is_sequential(&self) -> bool {
        self.budget.limits().max_concurrency.is_some()
    }

    pub(in crate::evaluator) fn invalid(&self, node: NodeId, problem: String) -> Box<EvaluationError> {
        Box::new(EvaluationError::Invalid { path: self.program.path_of(node), problem })
    }

    pub(super) fn parts_of(children: Children) -> impl Iterator<Item = (u32, NodeId)> {
        children.iter().enumerate().map(|(slot, node)| (slot as u32, node))
    }
}

impl Machine<'_> {
    /// Counts values that are about to be copied into another.
    pub(super) fn charge<'d>(&mut self, values: impl IntoIterator<Item = &'d Datum>) -> Result<(), LimitExceeded> {
        self.budget.use_bytes(values.into_iter().map(Datum::copied_bytes).sum())
    }

    /// A value that a node came to cannot be kept.
    pub(super) fn too_deep(&self, node: NodeId) -> Box<EvaluationError> {
        let problem = format!("the value has more than {LEVELS_MAX} levels of lists and objects");
        Box::new(EvaluationError::Type { path: self.program.path_of(node), problem })
    }
}

impl From<LimitExceeded> for Box<EvaluationError> {
    fn from(limit: LimitExceeded) -> Self {
        Self::new(limit.into())
    }
}
