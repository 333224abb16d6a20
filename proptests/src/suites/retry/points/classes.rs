//! What must not be retried.

use proptest::collection::vec;
use proptest::prelude::*;

use super::tried::{Seen, demand, drawn};
use crate::suites::retry::trials::{durations, policies};
use crate::suites::{Answer, ErrorClass, Played, Point, RetryFeature, RetrySubject, RetryTrial};

const CLASSES: &[RetryFeature] = &[RetryFeature::Classes];

pub(super) fn points<S: RetrySubject>() -> Vec<Point<S>> {
    vec![
        drawn("permanent", "what would fail again is not retried", CLASSES, permanent_at_some_call, permanent),
        drawn(
            "ambiguous",
            "what may have had its effect is retried under one idempotency key, or not at all",
            CLASSES,
            ambiguous_at_some_call,
            ambiguous,
        ),
    ]
}

fn of_classes<G: Strategy<Value = ErrorClass> + Clone>(
    features: &[RetryFeature],
    classes: G,
) -> impl Strategy<Value = RetryTrial> + use<G> {
    let failures = (durations(0..=50), classes).prop_map(|(takes, class)| Answer::failure(takes, class));
    (policies(features), vec(failures, 1..=6)).prop_map(|(policy, answers)| RetryTrial::new(policy, answers))
}

fn permanent_at_some_call(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    of_classes(features, prop_oneof![3 => Just(ErrorClass::Transient), 1 => Just(ErrorClass::Permanent)])
}

fn ambiguous_at_some_call(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    of_classes(features, prop_oneof![3 => Just(ErrorClass::Transient), 1 => Just(ErrorClass::Ambiguous)])
}

fn permanent(trial: &RetryTrial, played: &Played) -> Seen {
    let allowed = trial.policy.retries as usize + 1;
    let last = trial.answers.iter().position(|answer| answer.class() == Some(ErrorClass::Permanent));
    let due = last.map_or(allowed, |index| allowed.min(index + 1));
    demand(played.calls.len() == due, || format!("calls due: {due}"))
}

fn ambiguous(_: &RetryTrial, played: &Played) -> Seen {
    for (call, next) in played.calls.iter().zip(played.calls.iter().skip(1)) {
        let is_ambiguous = matches!(&call.result, Some(Err(error)) if error.class == ErrorClass::Ambiguous);
        let is_same = call.key.is_some() && call.key == next.key;
        demand(!is_ambiguous || is_same, || {
            format!("a call that may have had its effect is repeated under the keys {:?} and {:?}", call.key, next.key)
        })?;
    }
    Ok(())
}
