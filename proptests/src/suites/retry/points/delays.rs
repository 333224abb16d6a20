//! How long it waits.

use std::time::Duration;

use super::tried::{Seen, demand, drawn};
use crate::suites::retry::trials::{hopeless, jittered};
use crate::suites::{Played, Point, RetryFeature, RetrySubject, RetryTrial};

/// How far a wait may be from what it should be: tokio's timers have a grain of 1 ms.
pub(super) const GRAIN: Duration = Duration::from_millis(1);

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        drawn("first_delay", "without jitter the first wait is `base`", &[], hopeless, first_delay),
        drawn(
            "exponential",
            "without jitter each wait is `factor` times the one before, up to `cap`",
            &[RetryFeature::Growth],
            hopeless,
            exponential,
        ),
        drawn("non_decreasing", "without jitter no wait is shorter than the one before", &[], hopeless, non_decreasing),
        drawn("cap", "without jitter no wait is longer than `cap`", &[], hopeless, cap),
        drawn("cap_after_jitter", "with jitter no wait is longer than `cap`", &[RetryFeature::Jitter], jittered, cap),
    ]
}

/// Whether it is what it should be but for the grain, and the rounding of numbers of 32 bits.
pub(super) fn is_near(wait: Duration, due: Duration) -> bool {
    wait.abs_diff(due) <= GRAIN.saturating_add(due / 1_000_000)
}

fn first_delay(trial: &RetryTrial, played: &Played) -> Seen {
    let due = trial.policy.wait(1);
    let first = played.waits().first().copied();
    demand(first.is_none_or(|wait| is_near(wait, due)), || format!("the first wait should be {due:?}"))
}

fn exponential(trial: &RetryTrial, played: &Played) -> Seen {
    for (failure, wait) in (1..).zip(played.waits()) {
        let due = trial.policy.wait(failure);
        demand(is_near(wait, due), || format!("the wait after call {failure} should be {due:?}, not {wait:?}"))?;
    }
    Ok(())
}

pub(super) fn non_decreasing(_: &RetryTrial, played: &Played) -> Seen {
    let waits = played.waits();
    let is_sorted = waits.is_sorted_by(|wait, next| *wait <= *next + GRAIN);
    demand(is_sorted, || format!("waits should not become shorter, as in {waits:?}"))
}

pub(super) fn cap(trial: &RetryTrial, played: &Played) -> Seen {
    let cap = trial.policy.cap;
    for (failure, wait) in (1..).zip(played.waits()) {
        demand(wait <= cap.saturating_add(GRAIN), || {
            format!("the wait after call {failure} should be at most {cap:?}, not {wait:?}")
        })?;
    }
    Ok(())
}
