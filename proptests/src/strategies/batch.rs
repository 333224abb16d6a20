//! Whole batches.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{call_limits, caps, exact_backoff_settings, policies, scripts};
use crate::cases::{BatchCall, BatchCase, Ending, Policies};

const KINDS: &[&str] = &["kind-0", "kind-1"];

/// Up to ten calls of up to four tools, of which one call in 20 names a tool that is not there. Nothing ends with control
/// flow, which would end the batch, and the delays are exact.
///
/// Of 100 batches at least 50 have a call that succeeds, 50 one that fails, 20 one that runs out of time, 10 one that
/// its tool refuses, 10 one that may not run twice, 20 one over the run's limit, and 25 one that waits for another.
pub fn batch_cases() -> impl Strategy<Value = BatchCase> {
    (policies(KINDS), call_limits(), caps(KINDS), exact_backoff_settings()).prop_flat_map(
        |(policies, calls_max, caps, backoff)| {
            vec(calls(&policies), 0..=10).prop_map(move |calls| BatchCase {
                policies: policies.clone(),
                calls_max,
                caps: caps.clone(),
                backoff,
                calls,
            })
        },
    )
}

fn calls(policies: &Policies) -> impl Strategy<Value = BatchCall> + use<> {
    let policies = policies.clone();
    let names: Vec<_> = policies.keys().cloned().collect();
    let name = prop_oneof![19 => select(names), 1 => Just("missing".to_owned())];
    name.prop_flat_map(move |tool| {
        let timeout = policies.get(&tool).and_then(|policy| policy.timeout);
        scripts(timeout).prop_map(move |mut script| {
            for step in script.steps.iter_mut().filter(|step| step.ending == Ending::Cancelled) {
                step.ending = Ending::Value;
            }
            BatchCall { tool: tool.clone(), script }
        })
    })
}
