//! Waits that a failure asks for: a floor, which extends no limit.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::attempts::attempts;
use super::deadlines::{in_flight_cancelled, waits_deadline};
use super::tried::{Seen, demand, drawn, judge, listed, needing};
use crate::suites::retry::answer;
use crate::suites::retry::nested::NestedTrial;
use crate::suites::retry::subject::has;
use crate::suites::retry::trials::{durations, ms, policies};
use crate::suites::{Answer, ErrorClass, Played, Point, RetryFeature, RetryPolicy, RetrySubject, RetryTrial};

const RETRY_AFTER: &[RetryFeature] = &[RetryFeature::RetryAfter];
const LIMITED: &[RetryFeature] = &[RetryFeature::RetryAfter, RetryFeature::RetryAfterMax];
const LAYERED: &[RetryFeature] = &[RetryFeature::RetryAfter, RetryFeature::Layers];
const HEADER: &[RetryFeature] = &[RetryFeature::RetryAfterHeader];

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        drawn("retry_after_floor", "it waits at least as long as a failure asks", RETRY_AFTER, asking, floor),
        drawn(
            "retry_after_no_shorter",
            "a failure that asks for less does not make a wait shorter",
            RETRY_AFTER,
            asking,
            no_shorter,
        ),
        drawn(
            "retry_after_attempts",
            "asking for a wait changes nothing about how many calls there are",
            RETRY_AFTER,
            asking,
            attempts,
        ),
        deadline(),
        drawn(
            "retry_after_ceiling",
            "a failure that asks for more than `retry_after_max` gets no more",
            LIMITED,
            asking_too_much,
            ceiling,
        ),
        listed(
            "retry_after_huge",
            "asking for the longest wait there is neither panics nor makes a hot loop",
            RETRY_AFTER,
            huge,
            patient,
        ),
        outermost(),
        listed(
            "retry_after_date",
            "a date in the header is a wait until then, by the wall clock",
            HEADER,
            dates,
            at_date,
        ),
        listed(
            "retry_after_garbage",
            "a header that is negative, past or garbage is no wait",
            HEADER,
            garbage,
            plain_waits,
        ),
    ]
}

/// Failures that ask to wait, some for more than the cap and some for less than the base.
fn asking(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    let failure = (durations(0..=50), prop::option::weighted(0.7, durations(0..=30_000))).prop_map(|(takes, asked)| {
        let answer = Answer::failure(takes, ErrorClass::Transient);
        asked.map_or(answer.clone(), |asked| answer.asking(asked))
    });
    (policies(features), vec(failure, 1..=4)).prop_map(|(policy, answers)| RetryTrial::new(policy, answers))
}

/// Each wait, with what it should be without being asked and what was asked for.
fn waits<'t>(trial: &'t RetryTrial, played: &Played) -> impl Iterator<Item = (Duration, Duration, Duration)> + use<'t> {
    (1..).zip(played.waits()).map(|(failure, wait)| {
        let asked = answer::nth(&trial.answers, failure).retry_after().unwrap_or_default();
        (wait, trial.policy.wait(failure), asked)
    })
}

fn floor(trial: &RetryTrial, played: &Played) -> Seen {
    for (wait, _, asked) in waits(trial, played) {
        demand(wait >= asked, || format!("it was asked to wait for {asked:?}, and not for {wait:?}"))?;
    }
    Ok(())
}

fn no_shorter(trial: &RetryTrial, played: &Played) -> Seen {
    for (wait, unasked, asked) in waits(trial, played) {
        let is_as_long = wait + ms(1) > unasked;
        demand(is_as_long, || format!("asked for {asked:?}, it waits {wait:?} instead of {unasked:?}"))?;
    }
    Ok(())
}

