//! What tools do.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::durations;
use crate::cases::{Ending, Script, Step};

/// How an attempt ends: over half give a value, and one in 20 is control flow.
pub fn endings() -> impl Strategy<Value = Ending> + Clone {
    prop_oneof![
        11 => Just(Ending::Value),
        3 => Just(Ending::ForeignError),
        2 => Just(Ending::RetryableError),
        2 => Just(Ending::Refusal),
        1 => Just(Ending::Panic),
        1 => Just(Ending::Cancelled),
    ]
}

/// One attempt, with a length chosen around the time limit it runs under: usually shorter, sometimes equal or a
/// nanosecond longer, sometimes much longer. Of 100 at least 70 keep the limit, 15 pass it, and 10 take exactly as long.
pub fn steps(timeout: Option<Duration>) -> impl Strategy<Value = Step> + Clone {
    (lengths(timeout), endings()).prop_map(|(takes, ending)| Step { takes, ending })
}

/// Up to four attempts that may be retried, and then one that may end in any way.
///
/// Of 100 scripts at least 30 have one attempt, 20 over two, and 45 end with a value; with a time limit 25 pass it in some
/// attempt.
pub fn scripts(timeout: Option<Duration>) -> impl Strategy<Value = Script> + Clone {
    let failing = prop_oneof![
        5 => Just(Ending::ForeignError),
        4 => Just(Ending::RetryableError),
        1 => Just(Ending::Panic),
    ];
    let count = prop_oneof![3 => Just(0_usize), 3 => Just(1), 2 => 2_usize..=4];
    let failing = (lengths(timeout), failing).prop_map(|(takes, ending)| Step { takes, ending });
    let failures = count.prop_flat_map(move |count| vec(failing.clone(), count));
    (failures, steps(timeout)).prop_map(|(mut steps, last)| {
        steps.push(last);
        Script { steps }
    })
}

fn lengths(timeout: Option<Duration>) -> BoxedStrategy<Duration> {
    let Some(timeout) = timeout else { return durations().boxed() };
    let limit_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX / 8);
    let lengths_ns = prop_oneof![
        9 => 0..=limit_ns,
        2 => Just(limit_ns),
        1 => Just(limit_ns + 1),
        3 => limit_ns + 1..=limit_ns.saturating_mul(4) + 2,
    ];
    lengths_ns.prop_map(Duration::from_nanos).boxed()
}
