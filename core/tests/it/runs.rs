//! Runs (E9): where they begin, what ends them, and which are remembered.

use std::sync::Arc;

use futures_util::FutureExt;
use parking_lot::Mutex;
use serde_json::json;
use tokio_test::task::spawn;
use tokio_test::{assert_pending, assert_ready};
use windtunnel_core::event::{Event, EventLog};
use windtunnel_core::executor::{CallContext, Executor, Plan, PlanStep, ToolContext, ToolResult};
use windtunnel_core::tool::FunctionTool;

use crate::rig::{Rig, YieldingGate, call, echo, env, in_run, ms, slow_echo, tool, verdict, verdicts};

/// A tool that tells by its refusal whether the run remembers that it ran.
fn once() -> FunctionTool {
    echo("once").once_per_run()
}

/// Whether the run `run_id` still knows what it counted; the probe itself counts where it is not refused.
async fn is_remembered(executor: &Executor, run_id: &str) -> bool {
    let probe = in_run(executor, run_id).run_call(call("", "once")).await.unwrap();
    verdict(&probe) == "once-per-run"
}

fn run_ids<'a>(results: impl IntoIterator<Item = &'a ToolResult>) -> Vec<Arc<str>> {
    results.into_iter().map(|result| Arc::clone(&result.run_id)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_run_gets_a_fresh_one_that_ends_with_it() {
    let rig = Rig::new([once()]);
    for expected in ["run-1", "run-2"] {
        let result = rig.executor.run_call(call("a", "once")).await.unwrap();
        assert_eq!((&*result.run_id, result.status()), (expected, "ok"));
        assert!(!is_remembered(&rig.executor, expected).await);
    }
    assert!(rig.log.of_type("run.started").is_empty(), "only a scope announces its run");
}

#[tokio::test(start_paused = true)]
async fn a_batch_without_a_run_shares_a_fresh_one() {
    let rig = Rig::new([once()]);
    let results = rig.executor.run_many([call("a", "once"), call("b", "once")]).await.unwrap();
    assert_eq!(verdicts(&results), ["ok", "once-per-run"]);
    assert_eq!(run_ids(&results), ["run-1".into(), "run-1".into()]);
    assert!(!is_remembered(&rig.executor, "run-1").await);
    let plan = Plan::new(["a", "b"].map(|id| PlanStep::new(id, call(id, "once")))).unwrap();
    let steps = rig.executor.run_plan(&plan).await.unwrap();
    let results: Vec<_> = steps.iter().filter_map(|step| step.outcome.result()).collect();
    assert_eq!(verdicts(results), ["ok", "once-per-run"]);
    assert!(!is_remembered(&rig.executor, "run-2").await);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_are_in_the_run_of_their_parent() {
    let outer = tool("outer", |_, context| async move {
        let nested = context.executor().run_call(call("b", "once")).await?;
        Ok(json!([context.run_id(), &*nested.run_id]))
    });
    let rig = Rig::new([outer, once()]);
    assert_eq!(rig.executor.run("outer", json!({})).await.unwrap(), json!(["run-1", "run-1"]));
    assert!(!is_remembered(&rig.executor, "run-1").await);
}

#[tokio::test(start_paused = true)]
async fn an_idempotency_key_is_for_one_call_and_none_in_it_or_beside_it() {
    let key_of = |context: &ToolContext| json!(context.idempotency_key());
    let inner = tool("inner", move |_, context| async move { Ok(key_of(&context)) });
    let outer = tool("outer", move |_, context| async move {
        let nested = context.executor().run("inner", json!({})).await?;
        Ok(json!([key_of(&context), nested]))
    });
    let keyed = Rig::new([inner, outer]).executor.with_idempotency_key(Some("key".into()));
    assert_eq!(keyed.run("outer", json!({})).await.unwrap(), json!(["key", null]));
    let beside = keyed.in_context(CallContext::default());
    assert_eq!(beside.run("inner", json!({})).await.unwrap(), json!(null));
}

#[tokio::test(start_paused = true)]
async fn ending_a_run_forgets_what_it_counted() {
    let rig = Rig::new([once()]);
    assert!(!is_remembered(&rig.executor, "run-a").await);
    assert!(is_remembered(&rig.executor, "run-a").await);
    rig.executor.end_run("run-b");
    assert!(is_remembered(&rig.executor, "run-a").await);
    rig.executor.end_run("run-a");
    assert!(!is_remembered(&rig.executor, "run-a").await);
}

#[tokio::test(start_paused = true)]
async fn ending_a_run_frees_the_next_calls_from_its_locks() {
    let rig = Rig::new([slow_echo("slow", ms(1_000)).exclusive(), echo("read")]);
    let executor = rig.in_run("run-a");
    let mut old = spawn(executor.run_call(call("a", "slow")));
    assert_pending!(old.poll());
    assert_pending!(spawn(executor.run_call(call("b", "read"))).poll());
    executor.end_run("run-a");
    assert_eq!(assert_ready!(spawn(executor.run_call(call("c", "read"))).poll()).unwrap().status(), "ok");
    assert_eq!(old.await.unwrap().status(), "ok");
}

#[tokio::test(start_paused = true)]
async fn the_runs_unused_for_longest_are_forgotten() {
    let rig = Rig::with([once(), echo("read")], |builder| builder.runs_tracked_max(2));
    for run_id in ["run-a", "run-b"] {
        assert!(!is_remembered(&rig.executor, run_id).await);
    }
    rig.in_run("run-a").run_call(call("a", "read")).await.unwrap();
    rig.in_run("run-c").run_call(call("a", "read")).await.unwrap();
    assert!(is_remembered(&rig.executor, "run-a").await);
    assert!(!is_remembered(&rig.executor, "run-b").await);
}

#[tokio::test(start_paused = true)]
async fn a_run_with_a_call_in_flight_is_not_forgotten() {
    let rig = Rig::with([once(), slow_echo("slow", ms(1_000)), echo("read")], |builder| builder.runs_tracked_max(1));
    let busy = rig.in_run("run-a");
    assert!(!is_remembered(&rig.executor, "run-a").await);
    let mut slow = spawn(busy.run_call(call("a", "slow")));
    assert_pending!(slow.poll());
    for run_id in ["run-b", "run-c", "run-d"] {
        rig.in_run(run_id).run_call(call("a", "read")).await.unwrap();
    }
    assert!(is_remembered(&rig.executor, "run-a").await);
    slow.await.unwrap();
    rig.in_run("run-e").run_call(call("a", "read")).await.unwrap();
    assert!(!is_remembered(&rig.executor, "run-a").await);
}

/// The events that are about runs, and which run.
fn run_events(log: &EventLog) -> Vec<String> {
    let of_run = |event: &Event| event.kind.name().starts_with("run.");
    log.matching(of_run).iter().map(|event| format!("{} {}", event.kind.name(), event.run_id)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_scope_announces_its_run_and_ends_it() {
    let rig = Rig::new([once()]);
    let context = CallContext { thread_id: Some("chat-42".to_owned()), ..CallContext::default() };
    let results = rig
        .executor
        .run_scope(context, async |executor: Executor| {
            assert_eq!(executor.context().thread_id.as_deref(), Some("chat-42"));
            let first = executor.run_call(call("a", "once")).await.unwrap();
            let second = executor.run_call(call("b", "once")).await.unwrap();
            [first, second]
        })
        .await;
    assert_eq!(verdicts(&results), ["ok", "once-per-run"]);
    assert_eq!(run_ids(&results), ["run-1".into(), "run-1".into()]);
    let events = rig.events();
    assert_eq!((events[0], *events.last().unwrap()), ("run.started", "run.finished"));
    assert_eq!(run_events(&rig.log), ["run.started run-1", "run.finished run-1"]);
    assert!(!is_remembered(&rig.executor, "run-1").await);
}

#[tokio::test(start_paused = true)]
async fn a_scope_may_take_over_a_run() {
    let rig = Rig::new([once()]);
    assert!(!is_remembered(&rig.executor, "run-a").await);
    let context = CallContext { run_id: "run-a".to_owned(), ..CallContext::default() };
    let scope = rig.executor.run_scope(context, async |executor: Executor| is_remembered(&executor, "run-a").await);
    assert!(scope.await);
    assert_eq!(run_events(&rig.log), ["run.started run-a", "run.finished run-a"]);
    assert!(!is_remembered(&rig.executor, "run-a").await);
}

#[tokio::test(start_paused = true)]
async fn a_scope_in_a_tool_belongs_to_the_call_around_it() {
    let outer = tool("outer", |_, context| async move {
        let executor = context.executor();
        let scope = executor
            .run_scope(CallContext::default(), |executor| async move { executor.run_call(call("b", "once")).await });
        Ok(json!(&*scope.await?.run_id))
    });
    let rig = Rig::new([outer, once()]);
    let result = rig.executor.run_call(call("a", "outer")).await.unwrap();
    assert_eq!((&*result.run_id, result.value()), ("run-1", Some(&json!("run-2"))));
    assert_eq!(rig.log.of_type("run.started")[0].parent_id.as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn a_scope_that_is_dropped_half_way_says_that_its_run_finished() {
    let rig = Rig::new([once(), slow_echo("slow", ms(1_000))]);
    let context = CallContext { run_id: "run-a".to_owned(), ..CallContext::default() };
    let mut scope = spawn(rig.executor.run_scope(context, |executor| async move {
        executor.run_call(call("a", "once")).await.unwrap();
        executor.run_call(call("b", "slow")).await.unwrap();
    }));
    assert_pending!(scope.poll());
    assert_eq!(run_events(&rig.log), ["run.started run-a"]);
    drop(scope);
    assert_eq!(run_events(&rig.log), ["run.started run-a", "run.finished run-a"]);
    assert_eq!(rig.events().last(), Some(&"run.finished"));
    assert!(!is_remembered(&rig.executor, "run-a").await);
}

#[tokio::test(start_paused = true)]
async fn a_scope_that_is_never_polled_says_nothing() {
    let rig = Rig::new([once()]);
    drop(rig.executor.run_scope(CallContext::default(), async |_| ()));
    assert!(rig.log.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_scope_that_is_dropped_at_any_point_pairs_its_events() {
    for polls in 1.. {
        let rig = Rig::with([once()], |builder| builder.env(env().with_gate(YieldingGate)));
        let context = CallContext { run_id: "run-a".to_owned(), ..CallContext::default() };
        let mut scope = spawn(rig.executor.run_scope(context, |executor| async move {
            executor.run_call(call("a", "once")).await.unwrap();
        }));
        let is_done = (0..polls).any(|_| scope.poll().is_ready());
        drop(scope);
        assert_eq!(run_events(&rig.log), ["run.started run-a", "run.finished run-a"], "after {polls} polls");
        assert!(!is_remembered(&rig.executor, "run-a").await, "after {polls} polls");
        if is_done {
            assert!(polls > 3, "the gate made the scope wait at its events");
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_scope_whose_body_panics_ends_its_run() {
    let rig = Rig::new([once()]);
    let context = CallContext { run_id: "run-a".to_owned(), ..CallContext::default() };
    let scope = rig.executor.run_scope(context, |executor| async move {
        executor.run_call(call("a", "once")).await.unwrap();
        panic!("in the body");
    });
    assert!(std::panic::AssertUnwindSafe(scope).catch_unwind().await.is_err());
    assert_eq!(run_events(&rig.log), ["run.started run-a", "run.finished run-a"]);
    assert!(!is_remembered(&rig.executor, "run-a").await);
}

#[tokio::test(start_paused = true)]
async fn a_context_that_outlives_its_fresh_run_keeps_working() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let outer = tool("outer", move |_, context| {
        *keep.lock() = Some(context);
        async { Ok(json!(null)) }
    });
    let rig = Rig::new([outer, echo("read")]);
    rig.executor.run("outer", json!({})).await.unwrap();
    let context = kept.lock().take().unwrap();
    let late = context.executor().run_call(call("b", "read")).await.unwrap();
    assert_eq!((&*late.run_id, late.status()), ("run-1", "ok"));
}
