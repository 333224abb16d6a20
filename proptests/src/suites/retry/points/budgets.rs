//! Retries of many runs, and of loops in loops.

use std::time::Duration;

use proptest::prelude::*;

use super::tried::{demand, needing};
use crate::Violation;
use crate::suites::retry::crowd::CrowdTrial;
use crate::suites::retry::nested::NestedTrial;
use crate::suites::retry::trials::{durations, failing, ms, policies};
use crate::suites::{Played, Point, RetryBudget, RetryFeature, RetryPolicy, RetrySubject};

const BUDGET: &[RetryFeature] = &[RetryFeature::Budget];
const LAYERS: &[RetryFeature] = &[RetryFeature::Layers];

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    let ratio = Point::property(
        "budget_ratio",
        "the runs of one client make at most `ratio × runs + reserve` retries, also at once",
        |subject: &S| crowds(&subject.features()),
        |subject: &S, trial: &CrowdTrial| budget_ratio(trial, subject),
    );
    let spent = Point::property(
        "budget_spent",
        "while there is budget left, it retries",
        |subject: &S| rich(&subject.features()),
        |subject: &S, trial: &CrowdTrial| budget_spent(trial, subject),
    );
    let layers = Point::property(
        "layers_product",
        "two loops, one in the other, call as often as the product of what both allow",
        |subject: &S| layers(&subject.features()),
        |subject: &S, trial: &NestedTrial| product(trial, subject),
    );
    vec![needing(ratio, BUDGET), needing(spent, BUDGET), needing(layers, LAYERS)]
}

/// Runs that succeed and then overlapping ones that fail, all within less than a minute: budgets may forget what is older.
/// Few of the ratios have exact reciprocals. A reserve is one for each second of a minute, or none.
fn crowds(features: &[RetryFeature]) -> impl Strategy<Value = CrowdTrial> + use<> {
    let ratio = prop_oneof![(0_u32..=100).prop_map(|percent| f64::from(percent) / 100.0), Just(0.6), Just(0.1)];
    let budget = (ratio, prop_oneof![3 => Just(0_u32), 1 => Just(60)])
        .prop_map(|(ratio, reserve)| RetryBudget { ratio, reserve });
    let runs = (0_u64..=40, 1_u64..=20);
    (policies(features), budget, runs, durations(0..=300)).prop_map(|(policy, budget, (successes, failures), apart)| {
        CrowdTrial {
            policy: RetryPolicy { budget: Some(budget), cap: policy.base * 2, ..policy },
            answers: failing(ms(20)),
            runs: successes + failures,
            successes,
            apart,
            is_apart: false,
        }
    })
}

fn budget_ratio<S: RetrySubject>(trial: &CrowdTrial, subject: &S) -> Result<(), Violation> {
    const ID: &str = "budget_ratio";
    let runs = trial.play(subject).map_err(|ending| Violation::new(ID, format!("it ended as {ending:?}")))?;
    let Some(RetryBudget { ratio, reserve }) = trial.policy.budget else { return Ok(()) };
    let begun: Vec<Duration> = runs.iter().filter_map(|run| run.calls.first()).map(|call| call.began).collect();
    let mut retries: Vec<Duration> =
        runs.iter().flat_map(|run| run.calls.iter().skip(1)).map(|call| call.began).collect();
    retries.sort();
    for (made, at) in (1_u32..).zip(retries) {
        let runs = begun.iter().filter(|began| **began <= at).count();
        // The smallest slack that takes no part of a retry for a whole one.
        let allowed = ratio * runs as f64 + f64::from(reserve) + 1e-6;
        demand(f64::from(made) <= allowed, || {
            format!("after {at:?} there were {runs} runs and {made} retries, of {allowed:.2} allowed")
        })
        .map_err(|should| Violation::new(ID, should))?;
    }
    Ok(())
}

/// More reserve than all runs can use.
fn rich(features: &[RetryFeature]) -> impl Strategy<Value = CrowdTrial> + use<> {
    crowds(features).prop_map(|trial| {
        let policy = RetryPolicy { retries: trial.policy.retries.min(3), ..trial.policy };
        let ratio = policy.budget.map_or(0.0, |budget| budget.ratio);
        let budget = RetryBudget { ratio, reserve: 60 };
        CrowdTrial { policy: RetryPolicy { budget: Some(budget), ..policy }, ..trial }
    })
}

fn budget_spent<S: RetrySubject>(trial: &CrowdTrial, subject: &S) -> Result<(), Violation> {
    const ID: &str = "budget_spent";
    let runs = trial.play(subject).map_err(|ending| Violation::new(ID, format!("it ended as {ending:?}")))?;
    let due = trial.policy.retries as usize + 1;
    let mut failing = runs.iter().skip(usize::try_from(trial.successes).unwrap_or(usize::MAX));
    match failing.find(|run| run.calls.len() != due) {
        None => Ok(()),
        Some(run) => Err(Violation::new(ID, format!("calls due in each run: {due}, but in one there were {run}"))),
    }
}

fn layers(features: &[RetryFeature]) -> impl Strategy<Value = NestedTrial> + use<> {
    (policies(features), 0_u32..=3, 0_u32..=3).prop_map(|(policy, outer, inner)| NestedTrial {
        outer: RetryPolicy { retries: outer, ..policy.clone() },
        inner: RetryPolicy { retries: inner, ..policy },
        answers: failing(ms(5)),
    })
}

fn product<S: RetrySubject>(trial: &NestedTrial, subject: &S) -> Result<(), Violation> {
    const ID: &str = "layers_product";
    let played: Played = trial.play(subject);
    let due = trial.calls_allowed();
    match played.calls.len() == due as usize {
        true => Ok(()),
        false => Err(Violation::new(ID, format!("calls due: {due}, but there were {played}"))),
    }
}
