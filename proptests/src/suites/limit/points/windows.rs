//! How many calls there are in each window.

use std::time::Duration;

use proptest::prelude::*;

use super::tried::{Seen, demand, drawn};
use crate::suites::limit::trials::{ms, overlapping, trials, windows};
use crate::suites::{CallPlan, LimitFeature, LimitPolicy, LimitSubject, LimitTrial, PlayedLimit, Point};

const WINDOW: &[LimitFeature] = &[LimitFeature::Window];

pub(super) fn points<S: LimitSubject>() -> Vec<Point<S>> {
    vec![
        drawn("window_max", "no more than `calls_max` calls are let in in one window", WINDOW, any_calls, within),
        drawn(
            "window_exact",
            "in each window the first `calls_max` calls are let in, and no other",
            WINDOW,
            any_calls,
            exact,
        ),
        drawn(
            "window_edge",
            "the last instant of a window belongs to it, and its end to the next",
            WINDOW,
            at_edges,
            exact,
        ),
    ]
}

fn any_calls() -> impl Strategy<Value = LimitTrial> {
    trials(overlapping(0), windows())
}

/// A full window, a call in its last millisecond, and as many as fit at its end.
fn at_edges() -> impl Strategy<Value = LimitTrial> {
    (1_u64..=4, 2_u64..=40).prop_map(|(calls_max, length)| {
        let call = |at| CallPlan { at, ..CallPlan::default() };
        let mut calls = vec![call(Duration::ZERO); calls_max as usize];
        calls.push(call(ms(length - 1)));
        calls.extend(vec![call(ms(length)); calls_max as usize + 1]);
        let limits = LimitPolicy { calls_max: Some(calls_max), window: Some(ms(length)), ..LimitPolicy::default() };
        LimitTrial { limits, calls }
    })
}

fn window_of(trial: &LimitTrial, at: Duration) -> u128 {
    at.as_nanos() / trial.limits.window.map_or(u128::MAX, |window| window.as_nanos().max(1))
}

fn within(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let limit = trial.limits.calls_max.unwrap_or(u64::MAX);
    let begun: Vec<u128> = played.calls.iter().filter_map(|call| call.began).map(|at| window_of(trial, at)).collect();
    let counted = |window: &u128| begun.iter().filter(|other| *other == window).count() as u64;
    let over = begun.iter().find(|window| counted(window) > limit);
    demand(over.is_none(), || {
        let window = over.copied().unwrap_or_default();
        format!("calls allowed in window {window}: {limit}, let in: {}", counted(&window))
    })
}

fn exact(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let limit = trial.limits.calls_max.unwrap_or(u64::MAX);
    let (mut window, mut let_in) = (0, 0);
    for (number, (plan, call)) in (1..).zip(trial.calls.iter().zip(&played.calls)) {
        if window_of(trial, plan.at) > window {
            (window, let_in) = (window_of(trial, plan.at), 0);
        }
        let fits = let_in < limit;
        demand(call.began.is_some() == fits, || {
            let verb = if fits { "be let in" } else { "be refused" };
            format!("call {number} should {verb}, after {let_in} of {limit} in window {window}")
        })?;
        let_in += u64::from(fits);
    }
    Ok(())
}
