//! Calls that are dropped on their way: nothing of them runs on, and they hold nothing back.

use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{CallContext, Executor, ToolCall, ToolResult};
use windtunnel_core::tool::ErrorKind;
use windtunnel_proptests::cases::{BatchCase, Policies, Script, ToolPolicy, run_limits};
use windtunnel_proptests::invariants::{nothing_follows_a_run, one_entry_per_finished_call, open_calls, order};
use windtunnel_proptests::models::BatchPrediction;
use windtunnel_proptests::played::PlayedTool;
use windtunnel_proptests::properties::batches::{call_id, calls, setup};
use windtunnel_proptests::properties::simulated;
use windtunnel_proptests::strategies::{batch_cases, durations};
use windtunnel_proptests::{CallTimeline, TimelineEnd};

use crate::settings::family;

/// An exclusive tool: its call waits for whatever still holds the run.
fn last() -> (String, ToolPolicy) {
    ("last".to_owned(), ToolPolicy { is_exclusive: true, ..ToolPolicy::default() })
}

fn check_calls(mut case: BatchCase, dropped_after: Duration, keep: usize) -> Result<(), TestCaseError> {
    // The call at the end must pass the guards, to show that nothing waits.
    case.calls_max = None;
    let limits = run_limits(None, &case.caps);
    let policies: Policies = case.policies.clone().into_iter().chain([last()]).collect();
    let setup = setup(&case).with_tool(PlayedTool::new(last().1.spec("last"), Script::default()));
    let ran = simulated::run(setup, |executor| async move {
        let executor = executor.in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
        let env = executor.env().clone();
        let calls = calls(&case).into_iter().enumerate().map(|(index, call)| {
            let limit = if index % 3 < keep { Duration::MAX } else { dropped_after };
            env.timeout(limit, executor.run_call(call))
        });
        let ended: Vec<_> = join_all(calls).await;
        let quiet_since = env.now();
        env.sleep(Duration::from_secs(1_000_000)).await;
        let last = executor.run_call(ToolCall::new("last", json!({})).with_id("last")).await.unwrap();
        (ended.into_iter().map(|ended| ended.is_err()).collect::<Vec<_>>(), quiet_since, last.duration)
    })?;
    let (dropped, quiet_since, last_took) = &ran.output;

    ran.check(&policies, &limits)?;
    prop_assert_eq!(*last_took, Duration::ZERO, "the run is free");
    let mut open: Vec<_> = open_calls(&ran.events).iter().map(|timeline| timeline.call_id.to_string()).collect();
    open.sort();
    let mut expected: Vec<_> =
        dropped.iter().enumerate().filter(|(_, is_dropped)| **is_dropped).map(|(index, _)| call_id(index)).collect();
    expected.sort();
    prop_assert_eq!(open, expected, "exactly the dropped calls have no end");
    for timeline in CallTimeline::all(&ran.events).iter().filter(|timeline| *timeline.call_id != *"last") {
        let limit = if timeline.end == TimelineEnd::Open { dropped_after } else { *quiet_since };
        prop_assert!(timeline.last.at <= limit, "{} went on until {:?}", timeline.call_id, timeline.last.at);
    }
    Ok(())
}

async fn run_all(executor: Executor, calls: Vec<ToolCall>) -> Vec<ToolResult> {
    executor.run_many(calls).await.unwrap()
}

/// A scope is dropped on its way. Another one with the same run then begins anew: it finds no guards, locks or caps taken.
fn check_scope(case: &BatchCase, dropped_after: Duration) -> Result<(), TestCaseError> {
    let ran = simulated::run(setup(case), |executor| async move {
        let context = CallContext { run_id: "run".to_owned(), ..CallContext::default() };
        let env = executor.env().clone();
        let first = executor.run_scope(context.clone(), |executor| run_all(executor, calls(case)));
        let first = env.timeout(dropped_after, first).await;
        // Under other ids: as repeats the calls would pass guards that have counted them.
        let again = calls(case).into_iter().map(|call| ToolCall { id: format!("again-{}", call.id), ..call });
        (first.is_ok(), executor.run_scope(context, |executor| run_all(executor, again.collect())).await)
    })?;
    order(&ran.events)?;
    nothing_follows_a_run(&ran.events)?;
    one_entry_per_finished_call(&ran.events, &ran.entries)?;
    let (first_ended, second) = &ran.output;
    prop_assert!(*first_ended || ran.events.iter().any(|event| event.at == dropped_after));
    let of_type = |name| ran.events.iter().filter(|event| event.kind.name() == name).count();
    prop_assert_eq!((of_type("run.started"), of_type("run.finished")), (2, 2));
    let seen: Vec<_> =
        second.iter().map(|result| (result.error_kind().map(ErrorKind::as_str), result.duration)).collect();
    let predicted = BatchPrediction::of(case).results;
    let predicted: Vec<_> = predicted.into_iter().map(|result| (result.error, result.finishes)).collect();
    prop_assert_eq!(seen, predicted);
    Ok(())
}

proptest! {
    #![proptest_config(family!("dropped"))]

    #[test]
    fn dropped_calls_stop_and_let_others_go_on(case in batch_cases(), after in durations(), keep in 0_usize..=3) {
        check_calls(case, after, keep)?;
    }

    #[test]
    fn a_dropped_scope_ends_its_run(case in batch_cases(), after in durations()) {
        check_scope(&case, after)?;
    }
}
