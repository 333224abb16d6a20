//! How often the operation is called, and what comes of it.

use std::time::Duration;

use super::delays::{GRAIN, is_near};
use super::tried::{Seen, demand, drawn, listed};
use crate::suites::retry::trials::{failing, hopeless, ms, plain};
use crate::suites::{
    Answer, ErrorClass, Played, Point, RetryFailure, RetryFeature, RetryPolicy, RetrySubject, RetryTrial, RunEnding,
};

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        drawn(
            "attempts",
            "it calls until the first success, and at most `retries` times after the first",
            &[],
            plain,
            attempts,
        ),
        listed("no_retries", "with 0 retries it calls once", &[], |_| vec![with_retries(0)], attempts),
        listed("all_retries", "as many retries as fit in a number are legal", &[], endless_retries, attempts),
        drawn("last_result", "it gives what the last call gave", &[], plain, last_result),
        drawn("ends_at_once", "it does not wait before the first call, nor after the last", &[], plain, ends_at_once),
        drawn("one_at_a_time", "a call begins after the one before has ended", &[], plain, one_at_a_time),
        drawn(
            "announced",
            "each wait is announced once, at its beginning, with its length",
            &[RetryFeature::Announcements],
            plain,
            announced,
        ),
        drawn(
            "accounting",
            "calls and announced waits add up to the time that passed",
            &[RetryFeature::Announcements],
            hopeless,
            accounting,
        ),
    ]
}

fn with_retries(retries: u32) -> RetryTrial {
    RetryTrial::new(RetryPolicy { retries, ..RetryPolicy::default() }, failing(ms(5)))
}

fn endless_retries(_: &[RetryFeature]) -> Vec<RetryTrial> {
    let mut answers = vec![Answer::failure(ms(5), ErrorClass::Transient); 12];
    answers.push(Answer::success(ms(5)));
    vec![RetryTrial { answers, ..with_retries(u32::MAX) }]
}

/// How many calls there are if nothing but the policy's retries ends them.
pub(super) fn calls_due(trial: &RetryTrial) -> u32 {
    let allowed = trial.policy.retries.saturating_add(1);
    let successful = trial.answers.iter().position(Answer::is_success);
    successful.map_or(allowed, |index| allowed.min(u32::try_from(index + 1).unwrap_or(u32::MAX)))
}

pub(super) fn attempts(trial: &RetryTrial, played: &Played) -> Seen {
    let due = calls_due(trial);
    demand(played.calls.len() == due as usize, || format!("calls due: {due}"))
}

fn last_result(_: &RetryTrial, played: &Played) -> Seen {
    let last = played.calls.last().and_then(|call| call.result.clone());
    let RunEnding::Finished(result) = &played.ending else { return Err("it should have ended".to_owned()) };
    let is_last = match (&last, result) {
        (Some(Ok(())), Ok(())) => true,
        (Some(Err(last)), Err(RetryFailure::Operation(error))) => last == error,
        _ => false,
    };
    demand(is_last, || "the result should be that of the last call".to_owned())
}

fn ends_at_once(_: &RetryTrial, played: &Played) -> Seen {
    let first = played.calls.first().map(|call| call.began);
    demand(first == Some(Duration::ZERO), || "the first call should begin at once".to_owned())?;
    let last = played.calls.last().and_then(|call| call.ended);
    demand(played.ended.is_some() && played.ended == last, || "it should end with the last call".to_owned())
}

fn one_at_a_time(_: &RetryTrial, played: &Played) -> Seen {
    let mut pairs = played.calls.iter().zip(played.calls.iter().skip(1));
    let is_one = pairs.all(|(call, next)| call.ended.is_some_and(|ended| ended <= next.began));
    demand(is_one, || "calls should not overlap".to_owned())
}

fn announced(_: &RetryTrial, played: &Played) -> Seen {
    let waits = played.waits();
    let announced: Vec<_> = played.announcements.iter().map(|told| told.wait).collect();
    let are_told =
        announced.len() == waits.len() && announced.iter().zip(&waits).all(|(told, wait)| is_near(*wait, *told));
    demand(are_told, || format!("{waits:?} should have been announced, and not {announced:?}"))?;
    let are_timely = played.announcements.iter().zip(&played.calls).all(|(told, call)| call.ended == Some(told.at));
    demand(are_timely, || "each wait should be announced when the call before it has ended".to_owned())
}

fn accounting(_: &RetryTrial, played: &Played) -> Seen {
    let announced: Duration = played.announcements.iter().map(|told| told.wait).sum();
    let sum = played.busy() + announced;
    let grains = GRAIN * u32::try_from(played.announcements.len()).unwrap_or(u32::MAX);
    let adds_up = played.ended.is_some_and(|ended| ended.abs_diff(sum) <= grains);
    demand(adds_up, || format!("calls and announced waits add up to {sum:?}"))
}
