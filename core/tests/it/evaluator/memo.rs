//! Memo values.

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::evaluator::{ErrorKind, ExecutionPolicy, ParallelFailures, ToolFailure};

use super::toolbox::{Toolbox, call, recursive};
use crate::rig::ms;

fn memo(key: &str, tool: &str) -> Value {
    json!({"type": "memo", "key": key, "expression": {"type": "tool_call", "tool": tool, "arguments": {}}})
}

fn parallel_memos(count: usize) -> Value {
    json!({"type": "program", "schema_version": "2.0", "mode": "parallel", "body": vec![memo("k", "slow"); count]})
}

fn collect() -> ExecutionPolicy {
    ExecutionPolicy { parallel_failures: ParallelFailures::Collect, ..ExecutionPolicy::default() }
}

#[tokio::test(start_paused = true)]
async fn branches_share_one_evaluation() {
    let toolbox = Toolbox::default().tool("slow", &[], ms(10), |_, _| Ok(json!(7)));
    let evaluation = toolbox.evaluate(parallel_memos(3)).await;
    assert_eq!(evaluation.consumption.nodes, 1 + 3 + 1);
    assert_eq!(evaluation.into_value().unwrap(), json!([7, 7, 7]));
    assert_eq!(toolbox.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn evaluations_share_nothing() {
    // V3
    let toolbox = Toolbox::default().tool("slow", &[], Duration::ZERO, |_, _| Ok(json!(7)));
    toolbox.evaluate(parallel_memos(2)).await.into_value().unwrap();
    toolbox.evaluate(parallel_memos(2)).await.into_value().unwrap();
    assert_eq!(toolbox.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_the_next_that_waits_evaluates_it() {
    let times = std::sync::atomic::AtomicU32::new(0);
    let toolbox = Toolbox::default().tool("slow", &[], ms(10), move |_, _| {
        let time = times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if time == 0 { Err(ToolFailure::execution("at first")) } else { Ok(json!(time)) }
    });
    let outcomes = toolbox.under(parallel_memos(3), collect()).await.into_value().unwrap();
    assert_eq!(outcomes[0]["error"], "tool-execution");
    assert_eq!((&outcomes[1]["value"], &outcomes[2]["value"]), (&json!(1), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_value_that_needs_itself_is_refused() {
    let endless = json!({"type": "memo", "key": "k", "expression": call("f", &[])});
    let program = recursive(json!([{"name": "f", "body": endless}]), call("f", &[]));
    let error = Toolbox::default().evaluate(program).await.into_value().unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::AstValidation));
    assert_eq!(error.to_string(), "$.definitions[0].body: the value of memo key \"k\" needs itself");
}

#[tokio::test(start_paused = true)]
async fn values_that_need_each_other_are_refused() {
    // Each branch holds one key and waits for the other's.
    let crossing = |key: &str, other: &str| {
        let expression = json!({"type": "conditional",
            "condition": {"type": "tool_call", "tool": "slow", "arguments": {}},
            "true_branch": call(other, &[]), "false_branch": call(other, &[]),
        });
        json!({"name": key, "body": {"type": "memo", "key": key, "expression": expression}})
    };
    let program = json!({
        "schema_version": "2.0", "mode": "parallel",
        "definitions": [crossing("a", "b"), crossing("b", "a")],
        "body": [call("a", &[]), call("b", &[])],
    });
    let toolbox = Toolbox::default().tool("slow", &[], ms(10), |_, _| Ok(json!(true)));
    let error = toolbox.evaluate(program).await.into_value().unwrap_err();
    assert!(error.to_string().ends_with("needs itself"), "{error}");
}
