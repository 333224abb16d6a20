//! Several calls at once, in one run.

use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use windtunnel_core::executor::{CallContext, ToolCall, ToolResult};
use windtunnel_core::tool::FunctionTool;

use crate::rig::{Rig, call, echo, ms, slow_echo, tool, verdicts};

/// A tool that takes the time its arguments say.
fn timed() -> FunctionTool {
    tool("timed", |arguments, context| async move {
        context.env().sleep(ms(arguments["ms"].as_u64().unwrap_or(0))).await;
        Ok(Value::Null)
    })
}

fn timed_call(id: &str, takes_ms: u64) -> ToolCall {
    ToolCall::new("timed", json!({ "ms": takes_ms })).with_id(id)
}

fn ids<'a>(results: impl IntoIterator<Item = &'a ToolResult>) -> Vec<String> {
    results.into_iter().map(|result| result.call_id.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn run_many_gives_results_in_the_order_of_the_calls_and_takes_as_long_as_the_longest() {
    let rig = Rig::new([timed()]);
    let calls = [timed_call("a", 30), timed_call("b", 10), timed_call("c", 20)];
    let results = rig.executor.run_many(calls).await.unwrap();
    assert_eq!(ids(&results), ["a", "b", "c"]);
    assert_eq!(rig.executor.env().now(), ms(30));
    let finished = rig.log.of_type("tool.finished");
    assert_eq!(finished.iter().filter_map(|event| event.call_id.as_deref()).collect::<Vec<_>>(), ["b", "c", "a"]);
}

#[tokio::test(start_paused = true)]
async fn as_completed_gives_results_in_the_order_they_are_there() {
    let rig = Rig::new([timed()]);
    let calls = [timed_call("a", 30), timed_call("b", 10), timed_call("c", 20)];
    let mut completed = rig.executor.as_completed(calls);
    for (index, call_id, at_ms) in [(1, "b", 10), (2, "c", 20), (0, "a", 30)] {
        let next = completed.next().await.unwrap().unwrap();
        assert_eq!((next.index, &*next.result.call_id), (index, call_id));
        assert_eq!(rig.executor.env().now(), ms(at_ms));
    }
    assert!(completed.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_stream_runs_until_it_is_polled() {
    let rig = Rig::new([timed()]);
    let completed = rig.executor.as_completed([timed_call("a", 1)]);
    rig.executor.env().sleep(ms(100)).await;
    assert!(rig.log.is_empty());
    drop(completed);
    assert!(rig.log.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_drops_the_calls_that_are_not_done() {
    let rig = Rig::new([timed()]);
    let mut completed = rig.executor.as_completed([timed_call("a", 10), timed_call("b", 20)]);
    completed.next().await.unwrap().unwrap();
    drop(completed);
    rig.executor.env().sleep(ms(1_000)).await;
    assert_eq!(rig.log.of_type("tool.finished").len(), 1);
    assert_eq!(rig.ledger.entries().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_bad_call_does_not_hurt_the_others() {
    let failing = tool("failing", |_, _| async { Err("reset by peer".into()) });
    let rig = Rig::new([failing, echo("work")]);
    let calls = [call("a", "work"), call("b", "failing"), call("c", "nonesuch"), call("d", "work")];
    let results = rig.executor.run_many(calls).await.unwrap();
    assert_eq!(verdicts(&results), ["ok", "tool-failed", "tool-not-found", "ok"]);
    assert_eq!(rig.ledger.entries().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_nothing_is_nothing() {
    let rig = Rig::new([]);
    assert!(rig.executor.run_many([]).await.unwrap().is_empty());
    assert!(rig.executor.as_completed([]).try_collect::<Vec<_>>().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_batch_ignores_the_call_id_of_its_context() {
    let rig = Rig::new([echo("work")]);
    let context = CallContext { call_id: "mine".to_owned(), ..CallContext::default() };
    let calls = [ToolCall::new("work", json!({})), call("b", "work")];
    let results = rig.executor.in_context(context).run_many(calls).await.unwrap();
    assert_eq!(ids(&results), ["call-1", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_at_once_are_nothing_special() {
    let rig = Rig::new([slow_echo("slow", ms(5)), slow_echo("alone", ms(5)).exclusive()]);
    let calls = (0..1_000).map(|n| call("", if n % 100 == 0 { "alone" } else { "slow" }));
    let results = rig.executor.run_many(calls).await.unwrap();
    assert!(results.iter().all(|result| result.status() == "ok"));
    assert_eq!(rig.executor.env().now(), ms(10 * 5 + 10 * 5), "ten alone, and ten groups between and after them");
}
