//! Approval (E8): who is asked, when, and what becomes of the answer.

use std::sync::Arc;

use serde_json::{Value, json};
use tracing::Level;
use windtunnel_core::executor::{CallContext, Decision, Executor, MemoryCache, Ports, ToolCall, ToolResult};
use windtunnel_core::tool::{CacheScope, FunctionTool, PreparedTool};

use crate::capture::Capture;
use crate::ports::{Noting, Reviewer, edit};
use crate::rig::{Notes, Rig, call, echo, env, ms, noted_echo, told, tool, yield_once};

/// `send` for an integer `id`, under approval.
fn send() -> FunctionTool {
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    FunctionTool::json("send", "Sends.", schema, |arguments, _| async move {
        Ok::<_, windtunnel_core::BoxError>((*arguments).clone())
    })
    .confirm()
}

fn send_call(id: i64) -> ToolCall {
    ToolCall::new("send", json!({ "id": id })).with_id("call-a")
}

/// The approval ids that the events named, in order, as `requested:approval-1`.
fn approvals(rig: &Rig) -> Vec<String> {
    let named = |event: &windtunnel_core::event::Event| {
        let id = event.data().get("approval_id")?.as_str()?.to_owned();
        let step = event.kind.name().rsplit('.').next()?;
        Some(format!("{step}:{id}"))
    };
    rig.log.events().iter().filter_map(named).collect()
}

#[tokio::test(start_paused = true)]
async fn without_a_port_the_call_is_denied_and_one_warning_says_so() {
    let (capture, _guard) = Capture::begin();
    let rig = Rig::new([send()]);
    let result = rig.executor.run_call(send_call(1)).await.unwrap();
    assert_eq!(told(&result), "approval-denied 0 no approval port configured");
    assert_eq!(rig.events(), ["tool.started", "tool.finished"]);
    assert_eq!(rig.ledger.entries().len(), 1);
    let warnings = capture.messages(Level::WARN);
    assert_eq!(warnings, ["a call needs approval and is denied: no approval port configured"]);
}

/// One decision, what the call comes to, and what the events say between its start and its end.
async fn check_decision(decision: Decision, expected: &str, events: &[&str]) {
    let reviewer = Reviewer::new([decision]);
    let rig = Rig::with([send()], |builder| builder.approval(reviewer.clone()));
    let result = rig.executor.run_call(send_call(1)).await.unwrap();
    assert_eq!(told(&result), expected);
    let seen = rig.events();
    assert_eq!((seen[0], &seen[1..]), ("tool.started", events));
    let requests = reviewer.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((&*requests[0].call_id, &*requests[0].tool, &*requests[0].run_id), ("call-a", "send", "run-1"));
    assert_eq!(*requests[0].arguments, json!({"id": 1}));
}

