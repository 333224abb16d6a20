//! Attempts, time limits and waits between them (E3–E5).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::env::Env;
use windtunnel_core::event::EventLog;
use windtunnel_core::executor::{Backoff, BackoffSettings, Decision, Executor, RunError, ToolCall};
use windtunnel_core::tool::{ErrorKind, FunctionTool, ToolError};

use crate::ports::Reviewer;
use crate::rig::{Rig, call, env, ms, registry, slow_echo, told, tool};

#[derive(Deserialize, JsonSchema)]
struct FetchInvoice {
    number: String,
}

#[derive(Debug, thiserror::Error)]
#[error("reset by peer")]
struct ConnectionError;

/// The tool of seed 001. `failures_left` says how often it will still fail.
fn fetch_invoice(failures_left: &Arc<AtomicU32>) -> FunctionTool {
    let failures_left = Arc::clone(failures_left);
    FunctionTool::new("fetch_invoice", "Fetch an invoice from the billing API.", move |invoice: FetchInvoice, _| {
        let failures_left = Arc::clone(&failures_left);
        async move {
            if !invoice.number.starts_with("INV-") {
                return Err(BoxError::from(ToolError::new("invoice numbers start with INV-")));
            }
            let left = failures_left.load(Ordering::Relaxed);
            if left > 0 {
                failures_left.store(left - 1, Ordering::Relaxed);
                if (left - 1) % 2 == 1 {
                    return Err(ConnectionError.into());
                }
                return Err(ToolError::retryable("billing API busy").into());
            }
            Ok(json!({"number": invoice.number, "status": "paid"}))
        }
    })
    .retries(3)
    .timeout(Duration::from_secs(2))
}

