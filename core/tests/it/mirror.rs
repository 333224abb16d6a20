//! What `tracing` sees of the events: a span for each call, and a record for each event, in OpenTelemetry's words.

use serde_json::json;
use tracing::Level;
use windtunnel_core::executor::{CallContext, Decision, LoopOptions};
use windtunnel_core::model::{Message, ModelRequest};

use crate::capture::{Capture, Entry};
use crate::ports::{Reviewer, Script};
use crate::rig::{Rig, call, echo, tool};

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
    let mirrored: Vec<_> =
        capture.entries().into_iter().filter(|entry| entry.fields.contains_key("sequence")).collect();
    let names: Vec<_> = mirrored.iter().map(|entry| entry.fields["message"].as_str()).collect();
    assert_eq!(names, rig.events());
    for (index, entry) in mirrored.iter().enumerate() {
        assert_eq!((entry.level, &entry.fields["sequence"]), (Level::DEBUG, &index.to_string()));
        assert_eq!(entry.fields["gen_ai.tool.name"], "work");
        assert_eq!(entry.fields["gen_ai.tool.call.id"], "a");
        assert_eq!(entry.fields["run_id"], "run-a");
    }
    let field = |event: &str, field: &str| {
        let entry = mirrored.iter().rfind(|entry| entry.fields["message"] == event).unwrap();
        entry.fields[field].clone()
    };
    assert_eq!((field("tool.retry", "delay_s"), field("tool.retry", "attempt")), ("0.5".to_owned(), "1".to_owned()));
    assert_eq!(field("tool.pending", "approval_id"), "approval-1");
    assert_eq!(field("approval.decided", "approved"), "true");
    assert_eq!(
        (field("tool.finished", "attempts"), field("tool.finished", "cached")),
        ("2".to_owned(), "false".to_owned())
    );
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
    assert!(capture.mentions("hello").is_empty() && capture.mentions("done").is_empty());
}
