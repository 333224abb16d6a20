//! How tools may be called.

use std::time::Duration;

use proptest::collection::btree_map;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::durations;
use crate::cases::{Policies, ToolPolicy};

/// Any policy, without approval. One tool in five is exclusive, one in five may run once, half have a time limit, and
/// three in four are of one of the given kinds instead of their own.
pub fn tool_policies(kinds: &'static [&'static str]) -> impl Strategy<Value = ToolPolicy> {
    let kind = option::weighted(0.75, select(kinds).prop_map(str::to_owned));
    let (alone, once) = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (retries(), timeouts(), kind, alone, once).prop_map(|(retries, timeout, kind, is_exclusive, once_per_run)| {
        ToolPolicy { retries, timeout, kind, is_exclusive, once_per_run, confirm: false }
    })
}

/// One to four tools named `tool-0` to `tool-3`, of kinds of their own or of the given ones. Of 100 at least 60 have several.
pub fn policies(kinds: &'static [&'static str]) -> impl Strategy<Value = Policies> {
    btree_map((0..4_u8).prop_map(|number| format!("tool-{number}")), tool_policies(kinds), 1..=4)
}

pub(super) fn retries() -> impl Strategy<Value = u32> + Clone {
    prop_oneof![1 => Just(0), 4 => 1_u32..=4, 1 => 5_u32..=9]
}

pub(super) fn timeouts() -> impl Strategy<Value = Option<Duration>> + Clone {
    option::of(durations())
}
