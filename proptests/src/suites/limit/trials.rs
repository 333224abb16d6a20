//! Trials for the points. Calls are made at multiples of 64 ms; works take a little more than such a multiple, and calls are
//! dropped between two: so nothing ends in the very instant in which a call is made.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{CallPlan, LimitPolicy, LimitTrial, WorkEnding};

pub(super) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

const STEP_MS: u64 = 64;

fn starts() -> impl Strategy<Value = Duration> + Clone {
    prop_oneof![1 => Just(0_u64), 2 => 0_u64..12].prop_map(|number| ms(number * STEP_MS))
}

fn lengths() -> impl Strategy<Value = Duration> + Clone {
    (0_u64..5).prop_map(|number| ms(number * STEP_MS + 1))
}

fn drops() -> impl Strategy<Value = Duration> + Clone {
    (0_u64..5).prop_map(|number| ms(number * STEP_MS + STEP_MS / 2))
}

/// Works mostly end with a value.
fn endings() -> impl Strategy<Value = WorkEnding> + Clone {
    prop_oneof![6 => Just(WorkEnding::Value), 1 => Just(WorkEnding::Error), 1 => Just(WorkEnding::Panic)]
}

/// Calls that overlap, of any cost up to `cost_max`, in the order in which they are made.
pub(super) fn overlapping(cost_max: u64) -> impl Strategy<Value = Vec<CallPlan>> + Clone {
    let call = (starts(), lengths(), 0..=cost_max, endings(), prop::option::weighted(0.15, drops()))
        .prop_map(|(at, takes, cost, ending, cancel_after)| CallPlan { at, takes, cost, ending, cancel_after });
    vec(call, 1..=16).prop_map(in_order)
}

fn in_order(mut calls: Vec<CallPlan>) -> Vec<CallPlan> {
    calls.sort_by_key(|call| call.at);
    calls
}

/// Calls of which each ends before the next one is made. None of them is dropped.
pub(super) fn sequential(cost_max: u64) -> impl Strategy<Value = Vec<CallPlan>> + Clone {
    let call = (lengths(), 0..=cost_max, 1_u64..5);
    vec(call, 1..=16).prop_map(|calls| {
        let mut at = Duration::ZERO;
        let plan = |(takes, cost, pause): (Duration, u64, u64)| {
            let call = CallPlan { at, takes, cost, ..CallPlan::default() };
            at += takes + ms(pause * STEP_MS - 1);
            call
        };
        calls.into_iter().map(plan).collect()
    })
}

/// The calls under these limits.
pub(super) fn trials<C, L>(calls: C, limits: L) -> impl Strategy<Value = LimitTrial> + use<C, L>
where
    C: Strategy<Value = Vec<CallPlan>>,
    L: Strategy<Value = LimitPolicy>,
{
    // The limits first, so that they are made small first.
    (limits, calls).prop_map(|(limits, calls)| LimitTrial { limits, calls })
}

pub(super) fn calls_max() -> impl Strategy<Value = LimitPolicy> {
    (1_u64..=10).prop_map(|calls_max| LimitPolicy { calls_max: Some(calls_max), ..LimitPolicy::default() })
}

pub(super) fn at_once() -> impl Strategy<Value = LimitPolicy> {
    (1_u32..=4).prop_map(|at_once| LimitPolicy { at_once: Some(at_once), ..LimitPolicy::default() })
}

/// Costs go up to [`COST_OF_A_CALL_MAX`].
pub(super) fn cost_max() -> impl Strategy<Value = LimitPolicy> {
    (1_u64..=40).prop_map(|cost_max| LimitPolicy { cost_max: Some(cost_max), ..LimitPolicy::default() })
}

pub(super) const COST_OF_A_CALL_MAX: u64 = 12;

pub(super) fn windows() -> impl Strategy<Value = LimitPolicy> {
    (1_u64..=4, 1_u64..=200).prop_map(|(calls_max, length)| LimitPolicy {
        calls_max: Some(calls_max),
        window: Some(ms(length)),
        ..LimitPolicy::default()
    })
}
