//! Control flow (E3): it propagates, and is neither retried, hooked, turned into a result nor recorded.

use std::error::Error;

use futures_util::TryStreamExt;
use serde_json::{Value, json};
use tokio_test::task::spawn;
use windtunnel_core::BoxError;
use windtunnel_core::executor::{ExecutorBuilder, LoopError, LoopOptions, Plan, PlanStep, RunError};
use windtunnel_core::model::{Message, ModelRequest};
use windtunnel_core::tool::{Cancelled, FunctionTool, Interrupted, ToolError};

use crate::ports::{Broken, BrokenAfter, BrokenBefore, Noting, Script};
use crate::probe::{self, assert_nothing_is_held};
use crate::rig::{Notes, Rig, call, echo, ms, slow_echo, tool};

/// A control-flow type of the application's own.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("hand over to {0}")]
struct HandOver(&'static str);

#[derive(Debug, thiserror::Error)]
#[error("while working")]
struct Wrapped(#[source] BoxError);

/// `work` fails with what `error` gives, and would be tried again.
fn failing(error: fn() -> BoxError) -> FunctionTool {
    tool("work", move |_, _| async move { Err(error()) }).retries(3).exclusive().kind("search")
}

/// Makes a call of `work` that control flow must pass through; no hook sees its end.
async fn interrupted(
    tools: impl IntoIterator<Item = FunctionTool>,
    set: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> (Rig, Interrupted) {
    let notes = Notes::default();
    let hook = Noting { name: "hook", notes: notes.clone() };
    let rig = probe::rig(tools, |builder| set(builder.hook(hook).control_flow::<HandOver>()));
    let error = rig.in_run(probe::RUN).run_call(call("a", "work")).await.unwrap_err();
    assert!(!notes.all().iter().any(|note| note.starts_with("hook after")));
    let events = rig.events();
    assert!(events.iter().all(|name| !["tool.finished", "tool.retry", "tool.pending"].contains(name)), "{events:?}");
    assert!(rig.ledger.entries().is_empty());
    (rig, error)
}

#[tokio::test(start_paused = true)]
async fn control_flow_passes_from_a_tool_however_deep_it_is_wrapped() {
    for error in [
        || BoxError::from(Cancelled),
        || Wrapped(Cancelled.into()).into(),
        || Wrapped(Wrapped(Cancelled.into()).into()).into(),
        || ToolError::new("no such card").with_source(Cancelled).into(),
        || ToolError::retryable("busy").with_source(Cancelled).into(),
    ] {
        let (rig, error) = interrupted([failing(error)], |builder| builder).await;
        assert!(error.downcast_ref::<Cancelled>().is_some());
        assert_eq!(rig.log.of_type("tool.attempt").len(), 1);
        assert_nothing_is_held(&rig, "after an interruption").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_registered_type_is_control_flow_and_comes_out_whole() {
    for error in [|| BoxError::from(HandOver("sales")), || Wrapped(HandOver("sales").into()).into()] {
        let (_, error) = interrupted([failing(error)], |builder| builder).await;
        assert_eq!(error.downcast_ref::<HandOver>(), Some(&HandOver("sales")));
        assert!(error.source().is_some());
        assert_eq!(error.to_string(), "the call was interrupted by control flow");
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_that_is_not_registered_is_an_error_like_any_other() {
    let rig = Rig::new([failing(|| HandOver("sales").into())]);
    let result = rig.executor.run_call(call("a", "work")).await.unwrap();
    assert_eq!((result.error_kind().unwrap().as_str(), result.attempts), ("tool-failed", 4));
}

#[tokio::test(start_paused = true)]
async fn control_flow_passes_from_hooks_and_the_reviewer() {
    let work = || echo("work").confirm_when(|call, _| call.name == "work");
    let (rig, _) = interrupted([work()], |builder| builder.approval(Broken::Cancelling)).await;
    assert_nothing_is_held(&rig, "after the reviewer").await;
    let (rig, _) = interrupted([echo("work")], |builder| builder.hook(BrokenBefore(Broken::Cancelling))).await;
    assert_eq!(rig.events(), ["tool.started"]);
    let (rig, _) = interrupted([echo("work")], |builder| builder.hook(BrokenAfter(Broken::Cancelling))).await;
    assert_eq!(rig.events(), ["tool.started", "tool.attempt"]);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_tool_may_interrupt_too() {
    let work = FunctionTool::blocking("work", "", |_: Value, _| Err::<Value, BoxError>(Cancelled.into())).retries(3);
    let (_, error) = interrupted([work], |builder| builder).await;
    assert!(error.downcast_ref::<Cancelled>().is_some());
}

#[tokio::test(start_paused = true)]
async fn ports_that_only_record_cannot_interrupt() {
    let rig = Rig::with([echo("work").cache(ms(1_000), windtunnel_core::tool::CacheScope::Run)], |builder| {
        builder.cache(Broken::Cancelling).ledger(Broken::Cancelling).sink(Broken::Cancelling)
    });
    assert_eq!(rig.executor.run("work", json!({})).await.unwrap(), json!({}));
}

#[tokio::test(start_paused = true)]
async fn control_flow_passes_through_the_calls_around_it() {
    let outer =
        || tool("work", |_, context| async move { Ok(context.executor().run("inner", json!({})).await?) }).retries(3);
    let inner = || tool("inner", |_, _| async { Err(HandOver("sales").into()) });
    let (rig, error) = interrupted([outer(), inner()], |builder| builder).await;
    assert_eq!(error.downcast_ref::<HandOver>(), Some(&HandOver("sales")));
    assert_eq!(rig.log.of_type("tool.attempt").len(), 2, "one of each tool");
    assert_nothing_is_held(&rig, "after a nested interruption").await;
}

#[tokio::test(start_paused = true)]
async fn run_tells_control_flow_from_errors() {
    let rig = Rig::new([failing(|| Cancelled.into())]);
    assert!(matches!(rig.executor.run("work", json!({})).await, Err(RunError::Interrupted(_))));
}

#[tokio::test(start_paused = true)]
async fn a_batch_breaks_off_and_drops_the_other_calls() {
    let tools = || {
        let work = tool("work", |_, context| async move {
            context.env().sleep(ms(10)).await;
            Err(Cancelled.into())
        });
        [work, slow_echo("slow", ms(1_000)).exclusive(), slow_echo("beside", ms(1_000)).kind("search")]
    };
    let batch = || [call("a", "work"), call("b", "beside"), call("c", "slow"), call("d", "slow")];

    let rig = probe::rig(tools(), |builder| builder);
    assert!(rig.in_run(probe::RUN).run_many(batch()).await.is_err());
    assert_eq!(rig.executor.env().now(), ms(10));
    assert!(rig.ledger.entries().is_empty());
    assert_nothing_is_held(&rig, "after a batch").await;

    let rig = probe::rig(tools(), |builder| builder);
    let plan = Plan::new(batch().map(|call| PlanStep::new(call.id.clone(), call))).unwrap();
    assert!(rig.in_run(probe::RUN).run_plan(&plan).await.is_err());
    assert_eq!(rig.executor.env().now(), ms(10));
    assert_nothing_is_held(&rig, "after a plan").await;

    let rig = probe::rig(tools(), |builder| builder);
    let request = ModelRequest { messages: vec![Message::tool_calls(batch().to_vec())], ..ModelRequest::default() };
    let looped = rig.in_run(probe::RUN).run_tool_loop(&Script::default(), request, &LoopOptions::default()).await;
    assert!(matches!(looped, Err(LoopError::Interrupted(_))));
    assert_nothing_is_held(&rig, "after a loop").await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_results_gives_the_interruption_and_goes_on() {
    let rig = Rig::new([failing(|| Cancelled.into()), slow_echo("slow", ms(10))]);
    let mut results = rig.executor.as_completed([call("a", "work"), call("b", "slow")]);
    assert!(results.try_next().await.is_err());
    assert_eq!(results.try_next().await.unwrap().unwrap().index, 1);
    assert!(spawn(results.try_next()).poll().is_ready());
}