#[tokio::test(start_paused = true)]
async fn each_decision_has_its_outcome() {
    const RAN: [&str; 4] = ["approval.requested", "approval.decided", "tool.attempt", "tool.finished"];
    const REFUSED: [&str; 3] = ["approval.requested", "approval.decided", "tool.finished"];
    check_decision(Decision::approve(), r#"ok 1 {"id":1}"#, &RAN).await;
    check_decision(edit(json!({"id": 9})), r#"ok 1 {"id":9}"#, &RAN).await;
    check_decision(Decision::deny("not today"), "approval-denied 0 not today", &REFUSED).await;
    let invalid = r#"tool-args-invalid 0 $.id: value is not of type "integer""#;
    check_decision(edit(json!({"id": "nine"})), invalid, &REFUSED).await;
    check_decision(Decision::Pending, "pending 0 approval-1", &["approval.requested", "tool.pending"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_decision_event_says_approved_and_edited() {
    for (decision, approved, edited) in
        [(Decision::approve(), true, false), (edit(json!({"id": 9})), true, true), (Decision::deny("no"), false, false)]
    {
        let rig = Rig::with([send()], |builder| builder.approval(Reviewer::new([decision])));
        rig.executor.run_call(send_call(1)).await.unwrap();
        let decided = rig.log.of_type("approval.decided")[0].data();
        assert_eq!((&decided["approved"], &decided["edited"]), (&json!(approved), &json!(edited)));
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_invalid_never_reach_the_reviewer() {
    let reviewer = Reviewer::new([]);
    let rig = Rig::with([send()], |builder| builder.approval(reviewer.clone()));
    let result = rig.executor.run("send", json!({"id": "one"})).await.unwrap_err();
    assert!(result.to_string().starts_with("tool-args-invalid"), "{result}");
    assert!(reviewer.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_rule_over_call_and_context_decides_who_is_asked() {
    let reviewer = Reviewer::new([]);
    let pay = echo("pay").confirm_when(|call, context| {
        assert_eq!((call.id.as_str(), call.name.as_str()), ("call-a", "pay"));
        call.arguments["amount"].as_i64() > Some(50) && context.thread_id.as_deref() != Some("trusted")
    });
    let rig = Rig::with([pay], |builder| builder.approval(reviewer.clone()));
    let trusted = CallContext { thread_id: Some("trusted".to_owned()), ..CallContext::default() };
    let trusted = rig.executor.in_context(trusted);
    for (executor, amount, asked) in [(&rig.executor, 50, 0), (&rig.executor, 51, 1), (&trusted, 51, 1)] {
        let pay = ToolCall::new("pay", json!({ "amount": amount })).with_id("call-a");
        assert_eq!(executor.run_call(pay).await.unwrap().status(), "ok");
        assert_eq!(reviewer.requests().len(), asked);
    }
}

#[tokio::test(start_paused = true)]
async fn edited_arguments_go_through_the_hooks_again_and_become_the_cache_key() {
    let notes = Notes::default();
    let ran = Notes::default();
    let read = noted_echo("read", &ran).confirm().cache(ms(60_000), CacheScope::Run);
    let env = env();
    let rig = Rig::with([read], |builder| {
        builder
            .env(env.clone())
            .cache(MemoryCache::new(env.clone(), 8))
            .approval(Reviewer::new([edit(json!({"page": 2})), edit(json!({"page": 2})), Decision::approve()]))
            .hook(Noting { name: "hook", notes: notes.clone() })
    });
    let executor = rig.in_run("run-a");
    let read = |page: i64| executor.run_call(ToolCall::new("read", json!({ "page": page })));
    assert_eq!(told(&read(1).await.unwrap()), r#"ok 1 {"page":2}"#);
    // Another question, the same edit: the same key.
    assert_eq!(told(&read(7).await.unwrap()), r#"cached 0 {"page":2}"#);
    // The first question, unedited: nothing was cached for it.
    assert_eq!(told(&read(1).await.unwrap()), r#"ok 1 {"page":1}"#);
    assert_eq!(ran.all(), [r#"{"page":2}"#, r#"{"page":1}"#]);
    let first = [r#"hook before {"page":1}"#, r#"hook before {"page":2}"#, r#"hook after {"page":2} {"page":2}"#];
    assert_eq!(notes.all()[..3], first);
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_keeps_its_approval_id_until_it_is_decided() {
    let reviewer = Reviewer::new([Decision::Pending, Decision::Pending, Decision::approve(), Decision::Pending]);
    let rig = Rig::with([send()], |builder| builder.approval(reviewer.clone()));
    let executor = rig.in_run("run-a");
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(told(&executor.run_call(send_call(1)).await.unwrap()));
    }
    assert_eq!(
        seen,
        ["pending 0 approval-1", "pending 0 approval-1", r#"ok 1 {"id":1}"#, "pending 0 approval-2"],
        "the fourth is a new question: the first one was decided"
    );
    assert_eq!(
        approvals(&rig),
        [
            "requested:approval-1",
            "pending:approval-1",
            "requested:approval-1",
            "pending:approval-1",
            "requested:approval-1",
            "decided:approval-1",
            "requested:approval-2",
            "pending:approval-2",
        ]
    );
    // E12: only the finished call is in the ledger.
    assert_eq!(rig.ledger.entries().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_in_a_fresh_run_is_known_by_its_call_id() {
    let reviewer = Reviewer::new([Decision::Pending, Decision::Pending, Decision::Pending, Decision::approve()]);
    let rig = Rig::with([send()], |builder| builder.approval(reviewer));
    let resume = |executor: Executor, call: ToolCall| async move { told(&executor.run_call(call).await.unwrap()) };
    assert_eq!(resume(rig.executor.clone(), send_call(1)).await, "pending 0 approval-1");
    // Other arguments and another run are other calls.
    assert_eq!(resume(rig.executor.clone(), send_call(2)).await, "pending 0 approval-2");
    assert_eq!(resume(rig.in_run("run-a"), send_call(1)).await, "pending 0 approval-3");
    assert_eq!(resume(rig.executor.clone(), send_call(1)).await, r#"ok 1 {"id":1}"#);
    assert_eq!(approvals(&rig).last().unwrap(), "decided:approval-1");
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_does_not_count_until_it_runs() {
    let reviewer = Reviewer::new([Decision::Pending]);
    let rig = Rig::with([send().once_per_run()], |builder| builder.approval(reviewer));
    let executor = rig.in_run("run-a");
    assert_eq!(executor.run_call(send_call(1)).await.unwrap().status(), "pending");
    let other = send_call(2).with_id("call-b");
    assert_eq!(executor.run_call(other).await.unwrap().status(), "ok");
    assert!(told(&executor.run_call(send_call(1)).await.unwrap()).starts_with("once-per-run 0"));
}

#[tokio::test(start_paused = true)]
async fn the_approvals_that_calls_wait_for_are_bounded() {
    // The same id for different calls, as providers that number calls from 0 give: each waits on its own.
    let reviewer = Reviewer::new(vec![Decision::Pending; 5]);
    let rig = Rig::with([send()], |builder| builder.approval(reviewer).runs_tracked_max(2));
    for id in [1, 2, 3] {
        rig.executor.run_call(send_call(id)).await.unwrap();
    }
    let again = async |id| told(&rig.executor.run_call(send_call(id)).await.unwrap());
    assert_eq!(again(3).await, "pending 0 approval-3");
    assert_eq!(again(1).await, "pending 0 approval-4", "only the newest two are remembered");
}

fn approved(call_id: &str) -> CallContext {
    CallContext { call_id: call_id.to_owned(), approval: Some(Decision::approve()), ..CallContext::default() }
}

#[tokio::test(start_paused = true)]
async fn a_preapproval_covers_the_call_it_is_passed_to() {
    // The context's call id, the call's own, and whether the pre-approval covers it.
    for (context_id, call_id, covers) in
        [("", "call-a", true), ("", "", true), ("call-a", "call-a", true), ("call-a", "", true), ("call-a", "b", false)]
    {
        let rig = Rig::new([send()]);
        let executor = rig.executor.in_context(approved(context_id));
        let result = executor.run_call(send_call(1).with_id(call_id)).await.unwrap();
        let expected = if covers { "ok" } else { "error" };
        assert_eq!(result.status(), expected, "context {context_id:?}, call {call_id:?}");
        let events = rig.events();
        assert_eq!(events.contains(&"approval.decided"), covers);
        assert!(!events.contains(&"approval.requested"), "the port is not asked");
    }
}

#[tokio::test(start_paused = true)]
async fn a_preapproval_covers_run_and_run_spec_too() {
    let rig = Rig::new([send()]);
    let executor = || rig.executor.in_context(approved(""));
    assert_eq!(executor().run("send", json!({"id": 1})).await.unwrap(), json!({"id": 1}));
    let spec = PreparedTool::new(send()).unwrap();
    let result = executor().run_spec(&spec, json!({"id": 2})).await.unwrap();
    assert_eq!(told(&result), r#"ok 1 {"id":2}"#);
}

#[tokio::test(start_paused = true)]
async fn a_preapproval_covers_one_call_of_its_handle_and_none_of_a_scope() {
    let rig = Rig::new([send()]);
    let executor = rig.executor.in_context(approved(""));
    assert_eq!(executor.run_call(send_call(1)).await.unwrap().status(), "ok");
    for handle in [executor.clone(), executor] {
        assert_eq!(handle.run_call(send_call(2)).await.unwrap().status(), "error");
    }
    let scoped = |executor: Executor| async move { executor.run_call(send_call(3)).await.unwrap().status() };
    assert_eq!(rig.executor.run_scope(approved(""), scoped).await, "error");
}

#[tokio::test(start_paused = true)]
async fn a_preapproval_may_deny_edit_and_wait() {
    for (decision, expected) in [
        (Decision::deny("on hold"), "approval-denied 0 on hold"),
        (edit(json!({"id": 9})), r#"ok 1 {"id":9}"#),
        (Decision::Pending, "pending 0 approval-1"),
    ] {
        let rig = Rig::new([send()]);
        let executor = rig.executor.in_context(CallContext { approval: Some(decision), ..CallContext::default() });
        assert_eq!(told(&executor.run_call(send_call(1)).await.unwrap()), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_preapproval_decides_what_the_call_waited_for() {
    let rig = Rig::with([send()], |builder| builder.approval(Reviewer::new([Decision::Pending])));
    rig.executor.run_call(send_call(1)).await.unwrap();
    rig.executor.in_context(approved("call-a")).run_call(send_call(1)).await.unwrap();
    assert_eq!(approvals(&rig), ["requested:approval-1", "pending:approval-1", "decided:approval-1"]);
}

#[tokio::test(start_paused = true)]
async fn the_body_of_a_tool_has_no_approval_to_pass_on() {
    let outer = tool("outer", |_, context| async move {
        // Even a nested call that takes over the id of the one around it asks the port.
        let nested = ToolCall::new("send", json!({"id": 2})).with_id(context.call_id());
        assert_eq!(context.executor().context().approval, None);
        let result = context.executor().run_call(nested).await?;
        Ok(Value::from(told(&result)))
    });
    let rig = Rig::new([outer.confirm(), send()]);
    let result = rig.executor.in_context(approved("")).run_call(call("call-a", "outer")).await.unwrap();
    assert_eq!(told(&result), r#"ok 1 "approval-denied 0 no approval port configured""#);
}

#[tokio::test(start_paused = true)]
async fn the_ports_of_the_context_win() {
    let (ours, theirs) = (Reviewer::new([]), Reviewer::new([Decision::deny("theirs")]));
    let rig = Rig::with([send()], |builder| builder.approval(ours.clone()));
    let ports = Ports { approval: Some(Arc::new(theirs)), ..Ports::default() };
    let executor = rig.executor.in_context(CallContext { ports, ..CallContext::default() });
    assert_eq!(told(&executor.run_call(send_call(1)).await.unwrap()), "approval-denied 0 theirs");
    assert!(ours.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_it_waits_for_the_reviewer_was_never_pending() {
    let env = env();
    let reviewer = Reviewer::new([]).thinking(&env, ms(1_000));
    let rig = Rig::with([send()], |builder| builder.env(env.clone()).approval(reviewer.clone()));
    assert!(env.timeout(ms(500), rig.executor.run_call(send_call(1))).await.is_err());
    assert_eq!(told(&rig.executor.run_call(send_call(1)).await.unwrap()), r#"ok 1 {"id":1}"#);
    assert_eq!(approvals(&rig), ["requested:approval-1", "requested:approval-2", "decided:approval-2"]);
    yield_once().await;
    assert_eq!(rig.log.of_type("tool.finished").len(), 1, "the dropped call has no end");
}

/// E8: no batch uses a pre-approval.
mod batches {
    use futures_util::TryStreamExt;
    use windtunnel_core::executor::{LoopOptions, Plan, PlanStep};
    use windtunnel_core::model::{Message, ModelRequest};

    use super::*;
    use crate::ports::Script;

    fn check(results: &[ToolResult]) {
        assert_eq!(results.len(), 1);
        assert_eq!(told(&results[0]), "approval-denied 0 no approval port configured");
    }

    #[tokio::test(start_paused = true)]
    async fn ignore_a_preapproval() {
        for context_id in ["", "call-a"] {
            let executor = Rig::new([send()]).executor.in_context(approved(context_id));
            check(&executor.run_many([send_call(1)]).await.unwrap());
            let completed: Vec<_> = executor.as_completed([send_call(1)]).try_collect().await.unwrap();
            check(&completed.into_iter().map(|completed| completed.result).collect::<Vec<_>>());
            let plan = Plan::new([PlanStep::new("only", send_call(1))]).unwrap();
            let steps = executor.run_plan(&plan).await.unwrap();
            check(&[steps[0].outcome.result().unwrap().clone()]);
            let request =
                ModelRequest { messages: vec![Message::tool_calls(vec![send_call(1)])], ..ModelRequest::default() };
            let looped = executor.run_tool_loop(&Script::default(), request, &LoopOptions::default()).await.unwrap();
            check(&looped.results);
        }
    }
}
