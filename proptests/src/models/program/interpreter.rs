//! What both versions share: counting, time, and doing things at once.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::evaluator::{ErrorKind, Mode, ParallelFailures, Resource};

use super::memo::Memos;
use super::{BranchEnd, PredictedCall, ProgramEnd, ProgramFailure, ProgramPrediction};
use crate::cases::{Keying, ProgramCase, ProgramTool};

/// Longer evaluations are not played.
const NODES_MAX: u64 = 5_000;

/// Why an evaluation goes no further.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    Failed(ProgramFailure),
    /// Time is over for all of it.
    Deadline,
    Interrupted,
    TooLong,
}

/// Walks through one program, recursively and in order. What runs at once is walked through one after the other, each
/// from the same instant.
pub(super) struct Interpreter<'c> {
    pub(super) case: &'c ProgramCase,
    pub(super) now: Duration,
    nodes: u64,
    pub(super) tool_calls: u64,
    peak_depth: u64,
    pub(super) peak_call_depth: u64,
    pub(super) calls: Vec<PredictedCall>,
    pub(super) calls_by_tool: BTreeMap<ProgramTool, u64>,
    pub(super) memos: Memos,
    /// In how many places around there are siblings that run at once.
    pub(super) forks: usize,
    pub(super) is_certain: bool,
    pub(super) is_ordered: bool,
}

impl<'c> Interpreter<'c> {
    pub(super) fn new(case: &'c ProgramCase) -> Self {
        Self {
            case,
            now: Duration::ZERO,
            nodes: 0,
            tool_calls: 0,
            peak_depth: 0,
            peak_call_depth: 0,
            calls: Vec::new(),
            calls_by_tool: BTreeMap::new(),
            memos: Memos::default(),
            forks: 0,
            is_certain: true,
            is_ordered: true,
        }
    }

    pub(super) fn into_prediction(self) -> ProgramPrediction {
        ProgramPrediction {
            end: ProgramEnd::Interrupted,
            nodes: self.nodes,
            tool_calls: self.tool_calls,
            peak_depth: self.peak_depth,
            peak_call_depth: self.peak_call_depth,
            calls: self.calls,
            elapsed: self.now,
            is_certain: self.is_certain,
            is_ordered: self.is_ordered,
        }
    }

    /// One evaluation of a node.
    pub(super) fn count_node(&mut self, depth: u64) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(Stop::TooLong);
        }
        let limits = self.case.limits;
        self.hold(Resource::Nodes, self.nodes, limits.max_nodes)?;
        self.hold(Resource::Depth, depth, limits.max_depth)?;
        self.peak_depth = self.peak_depth.max(depth);
        Ok(())
    }

    pub(super) fn hold(&mut self, resource: Resource, used: u64, limit: Option<NonZeroU64>) -> Result<(), Stop> {
        if limit.is_none_or(|limit| used <= limit.get()) {
            return Ok(());
        }
        // Siblings use the same budget.
        self.is_certain &= self.forks == 0;
        Err(Stop::Failed(ProgramFailure::limit(resource)))
    }

    pub(super) fn fail<T>(&self, kind: ErrorKind) -> Result<T, Stop> {
        Err(Stop::Failed(ProgramFailure::of_kind(kind)))
    }

    /// Lets time pass. What is done at the very end of it counts.
    pub(super) fn pass(&mut self, duration: Duration) -> Result<(), Stop> {
        let then = self.now + duration;
        match self.case.limits.timeout {
            Some(timeout) if then > timeout => {
                self.is_certain &= self.forks == 0;
                self.now = self.now.max(timeout);
                Err(Stop::Deadline)
            }
            _ => {
                self.now = then;
                Ok(())
            }
        }
    }

    pub(super) fn does_collect(&self) -> bool {
        self.case.policy.parallel_failures == ParallelFailures::Collect
    }

    /// Whether everything inside an expression of the body runs one after another.
    pub(super) fn is_sequential(&self) -> bool {
        self.case.limits.max_concurrency.is_some()
    }

    /// Evaluates parts at once, at most `permits` of them.
    pub(super) fn at_once<T>(
        &mut self,
        count: usize,
        permits: usize,
        mut part: impl FnMut(&mut Self, usize) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let is_fork = permits.min(count) > 1;
        self.forks += usize::from(is_fork);
        if is_fork && self.case.tools.keying == Keying::Calls && !self.case.tools.scripts.is_empty() {
            self.is_certain = false;
        }
        let mut free = vec![self.now; permits.min(count)];
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let earliest = (0..free.len()).min_by_key(|permit| free[*permit]).unwrap_or(0);
            self.now = free[earliest];
            match part(self, index) {
                Ok(value) => values.push(value),
                Err(stop) => {
                    // What the others have done by then depends on their turns. After a failure the next begins before
                    // anybody hears of it.
                    let begun_max = if matches!(stop, Stop::Failed(_)) { count } else { permits.min(count) };
                    self.is_certain &= begun_max <= 1;
                    self.forks -= usize::from(is_fork);
                    return Err(stop);
                }
            }
            free[earliest] = self.now;
        }
        self.forks -= usize::from(is_fork);
        self.now = free.into_iter().max().unwrap_or(self.now);
        Ok(values)
    }

    /// The expressions of a program's body.
    pub(super) fn branches(
        &mut self,
        count: usize,
        mode: Mode,
        is_outermost: bool,
        mut branch: impl FnMut(&mut Self, usize) -> Result<Value, Stop>,
    ) -> Result<ProgramEnd, Stop> {
        if self.does_collect() && mode == Mode::Single {
            return self.fail(ErrorKind::InvalidPolicy);
        }
        let permits = match self.case.limits.max_concurrency {
            None => count,
            Some(_) if !is_outermost => 1,
            Some(limit) => usize::try_from(limit.get()).unwrap_or(usize::MAX),
        };
        if !self.does_collect() {
            // One after another inside an expression, a failure is certain: nothing else has begun.
            let is_inside = self.is_sequential() && !is_outermost;
            let mut values = match is_inside {
                true => (0..count).map(|index| branch(self, index)).collect::<Result<Vec<_>, _>>()?,
                false => self.at_once(count, permits, branch)?,
            };
            return Ok(ProgramEnd::Value(if count == 1 { values.remove(0) } else { Value::Array(values) }));
        }
        let ends = self.at_once(count, permits, |this, index| match branch(this, index) {
            Ok(value) => Ok(BranchEnd::Value(value)),
            Err(Stop::Failed(failure)) => Ok(BranchEnd::Failed(failure.kind)),
            Err(stop) => Err(stop),
        })?;
        Ok(ProgramEnd::Branches(ends))
    }
}

/// What a program inside a program comes to.
pub(super) fn into_value(end: ProgramEnd) -> Value {
    match end {
        ProgramEnd::Value(value) => value,
        ProgramEnd::Branches(branches) => branches
            .into_iter()
            .map(|branch| match branch {
                BranchEnd::Value(value) => json!({"success": true, "value": value}),
                BranchEnd::Failed(kind) => json!({"success": false, "error": kind.as_str()}),
            })
            .collect(),
        ProgramEnd::Failed(_) | ProgramEnd::Interrupted => Value::Null,
    }
}

/// What conditionals and filters take for true (V4).
pub(super) fn is_true(value: &Value) -> bool {
    let is_false = match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
    };
    !is_false
}
