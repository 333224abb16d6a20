//! Limits to the time that a run takes.

use std::time::Duration;

use proptest::prelude::*;

use super::attempts::calls_due;
use super::delays::GRAIN;
use super::tried::{Seen, demand, drawn};
use crate::suites::retry::answer;
use crate::suites::retry::trials::{durations, plain};
use crate::suites::{Played, Point, RetryFeature, RetryPolicy, RetrySubject, RetryTrial};

const WAITS: &[RetryFeature] = &[RetryFeature::WaitsDeadline];
const ELAPSED: &[RetryFeature] = &[RetryFeature::ElapsedDeadline];

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        drawn("waits_deadline", "all waits together are at most `waits_max`", WAITS, limited_waits, waits_deadline),
        drawn(
            "waits_deadline_spent",
            "a wait within `waits_max` is waited",
            WAITS,
            limited_waits,
            waits_deadline_spent,
        ),
        drawn("elapsed_deadline", "no call begins after `elapsed_max`", ELAPSED, limited, elapsed_deadline),
        drawn(
            "in_flight_cancelled",
            "a call under way at `elapsed_max` is cancelled there, and the run ends",
            ELAPSED,
            limited,
            in_flight_cancelled,
        ),
        drawn(
            "elapsed_deadline_spent",
            "a call that is due before `elapsed_max` is made",
            ELAPSED,
            limited,
            elapsed_deadline_spent,
        ),
    ]
}

fn limited_waits(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (plain(features), durations(1..=20_000)).prop_map(|(trial, limit)| RetryTrial {
        policy: RetryPolicy { waits_max: Some(limit), ..trial.policy },
        ..trial
    })
}

pub(super) fn limited(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (plain(features), durations(1..=20_000)).prop_map(|(trial, limit)| RetryTrial {
        policy: RetryPolicy { elapsed_max: Some(limit), ..trial.policy },
        ..trial
    })
}

pub(super) fn waits_deadline(trial: &RetryTrial, played: &Played) -> Seen {
    let limit = trial.policy.waits_max.unwrap_or(Duration::MAX);
    let Some(ended) = played.ended else {
        return Err(format!("it should have ended, with waits of {limit:?} at most"));
    };
    // What passes after the last call is a wait too.
    let waited = ended.saturating_sub(played.busy());
    let grains = GRAIN * u32::try_from(played.calls.len()).unwrap_or(u32::MAX);
    demand(waited <= limit.saturating_add(grains), || {
        format!("it should wait for {limit:?} at most, not for {waited:?}")
    })
}

fn waits_deadline_spent(trial: &RetryTrial, played: &Played) -> Seen {
    let limit = trial.policy.waits_max.unwrap_or(Duration::MAX);
    let mut waited = Duration::ZERO;
    let mut due = 1;
    for failure in 1..calls_due(trial) {
        waited += trial.policy.wait(failure);
        // One that ends at the very limit may be either.
        if waited >= limit {
            break;
        }
        due += 1;
    }
    demand(played.calls.len() >= due, || format!("calls due before the waits are over {limit:?}: {due}"))
}

fn elapsed_deadline(trial: &RetryTrial, played: &Played) -> Seen {
    let limit = trial.policy.elapsed_max.unwrap_or(Duration::MAX);
    demand(played.calls.iter().all(|call| call.began <= limit), || format!("no call should begin after {limit:?}"))
}

pub(super) fn in_flight_cancelled(trial: &RetryTrial, played: &Played) -> Seen {
    let limit = trial.policy.elapsed_max.unwrap_or(Duration::MAX);
    let has_ended = played.ended.is_some_and(|ended| ended <= limit);
    demand(has_ended, || format!("it should have ended at {limit:?}"))?;
    let have_ended = played.calls.iter().all(|call| call.ended.is_some_and(|ended| ended <= limit));
    demand(have_ended, || format!("no call should be under way after {limit:?}"))
}

fn elapsed_deadline_spent(trial: &RetryTrial, played: &Played) -> Seen {
    let limit = trial.policy.elapsed_max.unwrap_or(Duration::MAX);
    let mut begins = Duration::ZERO;
    let mut due = 1;
    for failure in 1..calls_due(trial) {
        begins += answer::nth(&trial.answers, failure).takes + trial.policy.wait(failure);
        if begins >= limit {
            break;
        }
        due += 1;
    }
    demand(played.calls.len() >= due, || format!("calls due before {limit:?}: {due}"))
}
