//! Limits (V6), at the value and one below.

use std::num::NonZeroU64;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::evaluator::{ErrorKind, ExecutionLimits, ExecutionPolicy, ToolFailure};

use super::toolbox::{Toolbox, call, function, literal, named, parallel, parse, recursive, retrying, single, value};
use crate::rig::{env, ms};

async fn check(program: Value, exact: u64, limits: fn(Option<NonZeroU64>) -> ExecutionLimits, resource: &str) {
    let toolbox = Toolbox::arithmetic();
    let evaluate = |max: u64| toolbox.limited(program.clone(), limits(NonZeroU64::new(max)));
    evaluate(exact).await.into_value().unwrap();
    let error = evaluate(exact - 1).await.into_value().unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::ExecutionLimit));
    let limit = error.limit().unwrap();
    assert_eq!((limit.resource.as_str(), limit.limit.as_u64()), (resource, Some(exact - 1)));
}

fn none() -> ExecutionLimits {
    ExecutionLimits::default()
}

#[tokio::test]
async fn maxima_are_inclusive() {
    let sum = || function("add", &[function("add", &[value(json!(1)), value(json!(2))]), value(json!(3))]);
    check(single(sum()), 6, |max| ExecutionLimits { max_nodes: max, ..none() }, "nodes").await;
    check(single(sum()), 4, |max| ExecutionLimits { max_depth: max, ..none() }, "depth").await;
    check(single(sum()), 2, |max| ExecutionLimits { max_tool_calls: max, ..none() }, "tool_calls").await;
    let nested = |function: &str| call(function, &[]);
    let definitions = json!([{"name": "a", "body": nested("b")}, {"name": "b", "body": nested("c")}, {"name": "c", "body": literal(json!(1))}]);
    let limits = |max| ExecutionLimits { max_call_depth: max, ..none() };
    check(recursive(definitions, nested("a")), 3, limits, "call_depth").await;
}

#[tokio::test]
async fn a_large_value_that_is_named_often_is_copied_within_a_limit() {
    let large = named("v", json!("x".repeat(100_000)));
    let program = parallel(&vec![large; 5_000]);
    let copied =
        Toolbox::default().evaluate(parallel(&vec![value(json!("x".repeat(1_000))); 3])).await.consumption.bytes;
    assert!((3_000..4_000).contains(&copied), "{copied}");
    let limits = ExecutionLimits { max_bytes: NonZeroU64::new(1_000_000), ..none() };
    let error = Toolbox::default().limited(program, limits).await.into_value().unwrap_err();
    assert_eq!(error.to_string(), "the limit of 1000000 bytes is crossed");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_refused_is_not_made() {
    // V7
    let toolbox = Toolbox::default().tool("flaky", &[], Duration::ZERO, |_, _| Err(ToolFailure::timeout()));
    let limits = ExecutionLimits { max_tool_calls: NonZeroU64::new(2), ..none() };
    let policy = ExecutionPolicy { retry: retrying("flaky", 9, ms(1)), ..ExecutionPolicy::default() };
    let program = parse(single(function("flaky", &[])));
    let evaluation = toolbox.evaluator().limits(limits).policy(policy).evaluate(&program).await;
    assert_eq!(evaluation.consumption.tool_calls, 3);
    assert_eq!(evaluation.into_value().unwrap_err().kind(), Some(ErrorKind::ExecutionLimit));
    assert_eq!(toolbox.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_expressions_run_at_once_and_what_is_in_them_runs_in_turn() {
    let toolbox = || Toolbox::arithmetic().tool("slow", &[], ms(10), |_, _| Ok(json!(1)));
    let branch = || function("add", &[function("slow", &[]), function("slow", &[])]);
    let program = parallel(&[branch(), branch(), branch(), branch()]);
    for (max, peak, elapsed) in [(1, 1, 80), (2, 2, 40), (3, 3, 40), (4, 4, 20), (9, 4, 20)] {
        let toolbox = toolbox();
        let limits = ExecutionLimits { max_concurrency: NonZeroU64::new(max), ..none() };
        let clock = env();
        let evaluation = toolbox.limited(program.clone(), limits).await;
        assert_eq!(evaluation.consumption.peak_concurrency, peak, "at most {max}");
        assert_eq!(evaluation.into_value().unwrap(), json!([2, 2, 2, 2]));
        assert_eq!(toolbox.peak() as u64, peak, "at most {max}");
        assert_eq!(clock.now().as_millis(), elapsed, "at most {max}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_tools_and_pauses() {
    let timeout = |milliseconds| ExecutionLimits { timeout: Some(ms(milliseconds)), ..none() };
    let slow = Toolbox::default().tool("slow", &[], ms(100), |_, _| Ok(json!(1)));
    let error = slow.limited(single(function("slow", &[])), timeout(50)).await.into_value().unwrap_err();
    assert_eq!(error.to_string(), "the limit of 0.05 wall_clock_seconds is crossed");
    assert_eq!(slow.running(), 0);

    let failing = Toolbox::default().tool("flaky", &[], Duration::ZERO, |_, _| Err(ToolFailure::timeout()));
    let policy = ExecutionPolicy { retry: retrying("flaky", 3, ms(1_000)), ..ExecutionPolicy::default() };
    let evaluator = failing.evaluator().limits(timeout(50)).policy(policy);
    let error = evaluator.evaluate(&parse(single(function("flaky", &[])))).await.into_value().unwrap_err();
    assert_eq!(error.limit().unwrap().resource.as_str(), "wall_clock_seconds");
    assert_eq!(failing.calls().len(), 1);
}

#[tokio::test]
async fn a_loop_without_tools_sees_its_deadline() {
    // V10: in real time, since nothing here waits.
    let endless = recursive(json!([{"name": "f", "body": call("f", &[])}]), call("f", &[]));
    let limits = ExecutionLimits { timeout: Some(ms(20)), ..none() };
    let evaluation = Toolbox::default().limited(endless, limits).await;
    assert_eq!(evaluation.into_value().unwrap_err().limit().unwrap().resource.as_str(), "wall_clock_seconds");
}

#[tokio::test]
async fn a_loop_without_tools_can_be_cancelled() {
    // V10
    let endless = recursive(json!([{"name": "f", "body": call("f", &[])}]), call("f", &[]));
    let toolbox = Toolbox::default();
    assert!(crate::rig::finish_within(100, toolbox.evaluate(endless)).is_none());
}
