//! Run guards (E2, E7): `once_per_run` and `max_calls`, also under concurrency.

use serde_json::{Value, json};
use windtunnel_core::executor::{Decision, MemoryCache, RunLimits, ToolCall, ToolResult};
use windtunnel_core::tool::{CacheScope, FunctionTool};

use crate::ports::Reviewer;
use crate::rig::{Notes, Rig, call, echo, env, ms, noted_echo, tally, told, tool, verdicts};

fn at_most(calls_max: u64) -> RunLimits {
    RunLimits { calls_max: Some(calls_max), ..RunLimits::default() }
}

/// `strict` for an integer `n`.
fn strict() -> FunctionTool {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    FunctionTool::json("strict", "", schema, |_, _| async { Ok::<_, windtunnel_core::BoxError>(Value::Null) })
}

/// What the calls come to, one after another in one run.
async fn check(rig: &Rig, calls: impl IntoIterator<Item = ToolCall>, expected: &[&str]) {
    let executor = rig.in_run("run-a");
    let mut results = Vec::new();
    for call in calls {
        results.push(executor.run_call(call).await.unwrap());
    }
    assert_eq!(verdicts(&results), expected);
    // E12: a refused call is a finished one.
    let finished = results.iter().filter(|result| result.status() != "pending").count();
    assert_eq!(rig.ledger.entries().len(), finished);
}

