//! The executor as a provider: its policies apply underneath.

use serde_json::json;
use windtunnel_core::BoxError;
use windtunnel_core::evaluator::{ErrorKind, ExecutionPolicy};
use windtunnel_core::executor::RunLimits;
use windtunnel_core::tool::{Cancelled, ToolError};

use super::toolbox::{function, parallel, parse, retrying, single};
use crate::rig::{Notes, Rig, in_run, ms, noted_echo, tool};

#[tokio::test]
async fn each_kind_of_the_executors_errors_has_one_of_the_evaluators() {
    let rig = Rig::with(
        [
            tool("refuses", |_, _| async { Err(ToolError::new("no such city").into()) }),
            tool("breaks", |_, _| async { Err(BoxError::from("password=hunter2")) }),
            tool("hangs", |_, _| std::future::pending()).timeout(ms(5)),
            tool("asks", |_, _| async { Ok(json!(1)) }).confirm(),
        ],
        |builder| builder,
    );
    for (name, kind, message) in [
        ("refuses", ErrorKind::ToolExecution, "no such city"),
        ("breaks", ErrorKind::ToolExecution, "tool \"breaks\" failed after 1 attempt"),
        ("hangs", ErrorKind::Timeout, "it ran out of time"),
        ("asks", ErrorKind::Unclassified, "approval-denied: no approval port configured"),
        ("none", ErrorKind::ToolNotFound, "there is no such tool"),
    ] {
        let program = parse(single(function(name, &[])));
        let error = rig.executor.evaluator().evaluate(&program).await.into_value().unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (Some(kind), format!("tool {name:?}: {message}")));
    }
}

#[tokio::test]
async fn an_evaluation_is_one_run_and_attempts_of_one_call_count_once() {
    // E7
    let flaky = tool("flaky", |_, _| async { Err(BoxError::from("reset")) });
    let notes = Notes::default();
    let rig = Rig::with([flaky, noted_echo("echo", &notes).once_per_run()], |builder| {
        builder.run_limits(RunLimits { calls_max: Some(3), ..RunLimits::default() })
    });
    let policy = ExecutionPolicy { retry: retrying("flaky", 5, ms(0)), ..ExecutionPolicy::default() };
    let evaluator = rig.executor.evaluator().policy(policy);
    let evaluation = evaluator.evaluate(&parse(single(function("flaky", &[])))).await;
    assert_eq!(evaluation.consumption.tool_calls, 5);
    assert_eq!(evaluation.into_value().unwrap_err().kind(), Some(ErrorKind::ToolExecution));

    let twice = parse(parallel(&[function("echo", &[]), function("echo", &[])]));
    let refused = rig.executor.evaluator().evaluate(&twice).await.into_value().unwrap_err();
    assert!(refused.to_string().contains("once-per-run"), "{refused}");
    // The next evaluation is another run.
    rig.executor.evaluator().evaluate(&parse(single(function("echo", &[])))).await.into_value().unwrap();
}

#[tokio::test]
async fn an_executor_that_is_in_a_run_stays_in_it() {
    let notes = Notes::default();
    let rig = Rig::new([noted_echo("echo", &notes).once_per_run()]);
    let executor = in_run(&rig.executor, "run-a");
    let program = parse(single(function("echo", &[])));
    executor.evaluator().evaluate(&program).await.into_value().unwrap();
    executor.evaluator().evaluate(&program).await.into_value().unwrap_err();
    assert!(rig.log.events().iter().all(|event| &*event.run_id == "run-a"));
}

#[tokio::test]
async fn control_flow_passes_and_is_never_collected() {
    // E3, V8
    let rig = Rig::new([tool("stop", |_, _| async { Err(Cancelled.into()) })]);
    let policy = ExecutionPolicy {
        parallel_failures: windtunnel_core::evaluator::ParallelFailures::Collect,
        retry: retrying("stop", 3, ms(0)),
    };
    let program = parse(parallel(&[function("stop", &[])]));
    let evaluation = rig.executor.evaluator().policy(policy).evaluate(&program).await;
    assert_eq!(evaluation.consumption.tool_calls, 1);
    assert_eq!(evaluation.into_value().unwrap_err().kind(), None);
}
