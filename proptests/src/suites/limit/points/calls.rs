//! How many calls there are.

use proptest::prelude::*;

use super::tried::{Seen, demand, drawn};
use crate::suites::limit::trials::{COST_OF_A_CALL_MAX, calls_max, cost_max, overlapping, sequential, trials};
use crate::suites::{LimitFeature, LimitPolicy, LimitSubject, LimitTrial, PlayedLimit, Point};

const CALLS: &[LimitFeature] = &[LimitFeature::CallsMax];
const CALLS_AND_COSTS: &[LimitFeature] = &[LimitFeature::CallsMax, LimitFeature::CostMax];

pub(super) fn points<S: LimitSubject>() -> Vec<Point<S>> {
    vec![
        drawn("calls_max", "no more than `calls_max` calls are let in, also at once", CALLS, at_once, within),
        drawn("calls_exact", "the first `calls_max` calls are let in, and no other", CALLS, one_by_one, exact),
        drawn(
            "refused_is_no_call",
            "a call that is refused for its cost does not count as one of `calls_max`",
            CALLS_AND_COSTS,
            with_costs,
            refused_is_no_call,
        ),
    ]
}

fn at_once() -> impl Strategy<Value = LimitTrial> {
    trials(overlapping(0), calls_max())
}

fn within(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let limit = trial.limits.calls_max.unwrap_or(u64::MAX);
    demand(played.admitted() as u64 <= limit, || format!("calls allowed: {limit}, let in: {}", played.admitted()))
}

fn one_by_one() -> impl Strategy<Value = LimitTrial> {
    trials(sequential(0), calls_max())
}

fn exact(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let limit = trial.limits.calls_max.unwrap_or(u64::MAX);
    let wrong = (0_u64..).zip(&played.calls).find(|(index, call)| call.began.is_some() != (*index < limit));
    demand(wrong.is_none(), || format!("just the first {limit} should be let in"))
}

fn with_costs() -> impl Strategy<Value = LimitTrial> {
    let limits = (calls_max(), cost_max()).prop_map(|(calls, costs)| LimitPolicy { cost_max: costs.cost_max, ..calls });
    trials(sequential(COST_OF_A_CALL_MAX * 2), limits)
}

fn refused_is_no_call(trial: &LimitTrial, played: &PlayedLimit) -> Seen {
    let (calls_max, cost_max) = (trial.limits.calls_max.unwrap_or(u64::MAX), trial.limits.cost_max.unwrap_or(u64::MAX));
    let (mut calls, mut cost) = (0, 0);
    for (number, (plan, call)) in (1..).zip(trial.calls.iter().zip(&played.calls)) {
        let fits = calls < calls_max && cost + plan.cost <= cost_max;
        demand(call.began.is_some() == fits, || {
            let verb = if fits { "be let in" } else { "be refused" };
            format!("call {number} should {verb}, after {calls} calls that cost {cost}")
        })?;
        if fits {
            calls += 1;
            cost += plan.cost;
        }
    }
    Ok(())
}
