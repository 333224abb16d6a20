//! Trials for the points, drawn so that every subject that has the features can be told them.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Answer, ErrorClass, RetryFeature, RetryPolicy, RetryTrial};

pub(super) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Whole milliseconds, as everything that a policy or an operation takes.
pub(super) fn durations(range: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Duration> + Clone {
    range.prop_map(ms)
}

pub(super) fn factors(features: &[RetryFeature]) -> BoxedStrategy<f64> {
    let has = |feature| features.contains(&feature);
    match has(RetryFeature::Factor) {
        _ if !has(RetryFeature::Growth) => Just(1.0).boxed(),
        true => prop_oneof![3 => Just(2.0), 1 => Just(1.0), 1 => Just(3.0), 1 => Just(10.0)].boxed(),
        false => Just(2.0).boxed(),
    }
}

/// A few retries, with waits that grow to a cap that is often reached. The base is never above the cap.
pub(super) fn policies(features: &[RetryFeature]) -> impl Strategy<Value = RetryPolicy> + use<> {
    (0_u32..=6, 1_u64..=60, factors(features), 2_u64..=40, any::<u64>()).prop_map(
        |(retries, step, factor, times, seed)| RetryPolicy {
            retries,
            // A multiple of every factor, for loops that begin with a power of it.
            base: ms(step * 30),
            factor,
            cap: ms(step * 30 * times),
            seed,
            ..RetryPolicy::default()
        },
    )
}

/// Up to eight failures that may be retried, and then success, or no end of failures.
pub(super) fn answers() -> impl Strategy<Value = Vec<Answer>> + Clone {
    let failures = vec(durations(0..=3000), 0..=8);
    (failures, any::<bool>()).prop_map(|(failures, has_end)| {
        let mut answers: Vec<_> =
            failures.into_iter().map(|takes| Answer::failure(takes, ErrorClass::Transient)).collect();
        if has_end || answers.is_empty() {
            answers.push(Answer::success(Duration::ZERO));
        }
        answers
    })
}

/// An operation that fails at every call, which takes so long.
pub(super) fn failing(takes: Duration) -> Vec<Answer> {
    vec![Answer::failure(takes, ErrorClass::Transient)]
}

/// Runs that may succeed at any call, or never.
pub(super) fn plain(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (policies(features), answers()).prop_map(|(policy, answers)| RetryTrial::new(policy, answers))
}

/// Runs that fail to the end.
pub(super) fn hopeless(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    (policies(features), durations(0..=3000)).prop_map(|(policy, takes)| RetryTrial::new(policy, failing(takes)))
}

/// The same with jitter.
pub(super) fn jittered(features: &[RetryFeature]) -> impl Strategy<Value = RetryTrial> + use<> {
    hopeless(features)
        .prop_map(|trial| RetryTrial { policy: RetryPolicy { is_jittered: true, ..trial.policy }, ..trial })
}
