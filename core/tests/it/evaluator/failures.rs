//! Failures of tools: kinds, retries (V7), siblings (V8).

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::evaluator::{
    ErrorKind, Evaluator, ExecutionPolicy, ParallelFailures, ToolDefinition, ToolFailure,
};

use super::toolbox::{Toolbox, function, parallel, parse, retrying, single, value};
use crate::rig::{env, ms};

fn collect() -> ExecutionPolicy {
    ExecutionPolicy { parallel_failures: ParallelFailures::Collect, ..ExecutionPolicy::default() }
}

#[tokio::test]
async fn each_failure_has_its_kind_and_says_no_secret() {
    let toolbox = || {
        Toolbox::default()
            .tool("fail", &[], Duration::ZERO, |_, _| Err(ToolFailure::execution("no such city")))
            .tool("late", &[], Duration::ZERO, |_, _| Err(ToolFailure::timeout()))
            .tool("odd", &[], Duration::ZERO, |_, _| Err(ToolFailure::unclassified("password=hunter2")))
            .tool("panic", &[], Duration::ZERO, |_, _| panic!("password=hunter2"))
    };
    for (tool, kind, message) in [
        ("fail", ErrorKind::ToolExecution, r#"tool "fail": no such city"#),
        ("late", ErrorKind::Timeout, r#"tool "late": it ran out of time"#),
        ("odd", ErrorKind::Unclassified, r#"tool "odd": it failed with an error that nothing classifies"#),
        ("panic", ErrorKind::Unclassified, r#"tool "panic": it failed with an error that nothing classifies"#),
        ("none", ErrorKind::ToolNotFound, r#"tool "none": there is no such tool"#),
    ] {
        let error = toolbox().evaluate(single(function(tool, &[]))).await.into_value().unwrap_err();
        assert_eq!((error.kind(), &*error.to_string()), (Some(kind), message));
    }
}

#[tokio::test]
async fn arguments_must_fit_the_tool() {
    // V5
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]});
    let forecast = Arc::new(ToolDefinition::with_input_schema("forecast", "", &schema).unwrap());
    let toolbox =
        || Toolbox::arithmetic().with(Arc::clone(&forecast), Duration::ZERO, |arguments, _| Ok(arguments.clone()));
    let check = async |name: &str, given: &[serde_json::Value], expected: Result<serde_json::Value, &str>| {
        let result = toolbox().evaluate(single(function(name, given))).await.into_value();
        match (result, expected) {
            (Ok(value), expected) => assert_eq!(Ok(value), expected),
            (Err(error), Err(message)) => {
                assert_eq!((error.kind(), &*error.to_string()), (Some(ErrorKind::AstValidation), message));
            }
            (Err(error), Ok(_)) => panic!("{error}"),
        }
    };
    check("forecast", &[value(json!("Oslo"))], Ok(json!({"city": "Oslo"}))).await;
    check("forecast", &[value(json!("Oslo")), value(json!(2))], Ok(json!({"city": "Oslo", "days": 2}))).await;
    let missing = r#"$.body[0]: tool "forecast" does not take these arguments: $: "city" is a required property"#;
    check("forecast", &[], Err(missing)).await;
    let wrong = r#"$.body[0]: tool "forecast" does not take these arguments: $.days: value is not of type "integer""#;
    check("forecast", &[value(json!("Oslo")), value(json!("secret"))], Err(wrong)).await;
    let three = [value(json!("Oslo")), value(json!(2)), value(json!(3))];
    check("forecast", &three, Err(r#"$.body[0]: tool "forecast" takes at most 2 parameters, and is given 3"#)).await;
    let add = r#"$.body[0]: tool "add" takes 2 parameters, and is given 1"#;
    check("add", &[value(json!(1))], Err(add)).await;
}

#[tokio::test(start_paused = true)]
async fn attempts_wait_the_same_time_and_have_the_same_arguments() {
    // V7
    let toolbox = Toolbox::default().tool("flaky", &["n"], Duration::ZERO, |arguments, attempt| {
        if attempt < 3 { Err(ToolFailure::timeout()) } else { Ok(arguments["n"].clone()) }
    });
    let policy = ExecutionPolicy { retry: retrying("flaky", 3, ms(250)), ..ExecutionPolicy::default() };
    let clock = env();
    let evaluation = toolbox.under(single(function("flaky", &[value(json!(5))])), policy).await;
    assert_eq!(evaluation.consumption.tool_calls, 3);
    assert_eq!(evaluation.into_value().unwrap(), json!(5));
    assert_eq!(toolbox.calls(), [r#"flaky {"n":5}"#; 3]);
    assert_eq!(clock.now().as_millis(), 500);
}

#[tokio::test]
async fn a_tool_that_is_not_idempotent_is_called_once() {
    // V7
    let toolbox = Toolbox::default().tool("pay", &[], Duration::ZERO, |_, _| Err(ToolFailure::timeout()));
    let policy = ExecutionPolicy { retry: retrying("fetch", 5, Duration::ZERO), ..ExecutionPolicy::default() };
    let evaluation = toolbox.under(single(function("pay", &[])), policy).await;
    assert_eq!(evaluation.into_value().unwrap_err().kind(), Some(ErrorKind::Timeout));
    assert_eq!(toolbox.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_ends_its_siblings() {
    // V8
    let toolbox =
        Toolbox::default()
            .tool("slow", &[], ms(1_000), |_, _| Ok(json!(1)))
            .tool("bad", &[], ms(10), |_, _| Err(ToolFailure::execution("no")));
    let program = parallel(&[function("slow", &[]), function("bad", &[]), function("slow", &[])]);
    let evaluation = toolbox.evaluate(program).await;
    assert_eq!(toolbox.running(), 0, "nothing runs once the evaluation has returned");
    assert_eq!(evaluation.into_value().unwrap_err().kind(), Some(ErrorKind::ToolExecution));
    env().sleep(ms(10_000)).await;
    assert_eq!(toolbox.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_fails_ends_what_it_began_and_nothing_else() {
    // V8
    let toolbox =
        Toolbox::arithmetic()
            .tool("slow", &[], ms(1_000), |_, _| Ok(json!(1)))
            .tool("bad", &[], ms(10), |_, _| Err(ToolFailure::execution("no")));
    let failing = function("add", &[function("slow", &[]), function("bad", &[])]);
    let lasting = function("echo", &[function("slow", &[])]);
    let evaluation = toolbox.under(parallel(&[failing, lasting, value(json!(3))]), collect()).await;
    assert_eq!(
        evaluation.into_value().unwrap(),
        json!([
            {"success": false, "error": "tool-execution", "message": "tool \"bad\": no"},
            {"success": true, "value": 1},
            {"success": true, "value": 3},
        ])
    );
    assert_eq!(toolbox.peak(), 3);
    assert_eq!(toolbox.calls().iter().filter(|call| call.starts_with("add")).count(), 0);
}

#[tokio::test]
async fn a_loop_without_an_end_does_not_keep_its_siblings_from_their_turn() {
    // V8
    let toolbox = Toolbox::default().tool("bad", &[], Duration::ZERO, |_, _| Err(ToolFailure::execution("no")));
    let program = json!({
        "schema_version": "2.0", "mode": "parallel",
        "definitions": [{"name": "f", "body": {"type": "call", "function": "f"}}],
        "body": [{"type": "call", "function": "f"}, {"type": "tool_call", "tool": "bad"}],
    });
    let evaluation = crate::rig::finish_within(1_000, toolbox.evaluate(program)).unwrap();
    assert_eq!(evaluation.into_value().unwrap_err().kind(), Some(ErrorKind::ToolExecution));
}

#[tokio::test]
async fn failures_are_collected_in_parallel_programs_only() {
    // V8
    let evaluation = Toolbox::arithmetic().under(single(value(json!(1))), collect()).await;
    assert_eq!(evaluation.consumption.nodes, 1);
    let error = evaluation.into_value().unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::InvalidPolicy));
    assert_eq!(error.to_string(), "$: failures can only be collected in a program of mode \"parallel\"");
}

#[tokio::test(start_paused = true)]
async fn siblings_come_to_the_same_in_any_order() {
    let toolbox = || Toolbox::arithmetic().tool("slow", &["n"], ms(5), |arguments, _| Ok(arguments["n"].clone()));
    let branch = |n: i64| function("add", &[function("slow", &[value(json!(n))]), value(json!(100))]);
    let program = parse(parallel(&[branch(1), branch(2), branch(3)]));
    for seed in 0..20_u64 {
        let random = std::sync::atomic::AtomicU64::new(seed);
        let draw = move || (random.fetch_add(7, std::sync::atomic::Ordering::Relaxed) % 10) as f64 / 10.0;
        let evaluator = Evaluator::new(toolbox()).env(env().with_rng(draw)).shuffle_siblings();
        assert_eq!(evaluator.evaluate(&program).await.into_value().unwrap(), json!([101, 102, 103]));
    }
}
