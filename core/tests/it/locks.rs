//! The run's exclusive lock and the caps of kinds (E10): first come, first served, and free for nested calls.

use std::num::NonZeroU32;
use std::sync::Arc;

use futures_util::future::join;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_test::task::spawn;
use tokio_test::{assert_pending, assert_ready};
use windtunnel_core::BoxError;
use windtunnel_core::executor::{CallContext, MemoryCache, RunLimits, ToolCall, ToolContext};
use windtunnel_core::tool::{CacheScope, FunctionTool};

use crate::ports::Reviewer;
use crate::rig::{Notes, Rig, call, echo, env, ms, slow_echo, tool, verdict};

fn caps(caps: impl IntoIterator<Item = (&'static str, u32)>) -> RunLimits {
    caps.into_iter().fold(RunLimits::default(), |limits, (kind, cap)| limits.cap(kind, NonZeroU32::new(cap).unwrap()))
}

/// A tool that takes the time its arguments say and notes when it starts and ends: `0 a+`, `10 a-`.
fn timed(name: &str, timeline: &Notes) -> FunctionTool {
    let timeline = timeline.clone();
    tool(name, move |arguments, context| {
        let timeline = timeline.clone();
        async move {
            note(&timeline, &context, "+");
            context.env().sleep(ms(arguments["ms"].as_u64().unwrap_or(0))).await;
            note(&timeline, &context, "-");
            Ok(Value::Null)
        }
    })
}

fn note(timeline: &Notes, context: &ToolContext, what: &str) {
    timeline.add(format!("{} {}{what}", context.env().now().as_millis(), context.call_id()));
}

fn timed_call(tool: &str, id: &str, takes_ms: u64) -> ToolCall {
    ToolCall::new(tool, json!({ "ms": takes_ms })).with_id(id)
}

/// `shared`, `alone`, and `search` and `read` of the one kind `search`, which is capped at 2.
fn tools(timeline: &Notes) -> [FunctionTool; 4] {
    let [shared, alone, search, read] = ["shared", "alone", "search", "read"].map(|name| timed(name, timeline));
    [shared, alone.exclusive(), search, read.kind("search")]
}

/// Whether calls at once come to an end, rather than wait for each other forever.
async fn ends(rig: &Rig, calls: impl IntoIterator<Item = ToolCall>) -> bool {
    rig.executor.env().timeout(ms(3_600_000), rig.executor.run_many(calls)).await.is_ok()
}

/// Calls that arrive together in the order given: tool, id, milliseconds; and what happens when.
async fn check<const N: usize>(calls: [(&str, &str, u64); N], expected: &[&str]) {
    let timeline = Notes::default();
    let rig = Rig::with(tools(&timeline), |builder| builder.run_limits(caps([("search", 2)])));
    let calls = calls.map(|(tool, id, takes_ms)| timed_call(tool, id, takes_ms));
    assert!(ends(&rig, calls).await);
    assert_eq!(timeline.all(), expected);
}

#[tokio::test(start_paused = true)]
async fn calls_that_may_share_a_run_run_at_once() {
    check([("shared", "a", 10), ("shared", "b", 5)], &["0 a+", "0 b+", "5 b-", "10 a-"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_runs_alone_and_nobody_overtakes_it() {
    check(
        [("shared", "a", 10), ("alone", "b", 10), ("shared", "c", 1), ("alone", "d", 5), ("shared", "e", 1)],
        &["0 a+", "10 a-", "10 b+", "20 b-", "20 c+", "21 c-", "21 d+", "26 d-", "26 e+", "27 e-"],
    )
    .await;
    check([("alone", "a", 5), ("alone", "b", 5)], &["0 a+", "5 a-", "5 b+", "10 b-"]).await;
    check(
        [("alone", "a", 5), ("shared", "b", 9), ("shared", "c", 7), ("alone", "d", 1)],
        &["0 a+", "5 a-", "5 b+", "5 c+", "12 c-", "14 b-", "14 d+", "15 d-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cap_admits_its_number_in_order_and_lets_other_kinds_pass() {
    check(
        [("search", "a", 10), ("search", "b", 30), ("read", "c", 5), ("search", "d", 9), ("shared", "e", 1)],
        &["0 a+", "0 b+", "0 e+", "1 e-", "10 a-", "10 c+", "15 c-", "15 d+", "24 d-", "30 b-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_waits_for_those_that_wait_for_a_cap() {
    check(
        [("search", "a", 10), ("search", "b", 12), ("search", "c", 10), ("alone", "d", 5), ("search", "e", 1)],
        &["0 a+", "0 b+", "10 a-", "10 c+", "12 b-", "20 c-", "20 d+", "25 d-", "25 e+", "26 e-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn runs_do_not_wait_for_each_other() {
    let timeline = Notes::default();
    let rig = Rig::with(tools(&timeline), |builder| builder.run_limits(caps([("search", 1)])));
    let (one, two) = (rig.in_run("run-a"), rig.in_run("run-b"));
    let calls = |id: &str| [timed_call("alone", id, 10)];
    let (first, second) = join(one.run_many(calls("a")), two.run_many(calls("b"))).await;
    assert_eq!((verdict(&first.unwrap()[0]), verdict(&second.unwrap()[0])), ("ok", "ok"));
    assert_eq!(timeline.all(), ["0 a+", "0 b+", "10 a-", "10 b-"]);
}

#[tokio::test(start_paused = true)]
async fn the_lock_is_held_from_the_first_attempt_to_the_last() {
    let timeline = Notes::default();
    let flaky = tool("flaky", |_, context| async move {
        if context.attempt() == 1 { Err::<Value, BoxError>("reset by peer".into()) } else { Ok(Value::Null) }
    });
    let rig = Rig::new([flaky.exclusive().retries(1), timed("shared", &timeline)]);
    rig.executor.run_many([call("a", "flaky"), timed_call("shared", "b", 0)]).await.unwrap();
    assert_eq!(timeline.all(), ["500 b+", "500 b-"]);
}

#[tokio::test(start_paused = true)]
async fn neither_the_reviewer_nor_the_cache_is_waited_for_under_the_lock() {
    let timeline = Notes::default();
    let env = env();
    let reviewer = Reviewer::new([]).thinking(&env, ms(100));
    let tools = [timed("alone", &timeline).exclusive(), echo("read").cache(ms(60_000), CacheScope::Run)];
    let confirmed = timed("confirmed", &timeline).exclusive().confirm();
    let rig = Rig::with(tools.into_iter().chain([confirmed]), |builder| {
        builder.env(env.clone()).approval(reviewer).cache(MemoryCache::new(env.clone(), 8))
    });
    let executor = rig.in_run("run-a");
    executor.run_call(call("z", "read")).await.unwrap();
    let calls = [timed_call("confirmed", "a", 10), timed_call("alone", "b", 50), call("c", "read")];
    let results = executor.run_many(calls).await.unwrap();
    assert_eq!(timeline.all(), ["0 b+", "50 b-", "100 a+", "110 a-"]);
    assert_eq!((results[2].cached, results[2].duration), (true, ms(0)));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_that_goes_away_lets_the_next_ones_in() {
    let rig = Rig::new([slow_echo("slow", ms(1_000)), slow_echo("alone", ms(1_000)).exclusive(), echo("read")]);
    let executor = rig.in_run("run-a");
    let mut held = spawn(executor.run_call(call("a", "slow")));
    assert_pending!(held.poll());
    let mut head = spawn(executor.run_call(call("b", "alone")));
    assert_pending!(head.poll());
    let mut behind = spawn(executor.run_call(call("c", "read")));
    assert_pending!(behind.poll());
    drop(head);
    assert!(behind.is_woken());
    assert_eq!(assert_ready!(behind.poll()).unwrap().status(), "ok");
}

#[tokio::test(start_paused = true)]
async fn the_order_of_arrival_holds_at_the_cap_however_late_a_call_is_polled() {
    let timeline = Notes::default();
    let rig = Rig::with(tools(&timeline), |builder| builder.run_limits(caps([("search", 1)])));
    let executor = rig.in_run("run-a");
    let mut alone = spawn(executor.run_call(timed_call("alone", "a", 10)));
    let mut first = spawn(executor.run_call(timed_call("search", "b", 10)));
    let mut second = spawn(executor.run_call(timed_call("search", "c", 10)));
    assert_pending!(alone.poll());
    assert_pending!(first.poll());
    assert_pending!(second.poll());
    alone.await.unwrap();
    assert_pending!(second.poll());
    assert_pending!(first.poll());
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(timeline.all(), ["0 a+", "10 a-", "10 b+", "20 b-", "20 c+", "30 c-"]);
}

#[tokio::test(start_paused = true)]
async fn a_running_call_that_is_dropped_lets_the_next_ones_in() {
    for capped in [false, true] {
        let alone = slow_echo("alone", ms(1_000)).kind("search");
        let alone = if capped { alone } else { alone.exclusive() };
        let rig = Rig::with([alone], |builder| builder.run_limits(caps([("search", 1)])));
        let executor = rig.in_run("run-a");
        let mut held = spawn(executor.run_call(call("a", "alone")));
        assert_pending!(held.poll());
        let mut behind = spawn(executor.run_call(call("b", "alone")));
        assert_pending!(behind.poll());
        assert_eq!(rig.log.of_call("b").len(), 1, "it waits before its attempt");
        drop(held);
        assert!(behind.is_woken());
        assert_eq!(behind.await.unwrap().status(), "ok");
    }
}

/// A tool that makes its arguments' `calls` at once, nested in itself, after a wait if they name one.
fn nesting(name: &str, timeline: &Notes) -> FunctionTool {
    let timeline = timeline.clone();
    tool(name, move |arguments, context| {
        let timeline = timeline.clone();
        async move {
            note(&timeline, &context, "+");
            if let Some(waits_ms) = arguments["ms"].as_u64() {
                context.env().sleep(ms(waits_ms)).await;
            }
            let calls: Vec<ToolCall> = serde_json::from_value(arguments["calls"].clone())?;
            context.executor().run_many(calls).await?;
            note(&timeline, &context, "-");
            Ok(Value::Null)
        }
    })
}

fn nesting_call<const N: usize>(tool: &str, id: &str, calls: [ToolCall; N]) -> ToolCall {
    ToolCall::new(tool, json!({ "calls": calls.to_vec() })).with_id(id)
}

/// The tools of [`tools`], with `outer`, `outer_alone` and `outer_search` to nest calls in.
async fn check_nested(calls: impl IntoIterator<Item = ToolCall>, limits: RunLimits, expected: &[&str]) {
    let timeline = Notes::default();
    let [outer, outer_alone, outer_search] =
        ["outer", "outer_alone", "outer_search"].map(|name| nesting(name, &timeline));
    let outers = [outer, outer_alone.exclusive(), outer_search.kind("search")];
    let rig = Rig::with(tools(&timeline).into_iter().chain(outers), |builder| builder.run_limits(limits));
    assert!(ends(&rig, calls).await);
    assert_eq!(timeline.all(), expected);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_skip_the_run_lock() {
    let nested = [timed_call("shared", "x", 5), timed_call("alone", "y", 3)];
    check_nested(
        [nesting_call("outer_alone", "a", nested), timed_call("shared", "b", 1)],
        RunLimits::default(),
        &["0 a+", "0 x+", "0 y+", "3 y-", "5 x-", "5 a-", "5 b+", "6 b-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_nested_in_a_shared_one_runs_beside_its_siblings() {
    // A gap that the documents name.
    check_nested(
        [nesting_call("outer", "a", [timed_call("alone", "x", 5)]), timed_call("shared", "b", 9)],
        RunLimits::default(),
        &["0 a+", "0 x+", "0 b+", "5 x-", "5 a-", "9 b-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn nested_calls_skip_the_caps_that_the_calls_around_them_hold() {
    let innermost = nesting_call("outer", "y", [timed_call("read", "z", 3)]);
    check_nested(
        [nesting_call("outer_search", "x", [innermost]), timed_call("search", "b", 1)],
        caps([("search", 1)]),
        &["0 x+", "0 y+", "0 z+", "3 z-", "3 y-", "3 x-", "3 b+", "4 b-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn nested_calls_wait_for_the_caps_of_other_kinds() {
    check_nested(
        [timed_call("search", "a", 10), nesting_call("outer", "b", [timed_call("search", "x", 1)])],
        caps([("search", 1), ("outer", 1)]),
        &["0 a+", "0 b+", "10 a-", "10 x+", "11 x-", "11 b-"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn capped_kinds_that_nest_in_both_directions_wait_forever() {
    let timeline = Notes::default();
    let [one, two] = ["one", "two"].map(|name| nesting(name, &timeline));
    let rig =
        Rig::with([one, two, slow_echo("slow", ms(1))], |builder| builder.run_limits(caps([("one", 1), ("two", 1)])));
    // The nested calls come when both outer ones hold their slots.
    let nest = |tool: &str, other: &str, id: &str| {
        let inner = nesting_call(other, "inner", []);
        ToolCall::new(tool, json!({"ms": 1, "calls": [inner]})).with_id(id)
    };
    assert!(!ends(&rig, [nest("one", "two", "a"), nest("two", "one", "b")]).await);
    assert_eq!(timeline.all(), ["0 a+", "0 b+"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_another_run_is_not_nested() {
    let elsewhere = tool("elsewhere", |_, context| async move {
        let run = CallContext { run_id: "run-b".to_owned(), ..CallContext::default() };
        let result = context.executor().in_context(run).run_call(timed_call("alone", "x", 1)).await?;
        Ok(json!(result.status()))
    });
    let timeline = Notes::default();
    let rig = Rig::new(tools(&timeline).into_iter().chain([elsewhere]));
    let (there, here) = (rig.in_run("run-b"), rig.in_run("run-a"));
    let (first, second) =
        join(there.run_call(timed_call("alone", "a", 10)), here.run_call(call("b", "elsewhere"))).await;
    assert_eq!((first.unwrap().status(), second.unwrap().status()), ("ok", "ok"));
    assert_eq!(timeline.all(), ["0 a+", "10 a-", "10 x+", "11 x-"]);
}

/// A tool that keeps its context beyond its end, and where it is kept.
fn keeping() -> (FunctionTool, Arc<Mutex<Option<ToolContext>>>) {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let tool = tool("keeping", move |arguments, context| {
        *keep.lock() = Some(context);
        async move {
            if arguments["hangs"] == true {
                std::future::pending::<()>().await;
            }
            Ok(Value::Null)
        }
    });
    (tool.kind("search"), kept)
}

#[tokio::test(start_paused = true)]
async fn a_call_made_after_its_parent_ended_waits_like_any_other() {
    // The parent returns, or is dropped.
    for hangs in [false, true] {
        let (keeping, kept) = keeping();
        let timeline = Notes::default();
        let rig = Rig::with(tools(&timeline).into_iter().chain([keeping]), |builder| {
            builder.run_limits(caps([("search", 1)]))
        });
        let executor = rig.in_run("run-a");
        let parent = ToolCall::new("keeping", json!({ "hangs": hangs })).with_id("a");
        assert_eq!(spawn(executor.run_call(parent)).poll().is_pending(), hangs);
        let late = kept.lock().take().unwrap().executor();
        let both = join(executor.run_call(timed_call("alone", "b", 10)), late.run_call(timed_call("shared", "x", 1)));
        both.await.0.unwrap();
        let both = join(executor.run_call(timed_call("search", "c", 10)), late.run_call(timed_call("search", "y", 1)));
        both.await.0.unwrap();
        assert_eq!(timeline.all(), ["0 b+", "10 b-", "10 x+", "11 x-", "11 c+", "21 c-", "21 y+", "22 y-"]);
    }
}
