//! The expressions of a program's body (V8).

use super::super::datum::{Datum, TooDeep};
use super::super::error::{ErrorKind, EvaluationError};
use super::super::outcome::{Answer, BranchOutcome};
use super::super::policy::ParallelFailures;
use super::super::syntax::{Children, Mode};
use super::failure::ROUNDS_TO_HEAR;
use super::frame::{FrameId, State};
use super::interpreter::{Input, Machine, Step, Stepped};

/// How far the expressions of a body are.
#[derive(Debug)]
pub(super) struct Branches {
    body: Children,
    /// How many of them have begun.
    begun: u32,
    /// How many of them are over.
    over: u32,
    order: Order,
    does_collect: bool,
    is_failing: bool,
    /// By place in the body, as they come.
    results: Vec<Option<Result<Datum, Failure>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// One after another, as one strand of work.
    Sequential,
    /// At once, or as many as the limit allows.
    AtOnce,
}

/// The failure of an expression whose failures are collected.
#[derive(Debug)]
pub(super) struct Failure {
    kind: ErrorKind,
    message: String,
}

impl Failure {
    /// Control flow is never collected, and ends the evaluation before it comes here.
    pub(super) fn of(error: &EvaluationError) -> Self {
        Self { kind: error.kind().unwrap_or(ErrorKind::Unclassified), message: error.to_string() }
    }
}

impl Branches {
    pub(super) fn is_sequential(&self) -> bool {
        self.order == Order::Sequential
    }

    pub(super) fn does_collect(&self) -> bool {
        self.does_collect
    }

    pub(super) fn has_unbegun(&self) -> bool {
        self.begun < self.body.count
    }

    /// Whether it was not failing yet.
    pub(super) fn begin_to_fail(&mut self) -> bool {
        !std::mem::replace(&mut self.is_failing, true)
    }
}

impl<'p> Machine<'p> {
    pub(super) fn begin_branches(&mut self, id: FrameId, body: Children, mode: Mode) -> Stepped {
        let does_collect = self.policy.parallel_failures == ParallelFailures::Collect;
        if does_collect && mode != Mode::Parallel {
            let path = self.program.path_of(self.frames.get(id).node);
            return Err(Box::new(EvaluationError::Policy { path }));
        }
        // Only the outermost body has the permits: what is inside one of them runs one after another (V6).
        let (order, at_once) = match self.budget.limits().max_concurrency {
            None => (Order::AtOnce, body.count),
            Some(_) if self.frames.parent(id).is_some() => (Order::Sequential, 1),
            Some(limit) => (Order::AtOnce, u32::try_from(limit.get()).unwrap_or(u32::MAX)),
        };
        let begun = at_once.min(body.count);
        let results = (0..body.count).map(|_| None).collect();
        let branches = Branches { body, begun, over: 0, order, does_collect, is_failing: false, results };
        self.frames.get_mut(id).state = State::Branches(Box::new(branches));
        for _ in 1..begun {
            self.budget.begin_work();
        }
        match (order, body.count) {
            (_, 0) => self.end_branches(id),
            (Order::Sequential, _) => Ok(Step::Next(self.add_child(id, body.get(0), 0), Input::Enter)),
            (Order::AtOnce, _) => Ok(self.fork(id, Self::parts_of(Children { count: begun, ..body }))),
        }
    }

    /// One expression is over; where there is a limit of concurrency, the next can begin.
    pub(super) fn take_branch(&mut self, id: FrameId, slot: u32, result: Result<Datum, Failure>) -> Step {
        let State::Branches(branches) = &mut self.frames.get_mut(id).state else { return Step::Wait };
        branches.results[slot as usize] = Some(result);
        branches.over += 1;
        match (branches.over == branches.body.count && !branches.is_failing, branches.order) {
            // Its own turn, so that its failure is its own.
            (true, Order::Sequential) => Step::Next(id, Input::Complete),
            (true, Order::AtOnce) => Step::Later(ROUNDS_TO_HEAR, id, Input::Complete),
            (false, _) => self.begin_next_branch(id),
        }
    }

    /// A permit is free: the next expression takes it, even where the body is about to fail.
    pub(super) fn begin_next_branch(&mut self, id: FrameId) -> Step {
        let State::Branches(branches) = &mut self.frames.get_mut(id).state else { return Step::Wait };
        if !branches.has_unbegun() {
            return Step::Wait;
        }
        let (slot, order) = (branches.begun, branches.order);
        let node = branches.body.get(slot);
        branches.begun += 1;
        if self.frames.first_child(id).is_some() {
            self.budget.begin_work();
        }
        let child = self.add_child(id, node, slot);
        match order {
            Order::Sequential => Step::Next(child, Input::Enter),
            Order::AtOnce => Step::Later(1, child, Input::Enter),
        }
    }

    pub(super) fn end_branches(&mut self, id: FrameId) -> Stepped {
        let node = self.frames.get(id).node;
        let is_root = self.frames.parent(id).is_none();
        let State::Branches(branches) = &mut self.frames.get_mut(id).state else { return Ok(Step::Wait) };
        let does_collect = branches.does_collect;
        let results = std::mem::take(&mut branches.results).into_iter().flatten();
        if does_collect {
            let outcomes = Answer::Branches(results.map(outcome).collect());
            if is_root {
                return Ok(Step::Done(Box::new(Ok(outcomes))));
            }
            let datum = Datum::new(outcomes.into_value()).map_err(|TooDeep| self.too_deep(node))?;
            return Ok(self.finish(id, datum));
        }
        // Only what is collected fails here.
        let mut values: Vec<Datum> = results.filter_map(Result::ok).collect();
        let datum = match values.len() {
            1 => values.pop().unwrap_or(Datum::Null),
            _ => Datum::list(values).map_err(|TooDeep| self.too_deep(node))?,
        };
        Ok(self.finish(id, datum))
    }
}

fn outcome(result: Result<Datum, Failure>) -> BranchOutcome {
    match result {
        Ok(datum) => BranchOutcome::Success(datum.into_value()),
        Err(Failure { kind, message }) => BranchOutcome::Failure { kind, message },
    }
}
