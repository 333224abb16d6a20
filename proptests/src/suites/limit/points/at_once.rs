//! How many calls are under way at once.

use std::time::Duration;

use proptest::prelude::*;

use super::tried::{Seen, demand, drawn};
use crate::suites::limit::trials::{at_once, overlapping, trials};
use crate::suites::{CallEnding, LimitFeature, LimitSubject, LimitTrial, PlayedLimit, Point};

pub(super) const AT_ONCE: &[LimitFeature] = &[LimitFeature::AtOnce];
const WAITS: &[LimitFeature] = &[LimitFeature::AtOnce, LimitFeature::Waits];

pub(super) fn points<S: LimitSubject>() -> Vec<Point<S>> {
    vec![
        drawn("at_once", "no more than `at_once` calls are under way", AT_ONCE, any_calls, within),
        drawn(
            "at_once_reached",
            "while fewer than `at_once` are under way, a call is let in at once",
            AT_ONCE,
            any_calls,
            reached,
        ),
        drawn(
            "waiting_served",
            "each call that waits has its turn, as soon as there is room",
            WAITS,
            any_calls,
            served,
        ),
        drawn(
            "waiting_in_order",
            "calls that wait have their turns in the order in which they came",
            WAITS,
            any_calls,
            in_order,
        ),
    ]
}

fn any_calls() -> impl Strategy<Value = LimitTrial> {
    trials(overlapping(0), at_once())
}

fn limit(trial: &LimitTrial) -> usize {
    trial.limits.at_once.map_or(usize::MAX, |limit| limit as usize)
}

fn within(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    for began in played.calls.iter().filter_map(|call| call.began) {
        let under_way = played.under_way(began);
        demand(under_way <= limit(trial), || {
            format!("at {began:?} there were {under_way} under way, of {} allowed", limit(trial))
        })?;
    }
    Ok(())
}

/// How many calls were under way, or had been made and were waiting, when this one was made.
fn before(trial: &LimitTrial, played: &PlayedLimit, index: usize) -> usize {
    let at = trial.calls[index].at;
    let is_there = |other: &usize| {
        let (plan, call) = (&trial.calls[*other], &played.calls[*other]);
        let is_gone = match (call.began, call.ended) {
            (Some(_), Some(ended)) => ended <= at,
            (Some(_), None) => false,
            (None, _) => call.ending == CallEnding::Refused || gave_up(plan.cancel_after, plan.at) <= at,
        };
        !is_gone
    };
    (0..index).filter(is_there).count()
}

fn gave_up(cancel_after: Option<Duration>, at: Duration) -> Duration {
    cancel_after.map_or(Duration::MAX, |after| at + after)
}

pub(super) fn reached(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    for (index, (plan, call)) in trial.calls.iter().zip(&played.calls).enumerate() {
        let is_free = before(trial, played, index) < limit(trial);
        demand(!is_free || call.began == Some(plan.at), || {
            format!("call {} should begin at {:?}, since there was room", index + 1, plan.at)
        })?;
    }
    Ok(())
}

fn served(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let ends: Vec<Duration> = played.calls.iter().filter_map(|call| call.ended).collect();
    for (number, (plan, call)) in (1..).zip(trial.calls.iter().zip(&played.calls)) {
        let is_cancelled = call.ending == CallEnding::Cancelled;
        demand(call.began.is_some() || is_cancelled, || format!("call {number} should have its turn"))?;
        let Some(began) = call.began else { continue };
        // It was let in when it came, or when another was over.
        let is_prompt = began == plan.at || ends.contains(&began);
        demand(is_prompt, || format!("call {number} should have its turn when another one ends, not at {began:?}"))?;
        let idle = ends.iter().find(|end| **end > plan.at && **end < began && played.under_way(**end) < limit(trial));
        demand(idle.is_none(), || {
            format!("call {number} should have its turn at {:?}", idle.copied().unwrap_or_default())
        })?;
    }
    Ok(())
}

fn in_order(_: &LimitTrial, played: &PlayedLimit) -> Seen {
    let begun: Vec<Duration> = played.calls.iter().filter_map(|call| call.began).collect();
    demand(begun.is_sorted(), || "whoever came first should begin first".to_owned())
}