/// For whichever limits to time the subject has.
fn deadline<S: RetrySubject>() -> Point<S> {
    let trials = |subject: &S| {
        let has_waits = has(subject, RetryFeature::WaitsDeadline);
        let has_elapsed = has(subject, RetryFeature::ElapsedDeadline);
        (asking(&subject.features()), durations(1..=20_000), any::<bool>()).prop_map(move |(trial, limit, which)| {
            let is_elapsed = has_elapsed && (which || !has_waits);
            let (waits_max, elapsed_max) = if is_elapsed { (None, Some(limit)) } else { (Some(limit), None) };
            RetryTrial { policy: RetryPolicy { waits_max, elapsed_max, ..trial.policy }, ..trial }
        })
    };
    const ID: &str = "retry_after_deadline";
    let check = |subject: &S, trial: &RetryTrial| {
        judge(ID, trial, &trial.play(subject), |trial, played| match trial.policy.elapsed_max {
            Some(_) => in_flight_cancelled(trial, played),
            None => waits_deadline(trial, played),
        })
    };
    Point::property(ID, "asking for a wait extends no limit to the time", trials, check).unless(|subject| {
        let has_limit = has(subject, RetryFeature::WaitsDeadline) || has(subject, RetryFeature::ElapsedDeadline);
        match has(subject, RetryFeature::RetryAfter) {
            false => Some(RetryFeature::RetryAfter.name().to_owned()),
            true => (!has_limit).then(|| "a limit to the time".to_owned()),
        }
    })
}

fn asking_too_much(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (asking(features), durations(1..=10_000)).prop_map(|(trial, limit)| RetryTrial {
        policy: RetryPolicy { retry_after_max: Some(limit), ..trial.policy },
        ..trial
    })
}

fn ceiling(trial: &RetryTrial, played: &Played) -> Seen {
    let limit = trial.policy.retry_after_max.unwrap_or(Duration::MAX);
    for (wait, unasked, asked) in waits(trial, played) {
        let most = unasked.max(limit);
        demand(wait <= most, || format!("asked for {asked:?}, it should wait {most:?} at most, not {wait:?}"))?;
    }
    Ok(())
}

fn huge(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let failure = |asked| vec![Answer::failure(ms(1), ErrorClass::Transient).asking(asked)];
    [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_secs(i64::MAX as u64)]
        .map(|asked| RetryTrial::new(RetryPolicy::default(), failure(asked)))
        .into()
}

/// tokio takes what is longer than its clock for 30 years, so that is long enough.
fn patient(_: &RetryTrial, played: &Played) -> Seen {
    let years = Duration::from_secs(25 * 365 * 24 * 3600);
    demand(played.waits().iter().all(|wait| *wait >= years), || "it should wait for ages, or not at all".to_owned())
}

/// An inner loop that has given up passes on what it was asked; the outer one waits for it.
fn outermost<S: RetrySubject>() -> Point<S> {
    let trials = |subject: &S| {
        (policies(&subject.features()), durations(0..=30_000)).prop_map(|(policy, asked)| NestedTrial {
            outer: RetryPolicy { retries: policy.retries.min(3), ..policy.clone() },
            inner: RetryPolicy { retries: 0, ..policy },
            answers: vec![Answer::failure(ms(5), ErrorClass::Transient).asking(asked)],
        })
    };
    let check = |subject: &S, trial: &NestedTrial| {
        let outer = RetryTrial::new(trial.outer.clone(), trial.answers.clone());
        judge("retry_after_outermost", &outer, &trial.play(subject), floor)
    };
    let text = "the outermost loop waits as long as a failure asks that an inner one passed on";
    needing(Point::property("retry_after_outermost", text, trials, check), LAYERED)
}

fn by_header(header: &str) -> RetryTrial {
    let failure = Answer::failure(Duration::ZERO, ErrorClass::Transient).asking_by_header(header);
    RetryTrial::new(RetryPolicy { retries: 1, ..RetryPolicy::default() }, vec![failure])
}

/// A world begins on 2025-01-01T00:00:00Z, a Wednesday.
fn dates(_: &[RetryFeature]) -> Vec<RetryTrial> {
    vec![by_header("Wed, 01 Jan 2025 00:01:30 GMT"), by_header("90")]
}

fn at_date(_: &RetryTrial, played: &Played) -> Seen {
    let due = Duration::from_secs(90);
    demand(played.waits() == [due], || format!("it should wait for {due:?}"))
}

fn garbage(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let headers =
        ["-5", "", "soon", "NaN", "-0", "Tue, 31 Dec 2024 23:00:00 GMT", "99999999999999999999999999 GMT", "1,5"];
    headers.map(by_header).into()
}

fn plain_waits(trial: &RetryTrial, played: &Played) -> Seen {
    let due = trial.policy.wait(1);
    demand(played.waits() == [due], || format!("it should wait for {due:?}, as if it were not asked"))
}
