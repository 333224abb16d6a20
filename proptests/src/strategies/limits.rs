//! Limits of runs.

use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use windtunnel_core::executor::RunLimits;

use crate::cases::{Caps, run_limits};

/// How many calls a run may make: no limit one time in two, else up to six, and in at least 4 of 100 cases none at all.
pub fn call_limits() -> impl Strategy<Value = Option<u64>> + Clone {
    option::of(0_u64..=6)
}

/// Caps of one to three on some of the kinds. With two kinds, at least 20 of 100 cap none, 12 cap both, and 22 have a cap of one.
pub fn caps(kinds: &'static [&'static str]) -> impl Strategy<Value = Caps> {
    btree_map(select(kinds).prop_map(str::to_owned), 1_u32..=3, 0..=kinds.len())
}

/// Any limits of a run, with caps on some of the kinds.
pub fn limits(kinds: &'static [&'static str]) -> impl Strategy<Value = RunLimits> {
    (call_limits(), caps(kinds)).prop_map(|(calls_max, caps)| run_limits(calls_max, &caps))
}
