//! Hooks: what they see, what they may change, and how they refuse.

use serde_json::{Value, json};
use windtunnel_core::executor::{BudgetExceeded, CallContext, Hook, HookCall, MemoryCache, Outcome, ToolCall};
use windtunnel_core::tool::{CacheScope, CallError, ErrorKind, FunctionTool, ToolError};
use windtunnel_core::{BoxError, BoxFuture};

use crate::ports::{Noting, Reviewer};
use crate::rig::{Notes, Rig, call, echo, env, ms, noted_echo, told, tool};

/// Replaces the arguments of every call.
struct Replacing(Value);

impl Hook for Replacing {
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async { Ok(Some(self.0.clone())) })
    }
}

/// Fails before every call.
struct Refusing<F>(F);

impl<F: Fn() -> BoxError + Send + Sync> Hook for Refusing<F> {
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async { Err((self.0)()) })
    }
}

/// Puts another value in the place of the tool's own.
struct Redacting;

impl Hook for Redacting {
    fn after<'a>(&'a self, _call: &'a HookCall, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        Box::pin(async {
            Ok(match outcome {
                Outcome::Ok(_) => Outcome::Ok(json!("redacted")),
                other => other,
            })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_run_in_order_before_and_in_reverse_after() {
    let notes = Notes::default();
    let noting = |name| Noting { name, notes: notes.clone() };
    let rig = Rig::with([noted_echo("work", &notes)], |builder| {
        builder.hook(noting("a")).hook(Replacing(json!({"n": 2}))).hook(noting("b")).hook(Redacting).hook(noting("c"))
    });
    let result = rig.executor.run("work", json!({"n": 1})).await.unwrap();
    assert_eq!(result, json!("redacted"));
    assert_eq!(
        notes.all(),
        [
            r#"a before {"n":1}"#,
            r#"b before {"n":2}"#,
            r#"c before {"n":2}"#,
            r#"{"n":2}"#,
            r#"c after {"n":2} {"n":2}"#,
            r#"b after {"n":2} "redacted""#,
            r#"a after {"n":2} "redacted""#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn replaced_arguments_must_be_valid_too() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let work =
        FunctionTool::json("work", "", schema, |arguments, _| async move { Ok::<_, BoxError>((*arguments).clone()) });
    let rig = Rig::with([work], |builder| builder.hook(Replacing(json!({"n": "two"}))));
    let result = rig.executor.run_call(ToolCall::new("work", json!({"n": 1}))).await.unwrap();
    assert_eq!(told(&result), r#"tool-args-invalid 0 $.n: value is not of type "integer""#);
}

#[tokio::test(start_paused = true)]
async fn hooks_see_no_call_with_invalid_arguments() {
    let notes = Notes::default();
    let work =
        FunctionTool::json("work", "", json!({"required": ["n"]}), |_, _| async { Ok::<_, BoxError>(Value::Null) });
    let rig = Rig::with([work], |builder| builder.hook(Noting { name: "hook", notes: notes.clone() }));
    assert!(rig.executor.run("work", json!({})).await.is_err());
    assert!(notes.all().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_reviewer_sees_what_the_hooks_made_of_the_arguments() {
    let reviewer = Reviewer::new([]);
    let rig = Rig::with([echo("work").confirm()], |builder| {
        builder.hook(Replacing(json!({"n": 2}))).approval(reviewer.clone())
    });
    rig.executor.run("work", json!({"n": 1})).await.unwrap();
    assert_eq!(*reviewer.requests()[0].arguments, json!({"n": 2}));
}

/// How a hook refuses, and what the call comes to.
async fn check_refused(error: fn() -> BoxError, expected: &str) {
    let ran = Notes::default();
    let rig = Rig::with([noted_echo("work", &ran).retries(3)], |builder| builder.hook(Refusing(error)));
    let result = rig.executor.run_call(call("a", "work")).await.unwrap();
    assert_eq!(told(&result), expected);
    assert!(!result.error().unwrap().retryable && ran.all().is_empty());
    assert!(std::error::Error::source(result.error().unwrap()).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hook_refuses_by_its_error() {
    #[derive(Debug, thiserror::Error)]
    #[error("over")]
    struct Over(#[source] BudgetExceeded);

    let exceeded = "budget-exceeded 0 budget exceeded: 0.50 USD a run";
    check_refused(|| BudgetExceeded::new("0.50 USD a run").into(), exceeded).await;
    check_refused(|| Over(BudgetExceeded::new("0.50 USD a run")).into(), exceeded).await;
    check_refused(|| ToolError::new("not on Sundays").into(), "tool-error 0 not on Sundays").await;
    // The tool is not at fault, so nothing is tried again.
    check_refused(|| ToolError::retryable("later").into(), "tool-error 0 later").await;
    check_refused(|| "boom".into(), r#"tool-failed 0 a hook of tool "work" failed"#).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_is_not_counted() {
    struct FirstRefused(std::sync::atomic::AtomicBool);
    impl Hook for FirstRefused {
        fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
            let seen = self.0.swap(true, std::sync::atomic::Ordering::Relaxed);
            Box::pin(async move { if seen { Ok(None) } else { Err(BudgetExceeded::new("none left").into()) } })
        }
    }
    let rig = Rig::with([echo("work").once_per_run()], |builder| builder.hook(FirstRefused(false.into())));
    let executor = rig.in_run("run-a");
    let seen =
        [executor.run_call(call("a", "work")).await.unwrap(), executor.run_call(call("b", "work")).await.unwrap()];
    assert_eq!(crate::rig::verdicts(&seen), ["budget-exceeded", "ok"]);
}

#[tokio::test(start_paused = true)]
async fn the_cache_keeps_the_value_from_before_the_after_hooks() {
    let notes = Notes::default();
    let env = env();
    let rig = Rig::with([echo("work").cache(ms(60_000), CacheScope::Run)], |builder| {
        builder
            .env(env.clone())
            .cache(MemoryCache::new(env.clone(), 8))
            .hook(Redacting)
            .hook(Noting { name: "hook", notes: notes.clone() })
    });
    let executor = rig.in_run("run-a");
    let results =
        [executor.run_call(call("a", "work")).await.unwrap(), executor.run_call(call("b", "work")).await.unwrap()];
    assert_eq!(results.each_ref().map(told), [r#"ok 1 "redacted""#, r#"cached 0 "redacted""#]);
    assert_eq!(
        notes.all().iter().filter(|note| *note == "hook after {} {}").count(),
        2,
        "both hooks saw the tool's own value"
    );
}

#[tokio::test(start_paused = true)]
async fn after_hooks_see_failures_and_may_mend_them() {
    struct Mending;
    impl Hook for Mending {
        fn after<'a>(&'a self, _call: &'a HookCall, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
            Box::pin(async {
                Ok(match outcome {
                    Outcome::Error(CallError { kind: ErrorKind::ToolFailed, .. }) => Outcome::Ok(json!("mended")),
                    other => other,
                })
            })
        }
    }
    let failing = tool("work", |_, _| async { Err("reset by peer".into()) }).cache(ms(60_000), CacheScope::Run);
    let env = env();
    let rig =
        Rig::with([failing], |builder| builder.env(env.clone()).cache(MemoryCache::new(env.clone(), 8)).hook(Mending));
    let executor = rig.in_run("run-a");
    for id in ["a", "b"] {
        // E11: what a hook made of it is never cached.
        assert_eq!(told(&executor.run_call(call(id, "work")).await.unwrap()), r#"ok 1 "mended""#);
    }
    assert!(rig.ledger.entries().iter().all(|entry| (entry.status, entry.error) == ("ok", None)));
}

#[tokio::test(start_paused = true)]
async fn an_after_hook_that_refuses_by_budget_is_the_result() {
    struct Late;
    impl Hook for Late {
        fn after<'a>(&'a self, _call: &'a HookCall, _outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
            Box::pin(async { Err(BudgetExceeded::new("spent").into()) })
        }
    }
    let rig = Rig::with([echo("work")], |builder| builder.hook(Late));
    let result = rig.executor.run_call(call("a", "work")).await.unwrap();
    assert_eq!(told(&result), "budget-exceeded 1 budget exceeded: spent");
    assert_eq!(rig.log.of_type("tool.finished")[0].data()["error"], "budget-exceeded");
}

#[tokio::test(start_paused = true)]
async fn a_hook_knows_the_run_the_call_and_the_thread() {
    struct Looking(Notes);
    impl Hook for Looking {
        fn before<'a>(&'a self, call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
            let HookCall { run_id, call_id, thread_id, tool, .. } = call;
            self.0.add(format!("{run_id} {call_id} {thread_id:?} {tool}"));
            Box::pin(async { Ok(None) })
        }
    }
    let notes = Notes::default();
    let rig = Rig::with([echo("work")], |builder| builder.hook(Looking(notes.clone())));
    let context = CallContext { thread_id: Some("chat-42".to_owned()), ..CallContext::default() };
    rig.executor.in_context(context).run_call(call("a", "work")).await.unwrap();
    assert_eq!(notes.all(), [r#"run-1 a Some("chat-42") work"#]);
}