#[tokio::test(start_paused = true)]
async fn the_three_runs_of_seed_001_come_out_as_documented() {
    let failures_left = Arc::new(AtomicU32::new(0));
    let events = EventLog::new();
    let settings = BackoffSettings { base_s: 0.5, max_s: 8.0, multiplier: 2.0, jitter: 0.25 };
    let executor = Executor::builder(registry([fetch_invoice(&failures_left)]))
        .backoff(Backoff::new(settings).unwrap())
        .sink(events.clone())
        .env(Env::system().with_sleep(|_: Duration| std::future::ready(())).with_rng(|| 0.0))
        .build();
    let fetch = |number: &str| executor.run_call(ToolCall::new("fetch_invoice", json!({ "number": number })));

    failures_left.store(3, Ordering::Relaxed);
    let ok = fetch("INV-7").await.unwrap();
    let delays: Vec<_> = events.of_type("tool.retry").iter().map(|event| event.data()["delay_s"].clone()).collect();
    assert_eq!((ok.status(), ok.attempts, delays), ("ok", 4, vec![json!(0.5), json!(1.0), json!(2.0)]));
    assert_eq!(ok.value(), Some(&json!({"number": "INV-7", "status": "paid"})));

    let bad = fetch("7").await.unwrap();
    assert_eq!(told(&bad), "tool-error 1 invoice numbers start with INV-");

    failures_left.store(9, Ordering::Relaxed);
    let down = fetch("INV-8").await.unwrap();
    let error = down.error().unwrap();
    assert_eq!((error.kind.as_str(), down.attempts, error.retryable), ("tool-failed", 4, false));
    assert_eq!(error.message, r#"tool "fetch_invoice" failed after 4 attempts"#);
    assert_eq!(failures_left.load(Ordering::Relaxed), 5, "four attempts ran");
}

/// How one attempt goes.
#[derive(Clone, Copy)]
enum Attempt {
    Good,
    Foreign,
    Busy,
    Refuse,
    Hang,
    PanicAtOnce,
    PanicLater,
}

use Attempt::{Busy, Foreign, Good, Hang, PanicAtOnce, PanicLater, Refuse};

/// Attempt n goes as the nth of `attempts` says.
fn scripted(attempts: &'static [Attempt]) -> FunctionTool {
    tool("work", move |_, context| {
        let attempt = attempts[context.attempt() as usize - 1];
        if matches!(attempt, PanicAtOnce) {
            panic!("no future");
        }
        async move {
            match attempt {
                Good => Ok(json!("done")),
                Foreign => Err("reset by peer".into()),
                Busy => Err(ToolError::retryable("billing API busy").into()),
                Refuse => Err(ToolError::new("no such card").into()),
                Hang => std::future::pending().await,
                PanicAtOnce | PanicLater => panic!("in the future"),
            }
        }
    })
    .timeout(Duration::from_secs(2))
}

/// What a call with `retries` comes to, and after how many milliseconds.
async fn check(attempts: &'static [Attempt], retries: u32, expected: &str, after_ms: u64) {
    let rig = Rig::new([scripted(attempts).retries(retries)]);
    let result = rig.executor.run_call(call("call-a", "work")).await.unwrap();
    assert_eq!(told(&result), expected);
    assert_eq!(result.duration, ms(after_ms), "{expected}");
    assert_eq!(rig.executor.env().now(), ms(after_ms));
    let retryable = result.error().map(|error| error.retryable);
    assert_eq!(retryable, result.error_kind().map(|kind| kind == ErrorKind::ToolTimeout));
    // E13: every attempt and every retry is said, in order.
    let attempts_told = rig.log.of_type("tool.attempt");
    let numbers: Vec<_> = attempts_told.iter().map(|event| event.data()["attempt"].clone()).collect();
    assert_eq!(numbers, (1..=result.attempts).map(Value::from).collect::<Vec<_>>());
    assert_eq!(rig.log.of_type("tool.retry").len() as u32, result.attempts - 1, "no wait after the last attempt");
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again() {
    check(&[Good], 3, r#"ok 1 "done""#, 0).await;
    check(&[Foreign, Good], 3, r#"ok 2 "done""#, 500).await;
    check(&[Busy, Good], 3, r#"ok 2 "done""#, 500).await;
    check(&[PanicAtOnce, Good], 3, r#"ok 2 "done""#, 500).await;
    check(&[PanicLater, Good], 3, r#"ok 2 "done""#, 500).await;
    check(&[Hang, Good], 3, r#"ok 2 "done""#, 2_500).await;
    check(&[Foreign, Busy, Hang, Good], 3, r#"ok 4 "done""#, 500 + 1_000 + 2_000 + 2_000).await;
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_decides_the_error() {
    let failed = r#"tool-failed 1 tool "work" failed after 1 attempt"#;
    check(&[Foreign], 0, failed, 0).await;
    check(&[Busy], 0, failed, 0).await;
    check(&[PanicAtOnce], 0, failed, 0).await;
    check(&[PanicLater], 0, failed, 0).await;
    check(&[Hang], 0, r#"tool-timeout 1 tool "work" ran out of time; it made 1 attempt"#, 2_000).await;
    check(&[Foreign, Hang], 1, r#"tool-timeout 2 tool "work" ran out of time; it made 2 attempts"#, 2_500).await;
    check(&[Hang, Foreign], 1, r#"tool-failed 2 tool "work" failed after 2 attempts"#, 2_500).await;
    check(&[Foreign, Refuse, Good], 3, "tool-error 2 no such card", 500).await;
    check(&[Refuse, Good], 3, "tool-error 1 no such card", 0).await;
}

#[tokio::test(start_paused = true)]
async fn delays_follow_the_formula_and_the_injected_chance() {
    for (unit, delays) in [(0.0, [0.5, 1.0, 2.0, 3.0, 3.0]), (0.5, [0.625, 1.25, 2.5, 3.75, 3.75])] {
        let settings = BackoffSettings { base_s: 0.5, max_s: 3.0, multiplier: 2.0, jitter: 0.5 };
        let rig = Rig::with([scripted(&[Foreign; 6]).retries(5)], |builder| {
            builder.backoff(Backoff::new(settings).unwrap()).env(env().with_rng(move || unit))
        });
        rig.executor.run_call(call("call-a", "work")).await.unwrap();
        let retries = rig.log.of_type("tool.retry");
        let told: Vec<_> = retries.iter().map(|event| (event.data()["attempt"].clone(), event.at)).collect();
        let said: Vec<_> = retries.iter().filter_map(|event| event.data()["delay_s"].as_f64()).collect();
        assert_eq!(said, delays);
        // The executor really waits as long as it says.
        let mut at = Duration::ZERO;
        for (index, (attempt, retry_at)) in told.into_iter().enumerate() {
            assert_eq!((attempt, retry_at), (json!(index + 1), at));
            at += Duration::from_secs_f64(delays[index]);
        }
        assert_eq!(rig.executor.env().now(), at);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_limit_takes_as_long_as_it_takes() {
    let rig = Rig::new([slow_echo("work", Duration::from_secs(1 << 30))]);
    assert_eq!(rig.executor.run_call(call("call-a", "work")).await.unwrap().status(), "ok");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_done_at_the_very_limit_is_in_time() {
    for (takes_ms, expected) in [(2_000, "ok"), (2_001, "error")] {
        let rig = Rig::new([slow_echo("work", ms(takes_ms)).timeout(ms(2_000))]);
        assert_eq!(rig.executor.run_call(call("call-a", "work")).await.unwrap().status(), expected);
    }
}

/// A tool whose body makes one nested call of `inner` and passes its error on.
fn outer() -> FunctionTool {
    tool("outer", |arguments, context| async move {
        Ok::<_, BoxError>(context.executor().run("inner", (*arguments).clone()).await?)
    })
    .retries(3)
}

/// What a call of [`outer`] comes to, and how often its body ran.
async fn check_nested(inner: FunctionTool, expected: &str) -> Rig {
    let reviewer = Reviewer::new([Decision::deny("not today")]);
    let rig = Rig::with([outer(), inner], |builder| builder.approval(reviewer));
    let result = rig.executor.run_call(call("call-a", "outer")).await.unwrap();
    assert_eq!(told(&result), expected);
    rig
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_nested_call_would_be_the_same_again() {
    let inner = || tool("inner", |_, _| async { Ok(Value::Null) });
    check_nested(inner().confirm(), "approval-denied 1 not today").await;
    let needs = json!({"type": "object", "required": ["id"]});
    let typed = FunctionTool::json("inner", "", needs, |_, _| async { Ok::<_, BoxError>(Value::Null) });
    check_nested(typed, r#"tool-args-invalid 1 $: "id" is a required property"#).await;
    let refusing = tool("inner", |_, _| async { Err(ToolError::new("no such card").into()) });
    check_nested(refusing, "tool-error 1 no such card").await;
    // The nested call has made all its own attempts.
    let failing = tool("inner", |_, _| async { Err("reset by peer".into()) });
    check_nested(failing, r#"tool-failed 1 tool "inner" failed after 1 attempt"#).await;
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_that_waits_for_approval_is_not_asked_for_again() {
    let reviewer = Reviewer::new(vec![Decision::Pending; 4]);
    let inner = tool("inner", |_, _| async { Ok(Value::Null) }).confirm();
    let rig = Rig::with([outer(), inner], |builder| builder.approval(reviewer.clone()));
    let result = rig.executor.run_call(call("call-a", "outer")).await.unwrap();
    assert_eq!(told(&result), r#"tool-failed 1 tool "outer" failed after 1 attempt"#);
    assert_eq!(reviewer.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_that_ran_out_of_time_may_pass_next_time() {
    let slow_at_first = tool("inner", |_, context| async move {
        if context.env().now() < ms(1_000) {
            std::future::pending::<()>().await;
        }
        Ok(Value::Null)
    });
    check_nested(slow_at_first.timeout(ms(1_000)), "ok 2 null").await;
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_keeps_its_cause_within_reach() {
    let failing = tool("inner", |_, _| async { Err("reset by peer".into()) });
    let rig = Rig::new([outer(), failing]);
    let error = rig.executor.run("outer", json!({})).await.unwrap_err();
    assert!(matches!(&error, RunError::Call(error) if error.kind == ErrorKind::ToolFailed));
    let causes = std::iter::successors(std::error::Error::source(&error), |error| error.source());
    assert!(causes.map(ToString::to_string).any(|text| text == "reset by peer"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_while_it_is_dropped_at_its_limit_has_run_out_of_time() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("while dropping");
        }
    }
    let rude = tool("work", |_, context| async move {
        let _rude = (context.attempt() == 1).then(|| PanicsOnDrop);
        std::future::pending().await
    });
    let rig = Rig::new([rude.timeout(ms(100)).retries(1)]);
    let result = rig.executor.run_call(call("call-a", "work")).await.unwrap();
    assert_eq!(told(&result), r#"tool-timeout 2 tool "work" ran out of time; it made 2 attempts"#);
}
