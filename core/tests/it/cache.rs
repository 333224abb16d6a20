//! The tool cache (E11).

use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{CallContext, Executor, MemoryCache, Ports, ToolCall};
use windtunnel_core::tool::{CacheScope, FunctionTool};

use crate::rig::{Notes, Rig, call, echo, env, in_run, ms, noted_echo, told, tool, verdicts};

/// A rig on `env` with a cache of eight values.
fn cached(env: &Env, tools: impl IntoIterator<Item = FunctionTool>) -> Rig {
    Rig::with(tools, |builder| builder.env(env.clone()).cache(MemoryCache::new(env.clone(), 8)))
}

fn read(page: Value) -> ToolCall {
    ToolCall::new("read", json!({ "page": page }))
}

/// What the calls come to, one after another in the runs given.
async fn check(executor: &Executor, calls: impl IntoIterator<Item = (&str, ToolCall)>, expected: &[&str]) {
    let mut seen = Vec::new();
    for (run_id, call) in calls {
        seen.push(told(&in_run(executor, run_id).run_call(call).await.unwrap()));
    }
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_value_is_served_to_the_same_call_of_the_same_run() {
    let ran = Notes::default();
    let rig = cached(&env(), [noted_echo("read", &ran).cache(ms(60_000), CacheScope::Run)]);
    check(
        &rig.executor,
        [("a", read(json!(1))), ("a", read(json!(1))), ("a", read(json!(1.0))), ("b", read(json!(1)))],
        &[r#"ok 1 {"page":1}"#, r#"cached 0 {"page":1}"#, r#"ok 1 {"page":1.0}"#, r#"ok 1 {"page":1}"#],
    )
    .await;
    assert_eq!(ran.all().len(), 3);
    let names = |call: &str| rig.log.of_call(call).iter().map(|event| event.kind.name()).collect::<Vec<_>>();
    assert_eq!(names("call-2"), ["tool.started", "tool.cache_hit", "tool.finished"]);
    let finished = &rig.log.of_type("tool.finished")[1];
    assert_eq!((&finished.data()["cached"], &finished.data()["attempts"]), (&json!(true), &json!(0)));
    // E12: a hit is a finished call, and cost nothing.
    let entry = &rig.ledger.entries()[1];
    assert_eq!((entry.attempts, entry.cost_usd, entry.status), (0, 0.0, "ok"));
}

#[tokio::test(start_paused = true)]
async fn members_in_another_order_are_the_same_arguments() {
    let rig = cached(&env(), [echo("read").cache(ms(60_000), CacheScope::Run)]);
    let with = |arguments| ("a", ToolCall::new("read", arguments));
    check(
        &rig.executor,
        [with(json!({"a": 1, "b": 2})), with(json!({"b": 2, "a": 1}))],
        &[r#"ok 1 {"a":1,"b":2}"#, r#"cached 0 {"a":1,"b":2}"#],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_global_value_is_served_to_other_runs() {
    let rig = cached(
        &env(),
        [echo("read").cache(ms(60_000), CacheScope::Global), echo("peek").cache(ms(60_000), CacheScope::Global)],
    );
    check(
        &rig.executor,
        [
            ("a", read(json!(1))),
            ("b", read(json!(1))),
            ("", read(json!(1))),
            ("a", ToolCall::new("peek", json!({"page": 1}))),
        ],
        &[r#"ok 1 {"page":1}"#, r#"cached 0 {"page":1}"#, r#"cached 0 {"page":1}"#, r#"ok 1 {"page":1}"#],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_global_value_is_not_served_once_the_schema_changed() {
    let env = env();
    let cache: Arc<MemoryCache> = Arc::new(MemoryCache::new(env.clone(), 8));
    let version = |parameters: Value| {
        let read = FunctionTool::json("read", "", parameters, |_, _| async { Ok::<_, BoxError>(Value::Null) });
        let rig = Rig::with([read.cache(ms(60_000), CacheScope::Global)], |builder| builder.env(env.clone()));
        let ports = Ports { cache: Some(cache.clone()), ..Ports::default() };
        rig.executor.in_context(CallContext { ports, ..CallContext::default() })
    };
    let old = json!({"type": "object"});
    let new = json!({"type": "object", "properties": {"page": {"type": "integer"}}});
    for (parameters, expected) in
        [(&old, "ok 1 null"), (&old, "cached 0 null"), (&new, "ok 1 null"), (&new, "cached 0 null")]
    {
        check(&version(parameters.clone()), [("", read(json!(1)))], &[expected]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_expires_on_the_environments_clock() {
    let env = env();
    let rig = cached(&env, [echo("read").cache(ms(1_000), CacheScope::Run)]);
    for (at, expected) in [(0, "ok"), (999, "cached"), (1_000, "ok"), (1_999, "cached"), (2_500, "ok")] {
        env.until(ms(at)).await;
        let result = rig.in_run("a").run_call(read(json!(1))).await.unwrap();
        assert_eq!(told(&result).split(' ').next(), Some(expected), "at {at} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn only_good_values_are_kept() {
    let flaky = tool("read", |_, context| async move {
        if context.call_id() == "bad" { Err("reset by peer".into()) } else { Ok(json!(context.call_id())) }
    });
    let rig = cached(&env(), [flaky.cache(ms(60_000), CacheScope::Run)]);
    let calls = ["bad", "bad", "good", "bad"].map(|id| ("a", call(id, "read")));
    let failed = r#"tool-failed 1 tool "read" failed after 1 attempt"#;
    check(&rig.executor, calls, &[failed, failed, r#"ok 1 "good""#, r#"cached 0 "good""#]).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_ttl_or_an_executor_without_a_cache_caches_nothing() {
    let rig = cached(&env(), [echo("read")]);
    check(&rig.executor, [("a", read(json!(1))), ("a", read(json!(1)))], &[r#"ok 1 {"page":1}"#; 2]).await;
    let rig = Rig::new([echo("read").cache(ms(60_000), CacheScope::Run)]);
    check(&rig.executor, [("a", read(json!(1))), ("a", read(json!(1)))], &[r#"ok 1 {"page":1}"#; 2]).await;
}

#[tokio::test(start_paused = true)]
async fn a_null_is_a_value() {
    let rig = cached(&env(), [tool("read", |_, _| async { Ok(Value::Null) }).cache(ms(60_000), CacheScope::Run)]);
    check(&rig.executor, [("a", read(json!(1))), ("a", read(json!(1)))], &["ok 1 null", "cached 0 null"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_cache_of_the_context_wins() {
    let env = env();
    let rig = cached(&env, [echo("read").cache(ms(60_000), CacheScope::Run)]);
    let ports = Ports { cache: Some(Arc::new(MemoryCache::new(env.clone(), 8))), ..Ports::default() };
    let theirs = rig.executor.in_context(CallContext { ports, ..CallContext::default() });
    let once = || [("a", read(json!(1)))];
    check(&rig.executor, once(), &[r#"ok 1 {"page":1}"#]).await;
    check(&theirs, once(), &[r#"ok 1 {"page":1}"#]).await;
    check(&theirs, once(), &[r#"cached 0 {"page":1}"#]).await;
}

#[tokio::test(start_paused = true)]
async fn calls_at_once_may_all_miss() {
    let rig = cached(&env(), [crate::rig::slow_echo("read", ms(10)).cache(ms(60_000), CacheScope::Run)]);
    let results = rig.in_run("a").run_many([read(json!(1)), read(json!(1))]).await.unwrap();
    assert_eq!((verdicts(&results), results.iter().any(|result| result.cached)), (vec!["ok", "ok"], false));
}
