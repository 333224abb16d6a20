//! Settings at the edge: no panic, no wrap to nothing, no silent end before its time. A clear refusal keeps these points.

use std::time::Duration;

use super::attempts::attempts;
use super::delays::{cap, is_near, non_decreasing};
use super::tried::{Seen, demand, listed};
use crate::suites::retry::trials::{failing, ms};
use crate::suites::{Played, Point, RetryFeature, RetryPolicy, RetrySubject, RetryTrial, RunEnding};

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        listed(
            "far_attempts",
            "far beyond where the power overflows, it still waits `cap` and calls on",
            &[RetryFeature::Growth],
            far,
            stays_at_cap,
        ),
        listed(
            "cap_max",
            "with the greatest cap there is, waits grow on, and it does not end early",
            &[RetryFeature::Growth],
            greatest_cap,
            calls_on,
        ),
        listed("base_zero", "with a base of 0 it makes all its calls", &[], base_zero, attempts_and_cap),
        listed(
            "factor_one",
            "with a factor of 1 all waits are equal",
            &[RetryFeature::Factor],
            factor_one,
            equal_waits,
        ),
        listed(
            "factor_not_finite",
            "a factor that is infinite, negative or not a number is refused, or leaves all calls and the cap",
            &[RetryFeature::Factor],
            odd_factors,
            attempts_and_cap,
        ),
    ]
}

fn far(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let trial = |base, cap| {
        RetryTrial::new(RetryPolicy { retries: 1_100, base, cap, ..RetryPolicy::default() }, failing(Duration::ZERO))
    };
    vec![trial(ms(2), ms(20)), trial(Duration::from_secs(3600), Duration::from_secs(24 * 3600))]
}

fn stays_at_cap(trial: &RetryTrial, played: &Played) -> Seen {
    attempts(trial, played)?;
    cap(trial, played)?;
    let waits = played.waits();
    let below = waits.iter().skip(5).position(|wait| !is_near(*wait, trial.policy.cap));
    demand(below.is_none(), || {
        let failure = below.unwrap_or_default() + 6;
        format!("the wait after call {failure} should be the cap, not {:?}", waits[failure - 1])
    })
}

fn greatest_cap(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let trial = |base| {
        RetryTrial::new(
            RetryPolicy { retries: 200, base, cap: Duration::MAX, ..RetryPolicy::default() },
            failing(Duration::ZERO),
        )
    };
    vec![trial(ms(2)), trial(Duration::from_secs(24 * 3600)), trial(Duration::from_secs(u64::MAX / 4 * 3))]
}

fn calls_on(trial: &RetryTrial, played: &Played) -> Seen {
    non_decreasing(trial, played)?;
    match played.ending {
        RunEnding::Endless => Ok(()),
        _ => attempts(trial, played),
    }
}

fn base_zero(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let policy = RetryPolicy { retries: 70, base: Duration::ZERO, ..RetryPolicy::default() };
    vec![RetryTrial::new(policy, failing(ms(1)))]
}

fn factor_one(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let policy = RetryPolicy { retries: 70, factor: 1.0, ..RetryPolicy::default() };
    vec![RetryTrial::new(policy, failing(ms(1)))]
}

fn equal_waits(trial: &RetryTrial, played: &Played) -> Seen {
    attempts(trial, played)?;
    let waits = played.waits();
    demand(waits.iter().all(|wait| is_near(*wait, trial.policy.base)), || "all waits should be the base".to_owned())
}

fn odd_factors(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let trial = |factor| RetryTrial::new(RetryPolicy { retries: 5, factor, ..RetryPolicy::default() }, failing(ms(1)));
    [f64::NAN, f64::INFINITY, -2.0].map(trial).into()
}

fn attempts_and_cap(trial: &RetryTrial, played: &Played) -> Seen {
    attempts(trial, played)?;
    cap(trial, played)
}
