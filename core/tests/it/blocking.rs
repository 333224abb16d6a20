//! Tools that block their thread (E14).

use std::sync::mpsc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use windtunnel_core::BoxError;
use windtunnel_core::executor::ToolCall;
use windtunnel_core::tool::{FunctionTool, ToolError};

use crate::rig::{Notes, Rig, call, finish_within, ms, told};

#[tokio::test(start_paused = true)]
async fn a_blocking_tool_gives_its_value_or_its_error() {
    let work = FunctionTool::blocking("work", "", |arguments: Value, context| {
        if arguments["n"] == 1 { Ok(json!(context.call_id())) } else { Err(ToolError::new("only 1")) }
    });
    let rig = Rig::new([work]);
    let with = |n: i64| rig.executor.run_call(ToolCall::new("work", json!({ "n": n })).with_id("a"));
    assert_eq!(told(&with(1).await.unwrap()), r#"ok 1 "a""#);
    assert_eq!(told(&with(2).await.unwrap()), "tool-error 1 only 1");
}

#[tokio::test(start_paused = true)]
async fn a_blocking_tool_that_panics_is_tried_again() {
    let work = FunctionTool::blocking("work", "", |_: Value, context| {
        assert!(context.attempt() > 1, "first");
        Ok::<_, BoxError>(context.attempt())
    });
    let rig = Rig::with([work.retries(1)], |builder| {
        builder.env(crate::rig::env().with_sleep(|_: Duration| std::future::ready(())))
    });
    assert_eq!(told(&rig.executor.run_call(call("a", "work")).await.unwrap()), "ok 2 2");
}

#[tokio::test(start_paused = true)]
async fn a_blocking_tool_that_runs_out_of_time_goes_on_and_its_result_is_dropped() {
    let notes = Notes::default();
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let seen = notes.clone();
    let work = FunctionTool::blocking("work", "", move |_: Value, context| {
        // Held from before the test goes on to the end, so that the second call's note comes after the first's.
        let released = released.lock();
        begun.send(()).unwrap();
        released.recv().unwrap();
        seen.add(format!("late {}", context.attempt()));
        Ok::<_, BoxError>("late")
    });
    let rig = Rig::new([work.timeout(ms(2_000)).exclusive()]);
    let executor = rig.in_run("run-a");
    let mut running = tokio_test::task::spawn(executor.run_call(call("a", "work")));
    assert!(running.poll().is_pending());
    begins.recv().unwrap();
    // tokio's paused clock stands still while a blocking task runs, unless it is told.
    tokio::time::advance(ms(2_001)).await;
    let result = running.await.unwrap();
    assert_eq!(told(&result), r#"tool-timeout 1 tool "work" ran out of time; it made 1 attempt"#);
    assert!(notes.all().is_empty(), "the tool still blocks its thread");

    // The run is free meanwhile, and the late value reaches nobody.
    release.send(()).unwrap();
    release.send(()).unwrap();
    let next = executor.run_call(call("b", "work")).await.unwrap();
    assert_eq!(told(&next), r#"ok 1 "late""#);
    assert_eq!(notes.all().len(), 2);
    assert_eq!(rig.log.of_call("a").last().unwrap().data()["error"], "tool-timeout");
    assert_eq!(rig.ledger.entries().len(), 2);
}

#[test]
fn a_blocking_tool_whose_runtime_goes_away_has_failed() {
    let work = FunctionTool::blocking("work", "", |_: Value, _| Ok::<_, BoxError>("never"));
    let rig = Rig::new([work]);
    // The work goes to the runtime of whoever polls, which is gone already.
    let runtime = Builder::new_current_thread().build().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let _entered = handle.enter();
    let result = finish_within(1, rig.executor.run_call(call("a", "work"))).unwrap().unwrap();
    assert_eq!(told(&result), r#"tool-failed 1 tool "work" failed after 1 attempt"#);
}
