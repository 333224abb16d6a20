//! Whether anything is left of a call that is over: a lock, a cap, a place in a run.

use std::num::NonZeroU32;

use windtunnel_core::executor::{ExecutorBuilder, RunLimits};
use windtunnel_core::tool::FunctionTool;

use crate::rig::{Rig, call, echo, finish_within, ms, verdict};

/// The run that [`assert_nothing_is_held`] looks at.
pub(crate) const RUN: &str = "run-a";

/// A rig that can be probed. Kind `search` is capped at 1, and only one run is remembered.
pub(crate) fn rig(
    tools: impl IntoIterator<Item = FunctionTool>,
    set: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> Rig {
    let probes =
        [echo("probe_alone").exclusive(), echo("probe_search").kind("search"), echo("probe_once").once_per_run()];
    let limits = RunLimits::default().cap("search", NonZeroU32::MIN);
    Rig::with(tools.into_iter().chain(probes), |builder| set(builder.run_limits(limits).runs_tracked_max(1)))
}

/// Panics unless the run's lock and cap are free, no call of it is in flight, and nothing of it runs on.
pub(crate) async fn assert_nothing_is_held(rig: &Rig, after: &str) {
    let events = rig.log.len();
    let env = rig.executor.env();
    env.until(env.now() + ms(86_400_000)).await;
    assert_eq!(rig.log.len(), events, "something runs on {after}");

    let probe = |run_id: &str, tool: &str| {
        let executor = rig.in_run(run_id);
        let id = env.next_id("probe");
        finish_within(64, executor.run_call(call(&id, tool))).map(|result| verdict(&result.unwrap()))
    };
    assert_eq!(probe(RUN, "probe_alone"), Some("ok"), "the run lock is held {after}");
    assert_eq!(probe(RUN, "probe_search"), Some("ok"), "a cap is held {after}");
    // A run in which no call is in flight is forgotten for the next one, and with it what it has counted.
    assert_eq!(probe(RUN, "probe_once"), Some("ok"));
    assert_eq!(probe(RUN, "probe_once"), Some("once-per-run"));
    assert_eq!(probe("run-b", "probe_alone"), Some("ok"));
    assert_eq!(probe(RUN, "probe_once"), Some("ok"), "a call is in flight {after}");
}