#[tokio::test(start_paused = true)]
async fn the_limit_on_calls_is_inclusive() {
    let rig = Rig::with([echo("read")], |builder| builder.run_limits(at_most(2)));
    let calls = ["a", "b", "c", "d"].map(|id| call(id, "read"));
    check(&rig, calls, &["ok", "ok", "max-calls", "max-calls"]).await;
    assert_eq!(
        told(&rig.in_run("run-a").run_call(call("e", "read")).await.unwrap()).split_once(' ').unwrap().1,
        "0 the run has made all its 2 calls"
    );
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_zero_refuses_every_call() {
    let rig = Rig::with([echo("read")], |builder| builder.run_limits(at_most(0)));
    check(&rig, [call("a", "read")], &["max-calls"]).await;
}

#[tokio::test(start_paused = true)]
async fn only_calls_that_will_run_are_counted() {
    let reviewer = Reviewer::new([Decision::deny("no"), Decision::Pending, Decision::approve()]);
    let rig = Rig::with([strict().confirm()], |builder| builder.run_limits(at_most(1)).approval(reviewer));
    let invalid = ToolCall::new("strict", json!({"n": "one"})).with_id("a");
    let calls = [call("b", "nonesuch"), invalid, call("c", "strict"), call("d", "strict"), call("d", "strict")];
    let refused = ["tool-not-found", "tool-args-invalid", "approval-denied", "pending", "ok"];
    check(&rig, calls, &refused).await;
    check_refused(&rig, call("e", "strict"), "max-calls").await;
}

async fn check_refused(rig: &Rig, call: ToolCall, expected: &str) {
    let result = rig.in_run("run-a").run_call(call).await.unwrap();
    assert_eq!((result.error_kind().unwrap().as_str(), result.attempts), (expected, 0));
}

#[tokio::test(start_paused = true)]
async fn a_guard_refuses_before_arguments_are_looked_at() {
    let rig = Rig::with([strict()], |builder| builder.run_limits(at_most(0)));
    let invalid = ToolCall::new("strict", json!({"n": "one"}));
    check_refused(&rig, invalid, "max-calls").await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_call_was_a_call() {
    let fails = tool("fails", |_, _| async { Err("reset by peer".into()) }).once_per_run();
    let rig = Rig::new([fails]);
    check(&rig, [call("a", "fails"), call("b", "fails")], &["tool-failed", "once-per-run"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_repeat_is_not_a_new_call() {
    let ran = Notes::default();
    let rig =
        Rig::with([noted_echo("pay", &ran).once_per_run(), echo("read")], |builder| builder.run_limits(at_most(2)));
    let pay = |id: &str, amount: Value| ToolCall::new("pay", json!({"amount": amount, "to": "x"})).with_id(id);
    let reordered = ToolCall::new("pay", json!({"to": "x", "amount": 1})).with_id("a");
    check(
        &rig,
        [
            pay("a", json!(1)),
            pay("a", json!(1)),
            reordered,
            pay("a", json!(1.0)),
            pay("b", json!(1)),
            call("a", "read"),
            call("c", "read"),
            pay("a", json!(1)),
            call("a", "read"),
        ],
        &["ok", "ok", "ok", "once-per-run", "once-per-run", "ok", "max-calls", "ok", "ok"],
    )
    .await;
    assert_eq!(ran.all().len(), 4, "a repeat runs again");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_repeats_nothing() {
    let rig = Rig::new([echo("pay").once_per_run()]);
    let calls = [ToolCall::new("pay", json!({})), ToolCall::new("pay", json!({}))];
    check(&rig, calls, &["ok", "once-per-run"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_hit_in_the_cache_counts_as_a_call() {
    let env = env();
    let rig = Rig::with([echo("read").cache(ms(60_000), CacheScope::Run)], |builder| {
        builder.env(env.clone()).cache(MemoryCache::new(env.clone(), 8)).run_limits(at_most(2))
    });
    check(&rig, ["a", "b", "c"].map(|id| call(id, "read")), &["ok", "ok", "max-calls"]).await;
    assert_eq!(rig.log.of_type("tool.cache_hit").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_count_too() {
    let outer = tool("outer", |_, context| async move {
        let nested = context.executor().run_many(["x", "y"].map(|id| call(id, "read"))).await?;
        Ok(json!(verdicts(&nested)))
    });
    let rig = Rig::with([outer, echo("read")], |builder| builder.run_limits(at_most(2)));
    let result = rig.executor.run("outer", json!({})).await.unwrap();
    assert_eq!(result, json!(["ok", "max-calls"]));
}

/// Many different calls of `tool` at once in one run; `thinking` makes all pass the first check before any is counted.
async fn at_once(calls: usize, tool: FunctionTool, limits: RunLimits, thinking: bool) -> (Rig, Vec<ToolResult>) {
    let env = env();
    let reviewer = Reviewer::new([]).thinking(&env, ms(if thinking { 1_000 } else { 0 }));
    let name = windtunnel_core::tool::Tool::spec(&tool).name;
    let rig = Rig::with([tool], |builder| builder.env(env.clone()).run_limits(limits).approval(reviewer));
    let calls: Vec<_> = (0..calls).map(|n| ToolCall::new(&*name, json!({ "n": n }))).collect();
    let results = rig.in_run("run-a").run_many(calls).await.unwrap();
    assert_eq!(rig.ledger.entries().len(), results.len());
    (rig, results)
}

#[tokio::test(start_paused = true)]
async fn exactly_as_many_calls_at_once_pass_as_the_limit_allows() {
    let (_, results) = at_once(50, echo("read"), at_most(7), false).await;
    assert_eq!((tally(&results, "ok"), tally(&results, "max-calls")), (7, 43));
}

#[tokio::test(start_paused = true)]
async fn the_guards_are_checked_again_after_a_slow_approval() {
    let (rig, results) = at_once(50, echo("read").confirm(), at_most(7), true).await;
    assert_eq!((tally(&results, "ok"), tally(&results, "max-calls")), (7, 43));
    assert_eq!(rig.log.of_type("approval.decided").len(), 50, "all had passed the first check");
    let (rig, results) = at_once(50, echo("pay").confirm().once_per_run(), RunLimits::default(), true).await;
    assert_eq!((tally(&results, "ok"), tally(&results, "once-per-run")), (1, 49));
    assert_eq!(rig.log.of_type("tool.attempt").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn repeats_at_once_are_one_call() {
    let rig = Rig::with([echo("pay").once_per_run()], |builder| builder.run_limits(at_most(1)));
    let results = rig.in_run("run-a").run_many((0..5).map(|_| call("a", "pay"))).await.unwrap();
    assert_eq!(tally(&results, "ok"), 5);
}
