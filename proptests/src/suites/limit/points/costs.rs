//! How much calls cost.

use proptest::prelude::*;

use super::tried::{Seen, demand, drawn, needing};
use crate::Violation;
use crate::suites::limit::trials::{COST_OF_A_CALL_MAX, cost_max, ms, overlapping, sequential, trials};
use crate::suites::{CallPlan, LimitFeature, LimitPolicy, LimitSubject, LimitTrial, PlayedLimit, Point};

const COSTS: &[LimitFeature] = &[LimitFeature::CostMax];

pub(super) fn points<S: LimitSubject>() -> Vec<Point<S>> {
    let huge = Point::examples(
        "cost_huge",
        "the greatest costs there are neither panic nor wrap to small ones",
        |_: &S| vec![huge_costs()],
        |subject: &S, trial: &LimitTrial| {
            let played = trial.play(subject);
            let seen =
                if played.trouble.is_some() { Err("it should have ended".to_owned()) } else { exact(trial, &played) };
            seen.map_err(|should| Violation::new("cost_huge", format!("{should}, but there was {played}")))
        },
    );
    vec![
        drawn(
            "cost_max",
            "calls that are let in cost `cost_max` together at most, also at once",
            COSTS,
            at_once,
            within,
        ),
        drawn(
            "cost_exact",
            "a call that just fits is let in, and one that is refused costs nothing",
            COSTS,
            one_by_one,
            exact,
        ),
        needing(huge, COSTS),
    ]
}

fn at_once() -> impl Strategy<Value = LimitTrial> {
    trials(overlapping(COST_OF_A_CALL_MAX), cost_max())
}

fn one_by_one() -> impl Strategy<Value = LimitTrial> {
    trials(sequential(COST_OF_A_CALL_MAX), cost_max())
}

fn within(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let limit = trial.limits.cost_max.unwrap_or(u64::MAX);
    let let_in = trial.calls.iter().zip(&played.calls).filter(|(_, call)| call.began.is_some());
    let cost: u64 = let_in.map(|(plan, _)| plan.cost).sum();
    demand(cost <= limit, || format!("costs allowed: {limit}, let in: {cost}"))
}

fn exact(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let limit = trial.limits.cost_max.unwrap_or(u64::MAX);
    let mut left = limit;
    for (number, (plan, call)) in (1..).zip(trial.calls.iter().zip(&played.calls)) {
        let rest = left.checked_sub(plan.cost);
        demand(call.began.is_some() == rest.is_some(), || {
            let verb = if rest.is_some() { "be let in" } else { "be refused" };
            format!("call {number} costs {} and should {verb}, with {left} of {limit} left", plan.cost)
        })?;
        left = rest.unwrap_or(left);
    }
    Ok(())
}

/// The second one would wrap around, and the third one just fits.
fn huge_costs() -> LimitTrial {
    let call = |number: u64, cost| CallPlan { at: ms(number * 2), takes: ms(1), cost, ..CallPlan::default() };
    LimitTrial {
        limits: LimitPolicy { cost_max: Some(u64::MAX - 1), ..LimitPolicy::default() },
        calls: vec![call(0, 10), call(1, u64::MAX), call(2, u64::MAX - 11), call(3, 1)],
    }
}
