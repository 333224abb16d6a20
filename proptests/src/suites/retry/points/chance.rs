//! Jitter: what it follows from, and whether it spreads.

use std::time::Duration;

use proptest::prelude::*;

use super::tried::{demand, needing};
use crate::Violation;
use crate::suites::retry::crowd::CrowdTrial;
use crate::suites::retry::trials::{factors, failing, jittered, ms};
use crate::suites::{Played, Point, RetryFeature, RetryPolicy, RetrySubject, RetryTrial, RunEnding};

const SEED: &[RetryFeature] = &[RetryFeature::Jitter, RetryFeature::Seed];
const JITTER: &[RetryFeature] = &[RetryFeature::Jitter];

/// How many clients fail at one instant.
const CLIENTS: u64 = 1000;
const BUCKETS: usize = 20;
/// How many times the mean may be in one bucket. Even draws stay below 1.6.
const TIMES_MEAN_MAX: usize = 4;

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    let same = Point::property(
        "same_seed",
        "the same seed gives the same waits",
        |subject: &S| jittered(&subject.features()),
        |subject: &S, trial: &RetryTrial| same_seed(trial, subject),
    );
    let other = Point::property(
        "other_seed",
        "another seed gives other waits",
        |subject: &S| wide(&subject.features()),
        |subject: &S, trial: &RetryTrial| other_seed(trial, subject),
    );
    let spread = Point::examples(
        "desync",
        "1000 clients that fail at one instant do not come back at one",
        |_: &S| vec![crowd()],
        |subject: &S, trial: &CrowdTrial| desync(trial, subject),
    );
    vec![needing(same, SEED), needing(other, SEED), needing(spread, JITTER)]
}

fn ran(id: &'static str, played: Played) -> Result<Played, Violation> {
    match played.ending {
        RunEnding::Finished(_) => Ok(played),
        _ => Err(Violation::new(id, format!("it should have run, but there were {played}"))),
    }
}

fn same_seed<S: RetrySubject>(trial: &RetryTrial, subject: &S) -> Result<(), Violation> {
    const ID: &str = "same_seed";
    let (first, second) = (ran(ID, trial.play(subject))?, ran(ID, trial.play(subject))?);
    demand(first.waits() == second.waits(), || format!("once there were {first}, and once {second}"))
        .map_err(|should| Violation::new(ID, should))
}

/// Waits so long, and so many, that they are not equal by chance.
fn wide(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (factors(features), any::<u64>()).prop_map(|(factor, seed)| {
        let policy = RetryPolicy {
            retries: 6,
            base: Duration::from_secs(60),
            factor,
            cap: Duration::from_secs(86_400),
            is_jittered: true,
            seed,
            ..RetryPolicy::default()
        };
        RetryTrial::new(policy, failing(Duration::ZERO))
    })
}

fn other_seed<S: RetrySubject>(trial: &RetryTrial, subject: &S) -> Result<(), Violation> {
    const ID: &str = "other_seed";
    let policy = RetryPolicy { seed: trial.policy.seed.wrapping_add(1), ..trial.policy.clone() };
    let other = RetryTrial { policy, ..trial.clone() };
    let (first, second) = (ran(ID, trial.play(subject))?, ran(ID, other.play(subject))?);
    demand(first.waits() != second.waits(), || format!("with either seed there were {first}"))
        .map_err(|should| Violation::new(ID, should))
}

fn crowd() -> CrowdTrial {
    let policy = RetryPolicy {
        retries: 1,
        base: Duration::from_secs(10),
        cap: Duration::from_secs(60),
        is_jittered: true,
        ..RetryPolicy::default()
    };
    CrowdTrial { policy, answers: failing(ms(5)), runs: CLIENTS, successes: 0, apart: Duration::ZERO, is_apart: true }
}

fn desync<S: RetrySubject>(trial: &CrowdTrial, subject: &S) -> Result<(), Violation> {
    const ID: &str = "desync";
    let violation = |seen: String| Err(Violation::new(ID, seen));
    let runs = match trial.play(subject) {
        Ok(runs) => runs,
        Err(ending) => return violation(format!("it ended as {ending:?}")),
    };
    let returns: Vec<Duration> = runs.iter().filter_map(|run| run.calls.get(1)).map(|call| call.began).collect();
    let (Some(first), Some(last)) = (returns.iter().min(), returns.iter().max()) else {
        return violation("nobody came back".to_owned());
    };
    let width = (*last - *first) / u32::try_from(BUCKETS).unwrap_or(1) + Duration::from_nanos(1);
    if width < trial.policy.base / 200 {
        return violation(format!("all came back between {first:?} and {last:?}"));
    }
    let mut buckets = [0_usize; BUCKETS];
    for at in &returns {
        let index = (*at - *first).as_nanos() / width.as_nanos();
        buckets[usize::try_from(index).unwrap_or_default().min(BUCKETS - 1)] += 1;
    }
    let most = returns.len() / BUCKETS * TIMES_MEAN_MAX;
    match buckets.iter().find(|count| **count > most) {
        None => Ok(()),
        Some(count) => violation(format!("{count} came back within {width:?}, of which {most} may: {buckets:?}")),
    }
}
