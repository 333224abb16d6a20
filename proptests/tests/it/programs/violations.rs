//! The invariants of programs notice what they are there for: logs with one thing wrong.

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::evaluator::{ErrorKind, RetryPolicy};
use windtunnel_core::event::{Event, EventKind};
use windtunnel_proptests::invariants::{attempts_keep_their_call, programs_finish_once};
use windtunnel_proptests::played::ObservedAttempt;

fn event(name: &str) -> Event {
    let (tool, attempt) = ("fetch".into(), 1);
    let kind = match name {
        "started" => EventKind::ProgramStarted { program: "".into(), version: "2.0" },
        "call" => EventKind::ProgramCall { tool, path: "$.body[0]".into(), attempt },
        "answer" => EventKind::ProgramAnswer { tool, attempt, status: "ok", error: None, duration_s: 0.0 },
        _ => EventKind::ProgramFinished { status: "ok", error: None, nodes: 2, tool_calls: 1, duration_s: 0.0 },
    };
    let is_own = matches!(name, "started" | "finished");
    let (call_id, parent_id) = if is_own { ("program", None) } else { ("program-1", Some("program".into())) };
    Event {
        host: None,
        sequence: 0,
        at: Duration::ZERO,
        run_id: "run".into(),
        call_id: Some(call_id.into()),
        parent_id,
        kind,
    }
}

#[test]
fn evaluations_that_begin_or_end_wrongly_are_noticed() {
    for (names, rule) in [
        (&["started", "call", "answer", "finished"][..], None),
        (&["started", "finished"], None),
        (&["started", "call", "answer"], Some("V8")),
        (&["started", "started", "finished"], Some("V8")),
        (&["started", "finished", "finished"], Some("V8")),
        (&["started", "finished", "call"], Some("V8")),
        (&["started", "call", "finished", "answer"], Some("V8")),
        (&["started", "call", "call", "finished"], Some("V6")),
    ] {
        let events: Vec<_> = names.iter().map(|name| event(name)).collect();
        assert_eq!(programs_finish_once(&events).err().map(|violation| violation.rule), rule, "{names:?}");
    }
}

/// Three attempts of one call.
fn attempts() -> Vec<ObservedAttempt> {
    let attempt = |attempt: u32| ObservedAttempt {
        call_id: "call".to_owned(),
        tool: "fetch".to_owned(),
        arguments: json!({"key": "k"}),
        attempt,
        began: Duration::ZERO,
        failure: (attempt < 3).then_some(ErrorKind::Timeout),
        ended: Some(Duration::ZERO),
    };
    (1..=3).map(attempt).collect()
}

fn retry() -> RetryPolicy {
    let (max_attempts, idempotent_tools) = (NonZeroU32::new(3).unwrap(), ["fetch".to_owned()].into());
    RetryPolicy { max_attempts, idempotent_tools, ..RetryPolicy::default() }
}

#[track_caller]
fn check(told: &str, change: impl FnOnce(&mut Vec<ObservedAttempt>, &mut RetryPolicy)) {
    let (mut attempts, mut retry) = (attempts(), retry());
    change(&mut attempts, &mut retry);
    let violation = attempts_keep_their_call(&attempts, &retry).unwrap_err();
    assert_eq!(violation.rule, "V7");
    assert!(violation.message.contains(told), "{violation}");
}

#[test]
fn attempts_that_change_or_go_on_are_noticed() {
    assert_eq!(attempts_keep_their_call(&attempts(), &retry()), Ok(()));
    check("comes first", |attempts, _| drop(attempts.remove(0)));
    check("comes after attempt 1", |attempts, _| drop(attempts.remove(1)));
    check("is not the call that it was", |attempts, _| attempts[1].arguments = json!({"key": "l"}));
    check("is not the call that it was", |attempts, _| attempts[2].tool = "ping".to_owned());
    check("is one of 2", |_, retry| retry.max_attempts = NonZeroU32::new(2).unwrap());
    check("may not be repeated", |_, retry| retry.idempotent_tools.clear());
    check("follows on Some(Timeout)", |_, retry| retry.retryable = [ErrorKind::ToolExecution].into());
    check("follows on None", |attempts, _| attempts[0].failure = None);
    check("follows on Some(Timeout)", |attempts, _| attempts[0].ended = None);
    check("follows on Some(ReplayMismatch)", |attempts, retry| {
        attempts[0].failure = Some(ErrorKind::ReplayMismatch);
        retry.retryable.insert(ErrorKind::ReplayMismatch);
    });
}
