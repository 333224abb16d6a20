//! What one evaluation has used, held against its limits (V6). A pure type: it knows no clock and no future.

use std::fmt;
use std::num::NonZeroU64;

use serde_json::{Value, json};

use super::limits::{ExecutionLimits, LimitExceeded, Resource};
use crate::canary::{Weakness, is_weakened};

/// What an evaluation used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consumption {
    /// Evaluations of nodes, and those that a limit refused.
    pub nodes: u64,
    /// Attempts of tools, and those that a limit refused.
    pub tool_calls: u64,
    /// Bytes of values that were copied, about, and those that a limit refused.
    pub bytes: u64,
    /// The greatest depth in the program that was evaluated.
    pub peak_depth: u64,
    /// The most user functions active at once, one in the other.
    pub peak_call_depth: u64,
    /// The most operations at work at once. One that waits for the operations inside it is not at work, one that waits for
    /// another's memo is, and a plain value among parameters is no work of its own.
    pub peak_concurrency: u64,
}

impl Consumption {
    /// An object with a member for each count.
    pub fn to_json(&self) -> Value {
        let Self { nodes, tool_calls, bytes, peak_depth, peak_call_depth, peak_concurrency } = self;
        json!({
            "nodes": nodes,
            "tool_calls": tool_calls,
            "bytes": bytes,
            "peak_depth": peak_depth,
            "peak_call_depth": peak_call_depth,
            "peak_concurrency": peak_concurrency,
        })
    }
}

/// On one line, for people.
impl fmt::Display for Consumption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, tool_calls, bytes: _, peak_depth, peak_call_depth, peak_concurrency } = self;
        write!(
            formatter,
            "{nodes} nodes, {tool_calls} tool calls, depth {peak_depth}, call depth {peak_call_depth}, \
             {peak_concurrency} at once"
        )
    }
}

/// Counts what one evaluation uses, and refuses what would cross a limit.
///
/// ```
/// use std::num::NonZeroU64;
/// use windtunnel_core::evaluator::{Budget, ExecutionLimits};
///
/// let mut budget = Budget::new(ExecutionLimits { max_tool_calls: NonZeroU64::new(1), ..ExecutionLimits::default() });
/// assert!(budget.use_tool_call().is_ok());
/// assert_eq!(budget.use_tool_call().unwrap_err().to_string(), "the limit of 1 tool_calls is crossed");
/// assert_eq!(budget.consumption().tool_calls, 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Budget {
    limits: ExecutionLimits,
    consumption: Consumption,
    at_work: u64,
}

impl Budget {
    /// A fresh budget.
    pub fn new(limits: ExecutionLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The limits.
    pub fn limits(&self) -> &ExecutionLimits {
        &self.limits
    }

    /// What was used so far.
    pub fn consumption(&self) -> Consumption {
        self.consumption
    }

    /// One evaluation of a node at `depth`, from 1.
    ///
    /// # Errors
    /// [`LimitExceeded`] for `nodes`, else for `depth`.
    pub fn use_node(&mut self, depth: u64) -> Result<(), LimitExceeded> {
        self.consumption.nodes += 1;
        check(Resource::Nodes, self.consumption.nodes, self.limits.max_nodes)?;
        check(Resource::Depth, depth, self.limits.max_depth)?;
        self.consumption.peak_depth = self.consumption.peak_depth.max(depth);
        Ok(())
    }

    /// Whether so many evaluations of nodes at `depth` would be within the limits.
    pub(super) fn has_room_for(&self, nodes: u64, depth: u64) -> bool {
        check(Resource::Nodes, self.consumption.nodes + nodes, self.limits.max_nodes).is_ok()
            && check(Resource::Depth, depth, self.limits.max_depth).is_ok()
    }

    /// A call of a user function, with which `depth` of them are active.
    ///
    /// # Errors
    /// [`LimitExceeded`] for `call_depth`.
    pub fn use_call_depth(&mut self, depth: u64) -> Result<(), LimitExceeded> {
        check(Resource::CallDepth, depth, self.limits.max_call_depth)?;
        self.consumption.peak_call_depth = self.consumption.peak_call_depth.max(depth);
        Ok(())
    }

    /// One attempt of a tool, about to start.
    ///
    /// # Errors
    /// [`LimitExceeded`] for `tool_calls`.
    pub fn use_tool_call(&mut self) -> Result<(), LimitExceeded> {
        self.consumption.tool_calls += 1;
        let calls = self.consumption.tool_calls - u64::from(is_weakened(Weakness::ToolCallsOneMore));
        check(Resource::ToolCalls, calls, self.limits.max_tool_calls)
    }

    /// A copy of so many bytes, about to be made.
    ///
    /// # Errors
    /// [`LimitExceeded`] for `bytes`.
    pub fn use_bytes(&mut self, bytes: u64) -> Result<(), LimitExceeded> {
        self.consumption.bytes = self.consumption.bytes.saturating_add(bytes);
        check(Resource::Bytes, self.consumption.bytes, self.limits.max_bytes)
    }

    /// An operation begins to work.
    pub fn begin_work(&mut self) {
        self.at_work += 1;
        self.consumption.peak_concurrency = self.consumption.peak_concurrency.max(self.at_work);
    }

    /// An operation is done, or waits for those inside it.
    pub fn end_work(&mut self) {
        self.at_work = self.at_work.saturating_sub(1);
    }
}

fn check(resource: Resource, used: u64, limit: Option<NonZeroU64>) -> Result<(), LimitExceeded> {
    match limit {
        Some(limit) if used > limit.get() => Err(LimitExceeded::count(resource, limit)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max: u64) -> ExecutionLimits {
        let max = NonZeroU64::new(max);
        ExecutionLimits {
            max_nodes: max,
            max_depth: max,
            max_call_depth: max,
            max_tool_calls: max,
            ..ExecutionLimits::default()
        }
    }

    #[test]
    fn maxima_are_inclusive() {
        // V6
        let mut budget = Budget::new(limits(2));
        assert_eq!((budget.use_node(1), budget.use_node(2)), (Ok(()), Ok(())));
        assert_eq!(budget.use_node(1).unwrap_err().resource, Resource::Nodes);
        assert_eq!(budget.use_call_depth(2), Ok(()));
        assert_eq!(budget.use_call_depth(3).unwrap_err().resource, Resource::CallDepth);
        assert_eq!((budget.use_tool_call(), budget.use_tool_call()), (Ok(()), Ok(())));
        assert_eq!(budget.use_tool_call().unwrap_err().resource, Resource::ToolCalls);
        let mut budget = Budget::new(limits(2));
        assert_eq!(budget.use_node(3).unwrap_err().resource, Resource::Depth);
    }

    #[test]
    fn what_is_refused_counts_and_is_no_peak() {
        let mut budget = Budget::new(limits(1));
        let _refused = (budget.use_node(2), budget.use_node(1), budget.use_call_depth(2), budget.use_tool_call());
        let expected = Consumption { nodes: 2, tool_calls: 1, ..Consumption::default() };
        assert_eq!(budget.consumption(), expected);
    }

    #[test]
    fn the_peak_of_concurrency_is_what_was_at_work_at_once() {
        let mut budget = Budget::default();
        budget.begin_work();
        budget.begin_work();
        budget.end_work();
        budget.begin_work();
        assert_eq!(budget.consumption().peak_concurrency, 2);
    }
}
