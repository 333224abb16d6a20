//! What happens when tools fail: retries (V7) and parallel failures (V8).

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use super::error::ErrorKind;

/// When a failed tool is tried again (V7). The default is never.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
/// use windtunnel_core::evaluator::RetryPolicy;
///
/// let retry = RetryPolicy {
///     max_attempts: NonZeroU32::new(3).unwrap(),
///     delay: Duration::from_millis(100),
///     idempotent_tools: ["exchange_rate".to_owned()].into(),
///     ..RetryPolicy::default()
/// };
/// assert!(retry.covers("exchange_rate") && !retry.covers("pay"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many attempts one call may make. Default 1.
    pub max_attempts: NonZeroU32,
    /// The wait before each further attempt. Default none.
    pub delay: Duration,
    /// The tools that may be tried again: repeating one of their calls has the same effect outside. Default none.
    pub idempotent_tools: BTreeSet<String>,
    /// The kinds of error that may be tried again. Default `tool-execution` and `timeout`. A `replay-mismatch` never is.
    pub retryable: BTreeSet<ErrorKind>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: NonZeroU32::MIN,
            delay: Duration::ZERO,
            idempotent_tools: BTreeSet::new(),
            retryable: [ErrorKind::ToolExecution, ErrorKind::Timeout].into(),
        }
    }
}

impl RetryPolicy {
    /// Whether calls of `tool` may make more than one attempt.
    pub fn covers(&self, tool: &str) -> bool {
        self.max_attempts > NonZeroU32::MIN && self.idempotent_tools.contains(tool)
    }

    /// Whether attempt `attempt` (from 1) of `tool`, which failed by `kind`, is followed by another.
    pub fn retries(&self, tool: &str, attempt: u32, kind: ErrorKind) -> bool {
        attempt < self.max_attempts.get()
            && kind != ErrorKind::ReplayMismatch
            && self.retryable.contains(&kind)
            && self.idempotent_tools.contains(tool)
    }
}

/// What the failure of one expression of a parallel program does to the others (V8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParallelFailures {
    /// It cancels them, and the evaluation fails.
    #[default]
    Raise,
    /// Nothing: each has its own [`BranchOutcome`](super::BranchOutcome). Only for programs of mode `parallel`.
    Collect,
}

/// What happens when tools fail. The default makes one attempt and fails with the first failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionPolicy {
    /// When a failed tool is tried again.
    pub retry: RetryPolicy,
    /// What the failure of one expression of a parallel program does to the others.
    pub parallel_failures: ParallelFailures,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_attempts_of_fetch() -> RetryPolicy {
        RetryPolicy {
            max_attempts: NonZeroU32::new(3).unwrap(),
            idempotent_tools: ["fetch".to_owned()].into(),
            ..RetryPolicy::default()
        }
    }

    #[test]
    fn only_transient_failures_of_idempotent_tools_are_retried() {
        // V7
        let retry = three_attempts_of_fetch();
        for kind in [ErrorKind::ToolExecution, ErrorKind::Timeout] {
            assert!(retry.retries("fetch", 1, kind) && retry.retries("fetch", 2, kind));
            assert!(!retry.retries("fetch", 3, kind), "no attempt is left");
            assert!(!retry.retries("pay", 1, kind), "it is not idempotent");
            assert!(!RetryPolicy::default().retries("fetch", 1, kind));
        }
        for kind in [ErrorKind::Unclassified, ErrorKind::ToolNotFound, ErrorKind::ReplayMismatch] {
            assert!(!retry.retries("fetch", 1, kind));
        }
    }

    #[test]
    fn the_retryable_kinds_can_be_replaced_except_for_a_mismatch() {
        // V7, R1
        let retryable = [ErrorKind::Unclassified, ErrorKind::ReplayMismatch].into();
        let retry = RetryPolicy { retryable, ..three_attempts_of_fetch() };
        assert!(retry.retries("fetch", 1, ErrorKind::Unclassified));
        assert!(!retry.retries("fetch", 1, ErrorKind::Timeout));
        assert!(!retry.retries("fetch", 1, ErrorKind::ReplayMismatch));
    }
}
