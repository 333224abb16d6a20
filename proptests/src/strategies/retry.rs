//! Lone calls that may be retried.

use proptest::collection::vec;
use proptest::prelude::*;

use super::policy::{retries, timeouts};
use super::{backoff_settings, exact_backoff_settings, scripts, units};
use crate::cases::{Ending, RetryCase, Script, Step};

/// A tool's script, a policy that lets it play more or less of it, and the random numbers of its waits.
///
/// Of 100 cases at least 10 succeed at once, 15 succeed after retries, 25 exhaust their attempts, 8 run out of time at the
/// last one, 5 are refused by the tool and 2 are interrupted. One in 25 has as many retries as fit in a number.
pub fn retry_cases() -> impl Strategy<Value = RetryCase> {
    timeouts().prop_flat_map(|timeout| {
        let backoff = prop_oneof![2 => backoff_settings(), 1 => exact_backoff_settings()];
        let units = vec(units(), 0..=9);
        (scripts(timeout), retry_limits(), backoff, units).prop_map(
            move |(script, limit, backoff, units)| match limit {
                Limit::Retries(retries) => RetryCase { script, retries, timeout, backoff, units },
                Limit::None => RetryCase { script: made_to_end(script), retries: u32::MAX, timeout, backoff, units },
            },
        )
    })
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Retries(u32),
    None,
}

fn retry_limits() -> impl Strategy<Value = Limit> {
    prop_oneof![24 => retries().prop_map(Limit::Retries), 1 => Just(Limit::None)]
}

/// The script, with a value at its end, so that it ends whatever the retries.
fn made_to_end(mut script: Script) -> Script {
    script.steps.push(Step::at_once(Ending::Value));
    script
}
