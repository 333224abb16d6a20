//! The expressions of a program's body (V8).

use std::collections::VecDeque;

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
    order: Order,
    /// How many more may be evaluated at once.
    permits: u64,
    /// Those that wait for a permit, in order.
    queue: VecDeque<FrameId>,
    /// How many are evaluated.
    at_work: u32,
    /// How many of them are over.
    over: u32,
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
        let (order, permits) = match self.budget.limits().max_concurrency {
            None => (Order::AtOnce, u64::MAX),
            Some(_) if self.frames.parent(id).is_some() => (Order::Sequential, 1),
            Some(limit) => (Order::AtOnce, limit.get()),
        };
        let results = (0..body.count).map(|_| None).collect();
        let queue = VecDeque::new();
        let branches =
            Branches { body, order, permits, queue, at_work: 0, over: 0, does_collect, is_failing: false, results };
        self.frames.get_mut(id).state = State::Branches(Box::new(branches));
        match (order, body.count) {
            (_, 0) => self.end_branches(id),
            (Order::Sequential, _) => Ok(Step::Next(self.add_child(id, body.get(0), 0), Input::Enter)),
            (Order::AtOnce, _) => {
                self.fork(id, Self::parts_of(body), true);
                Ok(Step::Wait)
            }
        }
    }

    /// An expression's first turn: it begins if there is a permit, and nobody waits for one before it.
    pub(super) fn admit(&mut self, id: FrameId) -> Step {
        let Some(State::Branches(branches)) = self.frames.parent(id).map(|body| &mut self.frames.get_mut(body).state)
        else {
            return Step::Wait;
        };
        if branches.permits == 0 || !branches.queue.is_empty() {
            branches.queue.push_back(id);
            return Step::Wait;
        }
        branches.permits -= 1;
        self.begin_branch(id)
    }

    /// It has its permit.
    pub(super) fn begin_branch(&mut self, id: FrameId) -> Step {
        let Some(State::Branches(branches)) = self.frames.parent(id).map(|body| &mut self.frames.get_mut(body).state)
        else {
            return Step::Wait;
        };
        // The first one works in the body's stead.
        if branches.at_work > 0 {
            self.budget.begin_work();
        }
        branches.at_work += 1;
        self.frames.get_mut(id).state = State::Entering;
        Step::Next(id, Input::Enter)
    }

    /// One expression is over.
    pub(super) fn take_branch(&mut self, id: FrameId, slot: u32, result: Result<Datum, Failure>) -> Step {
        let State::Branches(branches) = &mut self.frames.get_mut(id).state else { return Step::Wait };
        branches.results[slot as usize] = Some(result);
        branches.over += 1;
        let is_over = branches.over == branches.body.count;
        match branches.order {
            // Its own turn, so that its failure is its own.
            Order::Sequential if is_over => Step::Next(id, Input::Complete),
            Order::Sequential => {
                let (slot, node) = (branches.over, branches.body.get(branches.over));
                Step::Next(self.add_child(id, node, slot), Input::Enter)
            }
            Order::AtOnce => {
                let is_failing = branches.is_failing;
                self.leave(id);
                if is_over && !is_failing { Step::Later(ROUNDS_TO_HEAR, id, Input::Complete) } else { Step::Wait }
            }
        }
    }

    /// An expression that was evaluated is over, or failed: the next takes its permit, even where the body will fail.
    pub(super) fn leave(&mut self, id: FrameId) {
        let State::Branches(branches) = &mut self.frames.get_mut(id).state else { return };
        branches.at_work -= 1;
        if branches.at_work > 0 {
            self.budget.end_work();
        }
        match branches.queue.pop_front() {
            Some(next) => self.schedule(1, next, Input::Admitted),
            None => branches.permits = branches.permits.saturating_add(1),
        }
    }

    pub(super) fn end_branches(&mut self, id: FrameId) -> Stepped {
        let node = self.frames.get(id).node;
        let is_root = self.frames.parent(id).is_none();
        let State::Branches(branches) = &mut self.frames.get_mut(id).state else { return Ok(Step::Wait) };
        let does_collect = branches.does_collect;
        let results: Vec<_> = std::mem::take(&mut branches.results).into_iter().flatten().collect();
        self.charge(results.iter().flatten())?;
        let results = results.into_iter();
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
