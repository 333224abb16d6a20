//! What is over is given back, however it ended.

use std::time::Duration;

use proptest::prelude::*;

use super::at_once::AT_ONCE;
use super::tried::{Seen, demand, drawn};
use crate::suites::limit::trials::ms;
use crate::suites::{CallPlan, LimitFeature, LimitPolicy, LimitSubject, LimitTrial, PlayedLimit, Point, WorkEnding};

const WAITS: &[LimitFeature] = &[LimitFeature::AtOnce, LimitFeature::Waits];

/// By then everything is over.
const LATER: Duration = Duration::from_secs(60);

pub(super) fn points<S: LimitSubject>() -> Vec<Point<S>> {
    vec![
        drawn("released_by_value", "calls that end leave room for as many", AT_ONCE, values, fit_again),
        drawn("released_by_error", "calls that fail leave room for as many", AT_ONCE, errors, fit_again),
        drawn("released_by_panic", "calls that panic leave room for as many", AT_ONCE, panics, fit_again),
        drawn(
            "released_by_drop",
            "calls that are dropped while under way leave room for as many",
            AT_ONCE,
            drops,
            fit_again,
        ),
        drawn(
            "released_by_waiting",
            "calls that are dropped while they wait leave room for as many",
            WAITS,
            waiting,
            fit_again,
        ),
    ]
}

/// As many calls as fit or fewer, each ended by `plan`, and later as many as fit.
fn rounds(plan: fn(CallPlan) -> CallPlan) -> impl Strategy<Value = LimitTrial> {
    (1_u32..=4, 1_u32..=4, 1_u64..=20).prop_map(move |(at_once, first, half)| {
        let early = plan(CallPlan { takes: ms(half * 2 + 1), ..CallPlan::default() });
        later(at_once, vec![early; first.min(at_once) as usize])
    })
}

fn later(at_once: u32, mut calls: Vec<CallPlan>) -> LimitTrial {
    let late = CallPlan { at: LATER, takes: ms(5), ..CallPlan::default() };
    calls.extend(vec![late; at_once as usize]);
    LimitTrial { limits: LimitPolicy { at_once: Some(at_once), ..LimitPolicy::default() }, calls }
}

fn values() -> impl Strategy<Value = LimitTrial> {
    rounds(|call| call)
}

fn errors() -> impl Strategy<Value = LimitTrial> {
    rounds(|call| CallPlan { ending: WorkEnding::Error, ..call })
}

fn panics() -> impl Strategy<Value = LimitTrial> {
    rounds(|call| CallPlan { ending: WorkEnding::Panic, ..call })
}

fn drops() -> impl Strategy<Value = LimitTrial> {
    rounds(|call| CallPlan { cancel_after: Some(ms(2)), ..call })
}

/// All places are taken, and those who wait give up before one is free.
fn waiting() -> impl Strategy<Value = LimitTrial> {
    (1_u32..=4, 1_usize..=4).prop_map(|(at_once, waiting)| {
        let holding = CallPlan { takes: ms(21), ..CallPlan::default() };
        let giving_up = CallPlan { cancel_after: Some(ms(10)), ..holding };
        let mut calls = vec![holding; at_once as usize];
        calls.extend(vec![giving_up; waiting]);
        later(at_once, calls)
    })
}

fn fit_again(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let late = trial.calls.iter().zip(&played.calls).filter(|(plan, _)| plan.at == LATER);
    let left_out = late.filter(|(plan, call)| call.began != Some(plan.at)).count();
    demand(left_out == 0, || format!("all calls at {LATER:?} should begin at once, {left_out} did not"))
}
