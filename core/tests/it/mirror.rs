//! What `tracing` sees of the events: a span for each call, and a record for each event, in OpenTelemetry's words.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tracing::Level;
use windtunnel_core::event::EventLog;
use windtunnel_core::executor::{CallContext, Decision, LoopOptions};
use windtunnel_core::model::{Message, ModelRequest};

use crate::capture::{Capture, Entry};
use crate::ports::{Reviewer, Script};
use crate::rig::{Rig, call, echo, tool};

/// What of an event's data a record says, and under which name.
const FIELDS: [(&str, &str); 15] = [
    ("tool", "gen_ai.tool.name"),
    ("model", "gen_ai.request.model"),
    ("input_tokens", "gen_ai.usage.input_tokens"),
    ("output_tokens", "gen_ai.usage.output_tokens"),
    ("error", "error.type"),
    ("cause", "error.type"),
    ("approval_id", "approval_id"),
    ("approved", "approved"),
    ("edited", "edited"),
    ("attempt", "attempt"),
    ("attempts", "attempts"),
    ("turn", "turn"),
    ("delay_s", "delay_s"),
    ("duration_s", "duration_s"),
    ("cached", "cached"),
];

/// Holds each record of a capture against its event in a log.
#[track_caller]
pub(crate) fn assert_mirrored(capture: &Capture, log: &EventLog) {
    let records: Vec<_> = capture.entries().into_iter().filter(|entry| entry.fields.contains_key("sequence")).collect();
    let events = log.events();
    assert!(!events.is_empty() && records.len() == events.len(), "{records:?}");
    for (mut record, event) in records.into_iter().zip(&events) {
        let data = event.data();
        let mut expected: BTreeMap<String, String> =
            FIELDS.iter().filter_map(|(name, field)| Some(((*field).to_owned(), text(data.get(*name)?)))).collect();
        expected.insert("message".to_owned(), event.kind.name().to_owned());
        expected.insert("sequence".to_owned(), event.sequence.to_string());
        expected.insert("run_id".to_owned(), event.run_id.to_string());
        expected.extend(event.call_id.iter().map(|id| ("gen_ai.tool.call.id".to_owned(), id.to_string())));
        expected.extend(event.parent_id.iter().map(|id| ("parent_id".to_owned(), id.to_string())));
        record.fields.remove("gen_ai.operation.name");
        assert_eq!(record.fields, expected);
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn each_call_has_a_span() {
    let outer =
        tool(
            "outer",
            |_, context| async move { Ok(context.executor().run_call(call("b", "inner")).await?.into_value()?) },
        );
    let (capture, _guard) = Capture::begin();
    let rig = Rig::new([outer, echo("inner")]);
    rig.executor.run_call(call("a", "outer")).await.unwrap();
    let spans: Vec<_> = capture.entries().into_iter().filter(|entry| entry.span == Some("execute_tool")).collect();
    let fields = |span: &Entry| {
        assert_eq!((span.level, span.fields["run_id"].as_str()), (Level::INFO, "run-1"));
        ["gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.id"].map(|name| span.fields[name].clone())
    };
    let [outer, inner] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(fields(outer), ["execute_tool", "outer", "a"]);
    assert_eq!(fields(inner), ["execute_tool", "inner", "b"]);
}

#[tokio::test(start_paused = true)]
async fn each_event_is_a_record_at_debug() {
    let (capture, _guard) = Capture::begin();
    let flaky = tool("work", |_, context| async move {
        if context.attempt() == 1 { Err("reset by peer".into()) } else { Ok(json!(1)) }
    });
    let rig = Rig::with([flaky.retries(1).confirm()], |builder| builder.approval(Reviewer::new([Decision::Pending])));
    let executor = rig.in_run("run-a");
    for _ in 0..2 {
        executor.run_call(call("a", "work")).await.unwrap();
    }
    assert_mirrored(&capture, &rig.log);
    for entry in capture.entries().iter().filter(|entry| entry.fields.contains_key("sequence")) {
        assert_eq!((entry.level, &*entry.fields["gen_ai.tool.name"]), (Level::DEBUG, "work"));
        assert_eq!(entry.fields["gen_ai.operation.name"], "execute_tool");
    }
    let field = |event: &str, field: &str| capture.mentions(event).pop().unwrap().fields[field].clone();
    assert_eq!((field("tool.retry", "delay_s"), field("tool.retry", "attempt")), ("0.5".to_owned(), "1".to_owned()));
    assert_eq!(
        (field("tool.retry", "error.type"), field("tool.retry", "run_id")),
        ("foreign".to_owned(), "run-a".to_owned())
    );
    assert_eq!(field("approval.decided", "approved"), "true");
}

#[tokio::test(start_paused = true)]
async fn events_without_a_sink_are_mirrored_too() {
    let (capture, _guard) = Capture::begin();
    let executor = windtunnel_core::executor::Executor::new(crate::rig::registry([echo("work")]));
    executor
        .run_scope(CallContext::default(), async |executor| executor.run("nonesuch", json!({})).await)
        .await
        .unwrap_err();
    assert_eq!(capture.messages(Level::DEBUG), ["run.started", "tool.started", "tool.finished", "run.finished"]);
    assert_eq!(capture.mentions("tool-not-found")[0].fields["error.type"], "tool-not-found");
}

#[tokio::test(start_paused = true)]
async fn the_turns_of_a_model_are_mirrored_without_the_conversation() {
    let (capture, _guard) = Capture::begin();
    let rig = Rig::new([echo("work")]);
    let request =
        ModelRequest { model: "opus".to_owned(), messages: vec![Message::user("hello")], ..ModelRequest::default() };
    rig.executor.run_tool_loop(&Script::default(), request, &LoopOptions::default()).await.unwrap();
    let finished = capture.mentions("model.finished").remove(0).fields;
    assert_eq!(finished["gen_ai.operation.name"], "chat");
    assert_eq!(finished["gen_ai.request.model"], "opus");
    assert_eq!((&*finished["gen_ai.usage.input_tokens"], &*finished["gen_ai.usage.output_tokens"]), ("3", "2"));
    assert_mirrored(&capture, &rig.log);
    assert!(capture.mentions("hello").is_empty() && capture.mentions("done").is_empty());
}
