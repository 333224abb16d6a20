//! Runs that are dropped.

use std::time::Duration;

use proptest::prelude::*;

use super::tried::{Seen, demand, drawn};
use crate::suites::retry::trials::{durations, failing, policies};
use crate::suites::{Played, Point, RetryFeature, RetryPolicy, RetrySubject, RetryTrial};

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        drawn(
            "cancel_in_wait",
            "a run that is dropped while it waits makes no further call",
            &[],
            in_waits,
            nothing_follows,
        ),
        drawn(
            "cancel_in_call",
            "a run that is dropped drops the call that is under way",
            &[],
            in_calls,
            nothing_follows,
        ),
    ]
}

/// Calls take no time, so whatever is dropped waits.
fn in_waits(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (policies(features), durations(0..=3000)).prop_map(|(policy, after)| RetryTrial {
        cancel_after: Some(after),
        ..RetryTrial::new(RetryPolicy { retries: policy.retries + 1, ..policy }, failing(Duration::ZERO))
    })
}

fn in_calls(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (policies(features), durations(0..=3000), durations(1..=10_000)).prop_map(|(policy, after, takes)| RetryTrial {
        cancel_after: Some(after),
        ..RetryTrial::new(policy, failing(after + takes))
    })
}

fn nothing_follows(_: &RetryTrial, played: &Played) -> Seen {
    let ended = played.ended.unwrap_or(Duration::MAX);
    let is_over = played.calls.iter().all(|call| call.began <= ended && call.ended.is_some_and(|at| at <= ended));
    demand(is_over, || format!("nothing should run after {ended:?}"))
}
