//! What evaluations may use, and what happens when tools fail.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use proptest::collection::btree_set;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use windtunnel_core::evaluator::{ErrorKind, ExecutionLimits, ExecutionPolicy, ParallelFailures, RetryPolicy};

use crate::cases::ProgramTool;

fn up_to(most: u64) -> impl Strategy<Value = NonZeroU64> + Clone {
    (1..=most).prop_map(|limit| NonZeroU64::new(limit).unwrap_or(NonZeroU64::MIN))
}

/// Limits around what small programs use, each of them rarely: of 100 at least 15 have none, 28 have several, 20 limit
/// concurrency, 15 each time and depth of calls, 10 calls of tools, and 5 each nodes and depth.
pub fn program_limits() -> impl Strategy<Value = ExecutionLimits> + Clone {
    let timeouts =
        prop_oneof![(0_u64..=6).prop_map(Duration::from_millis), (0_u64..2_000_000_000).prop_map(Duration::from_nanos)];
    (
        weighted(0.12, up_to(24)),
        weighted(0.1, up_to(5)),
        weighted(0.2, up_to(3)),
        weighted(0.15, up_to(4)),
        weighted(0.3, up_to(3)),
        weighted(0.25, timeouts),
    )
        .prop_map(|(max_nodes, max_depth, max_call_depth, max_tool_calls, max_concurrency, timeout)| {
            ExecutionLimits {
                max_nodes,
                max_depth,
                max_call_depth,
                max_tool_calls,
                max_concurrency,
                max_bytes: None,
                timeout,
            }
        })
}

/// Up to three more attempts of some of the tools, at once or after a wait; one time in five for other kinds of failure. Of 100
/// at least 70 try again, 40 at once, 55 with all tools, and 10 for other kinds than by default.
pub fn retry_policies() -> impl Strategy<Value = RetryPolicy> + Clone {
    let all = ProgramTool::ALL.map(|tool| tool.name().to_owned());
    let some = btree_set(select(all.to_vec()), 0..=10);
    let idempotent_tools = prop_oneof![2 => Just(all.into()), 1 => some];
    let kinds = btree_set(select(&ErrorKind::ALL[..]), 0..=4);
    let attempts = prop_oneof![1 => Just(1_u32), 3 => 2_u32..=4];
    let delays = prop_oneof![Just(Duration::ZERO), (1_u64..2_000_000).prop_map(Duration::from_nanos)];
    (attempts, delays, idempotent_tools, weighted(0.2, kinds)).prop_map(
        |(max_attempts, delay, idempotent_tools, retryable)| RetryPolicy {
            max_attempts: NonZeroU32::new(max_attempts).unwrap_or(NonZeroU32::MIN),
            delay,
            idempotent_tools,
            retryable: retryable.unwrap_or(RetryPolicy::default().retryable),
        },
    )
}

/// Any policy. One in four collects failures.
pub fn program_policies() -> impl Strategy<Value = ExecutionPolicy> + Clone {
    let failures = prop_oneof![3 => Just(ParallelFailures::Raise), 1 => Just(ParallelFailures::Collect)];
    (retry_policies(), failures).prop_map(|(retry, parallel_failures)| ExecutionPolicy { retry, parallel_failures })
}
