//! Calls that wait for each other.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::caps;
use crate::cases::{QueueCase, QueuedCall};

const KINDS: &[&str] = &["kind-0", "kind-1", "kind-2"];

/// Up to 12 calls of three kinds that come at once, one in six of them exclusive. Half of the cases measure time in so
/// coarse steps that several calls finish at the same instant. In at least 60 of 100 cases some call must wait.
pub fn queue_cases() -> impl Strategy<Value = QueueCase> {
    cases(Just(0).boxed())
}

/// The same, with calls that come one after the other. In at least 50 of 100 cases some call must wait.
pub fn staggered_queue_cases() -> impl Strategy<Value = QueueCase> {
    cases((0_u64..40).boxed())
}

fn cases(arrivals: BoxedStrategy<u64>) -> impl Strategy<Value = QueueCase> {
    // A grain of one is coarse. In the fine grain instants coincide only at the beginning.
    let grain = prop_oneof![Just(1_u64), Just(1_000_003)];
    grain.prop_flat_map(move |grain| {
        let nanoseconds = move |steps: u64, odd: u64| Duration::from_nanos(steps * grain + odd % grain);
        let time = move |steps: BoxedStrategy<u64>| {
            (steps, any::<u64>()).prop_map(move |(steps, odd)| nanoseconds(steps, odd))
        };
        let arrives = arrivals.clone().prop_flat_map(move |steps| match steps {
            0 => Just(Duration::ZERO).boxed(),
            _ => time(Just(steps).boxed()).boxed(),
        });
        let runs_for = time((0_u64..12).boxed());
        let kind = select(KINDS).prop_map(str::to_owned);
        let call = (arrives, runs_for, kind, prop::bool::weighted(1.0 / 6.0))
            .prop_map(|(arrives, runs_for, kind, is_exclusive)| QueuedCall { arrives, runs_for, kind, is_exclusive });
        (caps(KINDS), vec(call, 1..=12)).prop_map(|(caps, calls)| QueueCase { caps, calls })
    })
}
