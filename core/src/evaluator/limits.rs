//! How much an evaluation may use (V6).

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use serde_json::Number;

/// Inclusive maxima for one evaluation. The default is no limit at all.
///
/// ```
/// use std::num::NonZeroU64;
/// use std::time::Duration;
/// use windtunnel_core::evaluator::ExecutionLimits;
///
/// let limits = ExecutionLimits {
///     max_tool_calls: NonZeroU64::new(20),
///     timeout: Some(Duration::from_secs(30)),
///     ..ExecutionLimits::default()
/// };
/// assert_eq!(limits.max_nodes, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// Evaluations of a node: a lambda's or a function's body counts each time.
    pub max_nodes: Option<NonZeroU64>,
    /// How deep a node stands in the program, from 1. The body of a version 2 function is at depth 2 in every call.
    pub max_depth: Option<NonZeroU64>,
    /// Calls of user functions that are active at once, one in the other.
    pub max_call_depth: Option<NonZeroU64>,
    /// Attempts that are asked of the provider. What an [`Executor`](crate::executor::Executor) retries underneath is not
    /// seen here: the attempts of a program and those of its tools multiply.
    pub max_tool_calls: Option<NonZeroU64>,
    /// Expressions of the program's body that are evaluated at once. With this limit, however high, everything inside one
    /// of them runs one after another, which can make a program slower than without it.
    pub max_concurrency: Option<NonZeroU64>,
    /// Bytes of values that are copied into lists and arguments, about: a program can name one large value many times.
    pub max_bytes: Option<NonZeroU64>,
    /// How long the whole evaluation may take on the environment's clock. What is done at the very end of it counts.
    pub timeout: Option<Duration>,
}

/// What an evaluation uses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Evaluations of nodes.
    Nodes,
    /// Depth in the program.
    Depth,
    /// Active calls of user functions.
    CallDepth,
    /// Attempts of tools.
    ToolCalls,
    /// Copied bytes.
    Bytes,
    /// Time.
    WallClockSeconds,
}

impl Resource {
    /// The snake-case name, such as `tool_calls`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Depth => "depth",
            Self::CallDepth => "call_depth",
            Self::ToolCalls => "tool_calls",
            Self::Bytes => "bytes",
            Self::WallClockSeconds => "wall_clock_seconds",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A limit was crossed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the limit of {limit} {resource} is crossed")]
pub struct LimitExceeded {
    /// What ran out.
    pub resource: Resource,
    /// How much of it was allowed; seconds for time.
    pub limit: Number,
}

impl LimitExceeded {
    pub(super) fn count(resource: Resource, limit: NonZeroU64) -> Self {
        Self { resource, limit: limit.get().into() }
    }

    pub(super) fn timeout(limit: Duration) -> Self {
        // A duration is finite, so this is always a JSON number.
        let limit = Number::from_f64(limit.as_secs_f64()).unwrap_or_else(|| 0.into());
        Self { resource: Resource::WallClockSeconds, limit }
    }
}
