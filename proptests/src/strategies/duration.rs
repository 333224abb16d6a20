//! How long things take.

use std::time::Duration;

use proptest::prelude::*;

/// Nothing, an odd number of nanoseconds, or whole milliseconds up to a minute.
pub fn durations() -> impl Strategy<Value = Duration> + Clone {
    prop_oneof![
        1 => Just(Duration::ZERO),
        3 => (1_u64..2_000_000_000).prop_map(Duration::from_nanos),
        2 => (1_u64..=60_000).prop_map(Duration::from_millis),
    ]
}
