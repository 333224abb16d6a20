//! The ledger and the events: what is written down of a call (E12, E13).

use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::event::EventLog;
use windtunnel_core::executor::{CallContext, Decision, LedgerEntry, MemoryLedger, Ports, ToolCall};

use crate::ports::Reviewer;
use crate::rig::{Rig, call, echo, env, ms, slow_echo, tool};

#[tokio::test(start_paused = true)]
async fn each_finished_call_has_one_ledger_entry() {
    let billed = tool("billed", |_, context| async move {
        context.env().sleep(ms(10)).await;
        context.add_cost_usd(0.25);
        if context.attempt() == 1 { Err("reset by peer".into()) } else { Ok(Value::Null) }
    });
    let rig = Rig::new([billed.retries(1), echo("asks").confirm()]);
    let executor = rig.in_run("run-a");
    for call in [call("a", "billed"), call("b", "nonesuch"), call("c", "asks")] {
        executor.run_call(call).await.unwrap();
    }
    let entry = |entry_id: &str, tool: &str, error| LedgerEntry {
        kind: "tool",
        entry_id: entry_id.into(),
        run_id: "run-a".into(),
        tool: tool.into(),
        status: "error",
        error,
        cost_usd: 0.0,
        attempts: 0,
        duration: ms(0),
    };
    let billed =
        LedgerEntry { status: "ok", cost_usd: 0.5, attempts: 2, duration: ms(520), ..entry("a", "billed", None) };
    let refused = [entry("b", "nonesuch", Some("tool-not-found")), entry("c", "asks", Some("approval-denied"))];
    assert_eq!(rig.ledger.entries(), [&[billed][..], &refused].concat());
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_has_no_ledger_entry_and_no_end() {
    let reviewer = Reviewer::new([Decision::Pending]);
    let rig = Rig::with([echo("asks").confirm()], |builder| builder.approval(reviewer));
    rig.executor.run_call(call("a", "asks")).await.unwrap();
    assert!(rig.ledger.entries().is_empty());
    assert_eq!(rig.events(), ["tool.started", "approval.requested", "tool.pending"]);
}

#[tokio::test(start_paused = true)]
async fn the_events_of_a_call_tell_its_whole_story() {
    let flaky = tool("work", |_, context| async move {
        context.env().sleep(ms(10)).await;
        if context.attempt() == 1 { Err("reset by peer".into()) } else { Ok(Value::Null) }
    });
    let rig = Rig::new([flaky.retries(1)]);
    rig.executor.run_call(ToolCall::new("work", json!({"secret": 1}))).await.unwrap();
    let lines: Vec<_> = rig.log.events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let about = r#""run_id":"run-1","call_id":"call-1""#;
    let line = |sequence: u64, at_ms: u64, kind: &str, data: &str| {
        format!(
            r#"{{"sequence":{sequence},"at_ns":{},{about},"type":"{kind}","data":{{"tool":"work"{data}}}}}"#,
            at_ms * 1_000_000
        )
    };
    assert_eq!(
        lines,
        [
            line(0, 0, "tool.started", ""),
            line(1, 0, "tool.attempt", r#","attempt":1"#),
            line(2, 10, "tool.retry", r#","attempt":1,"cause":"foreign","delay_s":0.5"#),
            line(3, 510, "tool.attempt", r#","attempt":2"#),
            line(4, 520, "tool.finished", r#","status":"ok","attempts":2,"cached":false,"duration_s":0.52"#),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_enclosing_call_is_the_parent() {
    let outer = tool("outer", |arguments, context| async move {
        let depth = arguments["depth"].as_u64().unwrap_or(0);
        if depth > 0 {
            let inner = ToolCall::new("outer", json!({"depth": depth - 1})).with_id(format!("depth-{}", depth - 1));
            context.executor().run_call(inner).await?;
        }
        Ok(Value::Null)
    });
    let rig = Rig::new([outer]);
    rig.executor.run_call(ToolCall::new("outer", json!({"depth": 2})).with_id("depth-2")).await.unwrap();
    for (call_id, parent_id) in [("depth-2", None), ("depth-1", Some("depth-2")), ("depth-0", Some("depth-1"))] {
        let events = rig.log.of_call(call_id);
        assert_eq!(events.len(), 3);
        assert!(events.iter().all(|event| event.parent_id.as_deref() == parent_id && &*event.run_id == "run-1"));
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_numbered_in_the_order_sinks_see_them() {
    let rig = Rig::new([slow_echo("slow", ms(10)), echo("work")]);
    rig.executor.run_many((0..20).map(|n| call("", if n % 2 == 0 { "slow" } else { "work" }))).await.unwrap();
    let events = rig.log.events();
    assert!(events.iter().enumerate().all(|(index, event)| event.sequence == index as u64));
    assert!(events.is_sorted_by_key(|event| event.at));
}

#[tokio::test(start_paused = true)]
async fn the_sink_and_ledger_of_the_context_win_also_for_nested_calls() {
    let outer =
        tool(
            "outer",
            |_, context| async move { Ok(context.executor().run_call(call("b", "inner")).await?.into_value()?) },
        );
    let rig = Rig::new([outer, echo("inner")]);
    let (log, ledger) = (EventLog::new(), MemoryLedger::new());
    let ports = Ports { sink: Some(Arc::new(log.clone())), ledger: Some(Arc::new(ledger.clone())), ..Ports::default() };
    let context = CallContext { ports, ..CallContext::default() };
    rig.executor.run_call(call("z", "inner")).await.unwrap();
    rig.executor.in_context(context).run_call(call("a", "outer")).await.unwrap();
    assert_eq!((rig.log.len(), rig.ledger.entries().len()), (3, 1));
    assert_eq!((log.of_call("a").len(), log.of_call("b").len(), ledger.entries().len()), (3, 3, 2));
    assert_eq!(log.events()[0].sequence, 3, "one sequence orders the events of one executor");
}

#[tokio::test(start_paused = true)]
async fn without_a_clock_that_moves_a_call_takes_no_time() {
    let rig = Rig::with([echo("work")], |builder| builder.env(env()));
    assert_eq!(rig.executor.run_call(call("a", "work")).await.unwrap().duration, ms(0));
}
