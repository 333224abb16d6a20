//! A call that is dropped, at whatever point, leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_test::task::spawn;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{
    Cache, CallContext, Decision, Executor, ExecutorBuilder, Ledger, LedgerEntry, LoopOptions, MemoryCache, Plan,
    PlanStep, Ports,
};
use windtunnel_core::model::{Message, ModelRequest};
use windtunnel_core::tool::{CacheScope, FunctionTool};
use windtunnel_core::{BoxError, BoxFuture};

use crate::ports::{Noting, Reviewer, Script, calls, edit};
use crate::probe::{self, assert_nothing_is_held};
use crate::rig::{Notes, Rig, YieldingGate, call, env, finish_within, ms, tool, yield_once};

/// A port that waits for one poll before it does its work.
struct Yielding<T>(T);

impl Cache for Yielding<MemoryCache> {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async move {
            yield_once().await;
            self.0.get(key).await
        })
    }

    fn put<'a>(&'a self, key: &'a str, value: Value, ttl: Duration) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            yield_once().await;
            self.0.put(key, value, ttl).await
        })
    }
}

impl Ledger for Yielding<()> {
    fn record(&self, _entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>> {
        Box::pin(yield_once_ok())
    }
}

async fn yield_once_ok() -> Result<(), BoxError> {
    yield_once().await;
    Ok(())
}

/// Every await is one more point to be dropped at; a wait between attempts is one too.
fn env_of_points() -> Env {
    env().with_gate(YieldingGate).with_sleep(|_: Duration| yield_once())
}

/// Fails at first, and yields within each attempt.
fn flaky(name: &str) -> FunctionTool {
    tool(name, |_, context| async move {
        yield_once().await;
        if context.attempt() == 1 { Err("reset by peer".into()) } else { Ok(json!(context.attempt())) }
    })
    .retries(1)
}

fn set_everything(builder: ExecutorBuilder) -> ExecutorBuilder {
    let notes = Notes::default();
    builder
        .env(env_of_points())
        .approval(Reviewer::new([edit(json!({"edited": true}))]))
        .cache(Yielding(MemoryCache::new(env(), 8)))
        .hook(Noting { name: "hook", notes })
}

/// Polls the scenario n times for every n until it is done, drops it there, and looks for what is left.
async fn check<F: Future<Output = ()>>(
    points_min: usize,
    tools: impl Fn() -> Vec<FunctionTool>,
    scenario: impl Fn(Executor) -> F,
) {
    const POLLS_MAX: usize = 200;
    for polls in 0..=POLLS_MAX {
        let rig = probe::rig(tools(), set_everything);
        let mut dropped = spawn(scenario(rig.in_run(probe::RUN)));
        let is_done = (0..polls).any(|_| dropped.poll().is_ready());
        drop(dropped);
        assert_nothing_is_held(&rig, &format!("after {polls} polls")).await;
        if is_done {
            assert!(polls > points_min, "only {polls} points to be dropped at");
            return;
        }
    }
    panic!("the scenario is not done after {POLLS_MAX} polls");
}

#[tokio::test(start_paused = true)]
async fn a_call_may_be_dropped_at_every_point() {
    let work = || vec![flaky("work").confirm().cache(ms(60_000), CacheScope::Run).exclusive().kind("search")];
    check(15, work, |executor| async move {
        let ports = Ports { ledger: Some(Arc::new(Yielding(()))), ..Ports::default() };
        let executor = executor.in_context(CallContext { ports, ..executor.context().clone() });
        // The first misses the cache, the second hits it.
        for id in ["a", "b"] {
            assert_eq!(executor.run_call(call(id, "work")).await.unwrap().status(), "ok");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_may_be_dropped_at_every_point() {
    let work = || vec![flaky("work").confirm()];
    check(3, work, |executor| async move {
        let pending = CallContext { approval: Some(Decision::Pending), ..executor.context().clone() };
        assert_eq!(executor.in_context(pending).run_call(call("a", "work")).await.unwrap().status(), "pending");
    })
    .await;
}

/// Calls that wait for each other's locks and caps.
fn queueing() -> Vec<FunctionTool> {
    vec![flaky("shared"), flaky("alone").exclusive(), flaky("search"), flaky("alone_search").kind("search").exclusive()]
}

const QUEUE: [&str; 7] = ["shared", "search", "search", "alone", "alone_search", "search", "shared"];

#[tokio::test(start_paused = true)]
async fn a_batch_may_be_dropped_at_every_point() {
    check(20, queueing, |executor| async move {
        let results = executor.run_many(QUEUE.map(|name| call("", name))).await.unwrap();
        assert!(results.iter().all(|result| result.status() == "ok"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_be_dropped_at_every_point_and_half_consumed() {
    check(15, queueing, |executor| async move {
        let mut completed = executor.as_completed(QUEUE.map(|name| call("", name)));
        for _ in 0..3 {
            completed.next().await.unwrap().unwrap();
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_plan_may_be_dropped_at_every_point() {
    check(20, queueing, |executor| async move {
        let steps = QUEUE.iter().enumerate().map(|(index, name)| PlanStep::new(index.to_string(), call("", name)));
        let plan = Plan::new(steps.chain([PlanStep::new("last", call("", "alone")).after("0").after("3")])).unwrap();
        assert!(executor.run_plan(&plan).await.unwrap().iter().all(|step| step.outcome.result().is_some()));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn nested_calls_may_be_dropped_at_every_point() {
    let tools = || {
        let outer = tool("outer", |_, context| async move {
            context.executor().run_many(QUEUE.map(|name| call("", name))).await?;
            Ok(Value::Null)
        });
        queueing().into_iter().chain([outer.exclusive().kind("search")]).collect()
    };
    check(20, tools, |executor| async move {
        let results = executor.run_many([call("a", "outer"), call("b", "alone")]).await.unwrap();
        assert!(results.iter().all(|result| result.status() == "ok"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_loop_may_be_dropped_at_every_point() {
    check(20, queueing, |executor| async move {
        let model =
            Script::new([Ok(calls([call("a", "alone"), call("b", "search")])), Ok(calls([call("c", "shared")]))]);
        let request = ModelRequest { messages: vec![Message::user("go")], ..ModelRequest::default() };
        let outcome = executor.run_tool_loop(&model, request, &LoopOptions::default()).await.unwrap();
        assert_eq!((outcome.turns, outcome.results.len()), (3, 3));
    })
    .await;
}

/// A tool that is never done, under a limit that no test here reaches.
fn hanging() -> FunctionTool {
    tool("hanging", |_, _| std::future::pending()).timeout(ms(1_000)).exclusive().kind("search").retries(1)
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_may_be_dropped() {
    let rig = probe::rig([hanging()], |builder| builder);
    let executor = rig.in_run(probe::RUN);
    let mut dropped = spawn(executor.run_call(call("a", "hanging")));
    assert!(dropped.poll().is_pending());
    drop(dropped);
    assert_nothing_is_held(&rig, "after a hanging call").await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_behind_another_may_be_dropped_before_and_after_its_turn_comes() {
    for waiting in ["shared", "alone", "search", "alone_search"] {
        for its_turn_comes in [false, true] {
            let rig = probe::rig(queueing().into_iter().chain([hanging()]), |builder| builder);
            let executor = rig.in_run(probe::RUN);
            let mut head = spawn(executor.run_call(call("a", "hanging")));
            assert!(head.poll().is_pending());
            let mut dropped = spawn(executor.run_call(call("b", waiting)));
            assert!(dropped.poll().is_pending());
            // Its place is granted while nobody polls it.
            let order: [Box<dyn Send>; 2] =
                if its_turn_comes { [Box::new(head), Box::new(dropped)] } else { [Box::new(dropped), Box::new(head)] };
            order.into_iter().for_each(drop);
            assert_nothing_is_held(&rig, &format!("by {waiting}, {its_turn_comes}")).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_makes_no_further_attempt() {
    let rig = probe::rig([tool("failing", |_, _| async { Err("reset by peer".into()) }).retries(5)], |builder| builder);
    let executor = rig.in_run(probe::RUN);
    // Two attempts, and half of the second wait.
    let cancelled = rig.executor.env().timeout(ms(1_000), executor.run_call(call("a", "failing"))).await;
    assert!(cancelled.is_err());
    assert_nothing_is_held(&rig, "after a cancelled wait").await;
    assert_eq!(rig.log.of_call("a").iter().filter(|event| event.kind.name() == "tool.attempt").count(), 2);
    assert!(rig.ledger.entries().iter().all(|entry| &*entry.entry_id != "a"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_counted_before_it_was_dropped_stays_counted() {
    let rig = Rig::new([tool("pay", |_, _| std::future::pending()).once_per_run()]);
    let executor = rig.in_run("run-a");
    assert!(spawn(executor.run_call(call("a", "pay"))).poll().is_pending());
    let other = finish_within(1, executor.run_call(call("b", "pay"))).unwrap().unwrap();
    assert_eq!(other.error_kind().unwrap().as_str(), "once-per-run");
}
