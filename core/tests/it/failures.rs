//! Ports, hooks and tools that fail or panic: the result is as the rules say, and nothing is left held.

use serde_json::{Value, json};
use tracing::Level;
use windtunnel_core::executor::{CallContext, Decision, ExecutorBuilder, Ports, ToolCall};
use windtunnel_core::tool::{ArgumentsError, CacheScope, FunctionTool, Tool, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};

use crate::capture::Capture;
use crate::ports::{Broken, BrokenAfter, BrokenBefore, Noting, Reviewer};
use crate::probe::{self, assert_nothing_is_held};
use crate::rig::{Notes, call, echo, in_run, ms, registry, told, tool};

const WAYS: [Broken; 3] =
    [Broken::Failing("broken"), Broken::PanickingAtOnce("broken"), Broken::PanickingLater("broken")];

/// A call of `work`, in one run, whose result must be `expected`; how often its tool ran; and the warnings.
async fn check(
    set: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    context: CallContext,
    expected: &str,
    ran: usize,
    warnings: &[&str],
) {
    let (capture, _guard) = Capture::begin();
    let notes = Notes::default();
    let work = crate::rig::noted_echo("work", &notes).cache(ms(60_000), CacheScope::Run).confirm_when(|call, _| {
        assert_ne!(call.id, "a-panicking-rule");
        call.id.starts_with("confirmed")
    });
    let rig = probe::rig([work.exclusive().kind("search")], set);
    let call_id = if context.call_id.is_empty() { "a".to_owned() } else { context.call_id.clone() };
    let executor = rig.executor.in_context(CallContext { run_id: probe::RUN.to_owned(), ..context });
    let result = executor.run_call(call(&call_id, "work")).await.unwrap();
    assert_eq!(told(&result), expected);
    assert_eq!(notes.all().len(), ran);
    assert_eq!(capture.messages(Level::WARN), warnings);
    assert_nothing_is_held(&rig, expected).await;
}

fn id(call_id: &str) -> CallContext {
    CallContext { call_id: call_id.to_owned(), ..CallContext::default() }
}

#[tokio::test(start_paused = true)]
async fn a_broken_reviewer_denies() {
    for broken in WAYS {
        let expected = "approval-denied 0 the approval port failed";
        let warnings = ["the approval port failed: the call is denied"];
        check(|builder| builder.approval(broken), id("confirmed"), expected, 0, &warnings).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_panics_asks_the_reviewer() {
    let deny = || Reviewer::new([Decision::deny("no")]);
    check(|builder| builder.approval(deny()), id("a-panicking-rule"), "approval-denied 0 no", 0, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_cache_is_a_miss() {
    for broken in WAYS {
        let warning = "the cache failed: the call goes on without it";
        check(|builder| builder.cache(broken), id("a"), "ok 1 {}", 1, &[warning; 2]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_ledger_lacks_the_call() {
    for broken in WAYS {
        let ports = Ports { ledger: Some(std::sync::Arc::new(broken)), ..Ports::default() };
        let context = CallContext { ports, ..id("a") };
        check(|builder| builder, context, "ok 1 {}", 1, &["the ledger failed; it lacks this call"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_sink_loses_its_events() {
    for broken in WAYS {
        let lost = match broken {
            Broken::Failing(_) => "an event sink failed; the event is lost to it",
            _ => "an event sink panicked; the event is lost to it",
        };
        let ports = Ports { sink: Some(std::sync::Arc::new(broken)), ..Ports::default() };
        let context = CallContext { ports, ..id("a") };
        check(|builder| builder, context, "ok 1 {}", 1, &[lost; 3]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_breaks_before_the_tool_refuses_the_call() {
    for broken in WAYS {
        let expected = r#"tool-failed 0 a hook of tool "work" failed"#;
        let notes = Notes::default();
        let other = Noting { name: "other", notes: notes.clone() };
        let rig = probe::rig([echo("work")], |builder| builder.hook(BrokenBefore(broken)).hook(other));
        let result = rig.in_run(probe::RUN).run_call(call("a", "work")).await.unwrap();
        assert_eq!(told(&result), expected);
        assert!(notes.all().is_empty(), "later hooks do not see a refused call");
        assert_eq!(rig.events(), ["tool.started", "tool.finished"]);
        assert_eq!(rig.ledger.entries()[0].error, Some("tool-failed"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_breaks_after_the_tool_is_the_result_and_the_others_still_run() {
    for broken in WAYS {
        let notes = Notes::default();
        let other = |name| Noting { name, notes: notes.clone() };
        let rig = probe::rig([echo("work").exclusive().kind("search")], |builder| {
            builder.hook(other("first")).hook(BrokenAfter(broken)).hook(other("last"))
        });
        let executor = rig.in_run(probe::RUN);
        let result = executor.run_call(call("a", "work")).await.unwrap();
        assert_eq!(told(&result), r#"tool-failed 1 a hook of tool "work" failed"#);
        assert_eq!(notes.all()[2..], ["last after {} {}", "first after {} tool-failed"]);
        let again = crate::rig::finish_within(64, executor.run_call(call("b", "work")));
        assert_eq!(again.unwrap().unwrap().attempts, 1, "the lock is free");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_has_failed() {
    let at_once = FunctionTool::json("work", "", json!({}), |_, _| {
        if true {
            panic!("before there is a future");
        }
        std::future::ready(Ok::<_, BoxError>(Value::Null))
    });
    let later = tool("work", |_, _| async { panic!("in the future") });
    let blocking = FunctionTool::blocking("work", "", |_: Value, _| -> Result<Value, BoxError> { panic!("blocking") });
    for broken in [at_once, later, blocking] {
        let rig = probe::rig([broken.exclusive().kind("search")], |builder| builder);
        let executor = rig.in_run(probe::RUN);
        let result = executor.run_call(call("a", "work")).await.unwrap();
        assert_eq!(told(&result), r#"tool-failed 1 tool "work" failed after 1 attempt"#);
        assert_nothing_is_held(&rig, "after a panic").await;
    }
}

/// A tool whose check panics.
struct PanicsInCheck;

impl Tool for PanicsInCheck {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("work", "", json!({}))
    }

    fn call(
        &self,
        _arguments: std::sync::Arc<Value>,
        _context: windtunnel_core::executor::ToolContext,
    ) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async { Ok(Value::Null) })
    }

    fn check(&self, _arguments: &Value) -> Result<(), ArgumentsError> {
        panic!("in the check")
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_that_panics_is_an_offence() {
    let mut registry = registry([]);
    registry.register(PanicsInCheck).unwrap();
    let executor = windtunnel_core::executor::Executor::new(registry);
    let result = in_run(&executor, "run-a").run_call(ToolCall::new("work", json!({}))).await.unwrap();
    assert_eq!(told(&result), "tool-args-invalid 0 $: the tool panicked while checking them");
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_not_json_has_failed() {
    // JSON has no number for it, and no key that is a list.
    let work = FunctionTool::json("work", "", json!({}), |_, _| async {
        Ok::<_, BoxError>(std::collections::BTreeMap::from([(vec![1], 2)]))
    });
    let rig = probe::rig([work], |builder| builder);
    let result = rig.in_run(probe::RUN).run_call(call("a", "work")).await.unwrap();
    assert_eq!(told(&result), r#"tool-failed 1 tool "work" failed after 1 attempt"#);
}
