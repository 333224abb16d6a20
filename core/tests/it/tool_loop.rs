//! Model and tools in turns.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::executor::{
    Decision, Executor, LoopEnd, LoopError, LoopOptions, LoopOutcome, RunLimits, ToolCall,
};
use windtunnel_core::model::{
    Delta, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Role,
};
use windtunnel_core::tool::ToolError;
use windtunnel_core::{BoxFuture, BoxStream};

use crate::ports::{Reviewer, Script, answers, calls};
use crate::rig::{Notes, Rig, call, echo, noted_echo, tool, verdicts};

fn ask(messages: impl IntoIterator<Item = Message>) -> ModelRequest {
    ModelRequest { model: "opus".to_owned(), messages: messages.into_iter().collect(), ..ModelRequest::default() }
}

async fn run(executor: &Executor, model: &Script, options: &LoopOptions) -> LoopOutcome {
    executor.run_tool_loop(model, ask([Message::user("go")]), options).await.unwrap()
}

/// The conversation, a line a message.
fn transcript(messages: &[Message]) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<_> = message.tool_calls.iter().map(|call| format!("{}:{}", call.id, call.name)).collect();
        let to = message.tool_call_id.as_deref().unwrap_or("");
        format!("{:?} {to}{}{}", message.role, calls.join(","), message.content)
    };
    messages.iter().map(line).collect()
}

/// The options to ask for whole responses, and for streamed ones; and the pieces that came.
fn ways() -> [(LoopOptions, Arc<Mutex<Vec<Delta>>>); 2] {
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&pieces);
    let on_delta: windtunnel_core::executor::OnDelta = Arc::new(move |delta: &Delta| seen.lock().push(delta.clone()));
    let streamed = LoopOptions { on_delta: Some(on_delta), ..LoopOptions::default() };
    [(LoopOptions::default(), Arc::default()), (streamed, pieces)]
}

#[tokio::test(start_paused = true)]
async fn the_model_is_asked_until_it_answers() {
    for (options, pieces) in ways() {
        let rig = Rig::new([echo("read"), echo("write")]);
        let read = ToolCall::new("read", json!({"page": 1})).with_id("a");
        let model = Script::new([
            Ok(calls([read, call("b", "write")])),
            Ok(calls([call("c", "read")])),
            Ok(answers("all done")),
        ]);
        let outcome = run(&rig.executor, &model, &options).await;
        assert_eq!((outcome.end, outcome.turns), (LoopEnd::Answer, 3));
        assert_eq!((outcome.usage.input_tokens, outcome.usage.output_tokens), (9, 6));
        assert_eq!(verdicts(&outcome.results), ["ok"; 3]);
        assert_eq!(
            transcript(&outcome.messages),
            [
                "User go",
                "Assistant a:read,b:write",
                r#"Tool a{"page":1}"#,
                "Tool b{}",
                "Assistant c:read",
                "Tool c{}",
                "Assistant all done",
            ]
        );
        let requests = model.requests();
        assert_eq!(requests.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [1, 4, 6]);
        let offered = requests[0].tools.iter().map(|tool| tool.name.as_str());
        assert_eq!(offered.collect::<Vec<_>>(), ["read", "write"], "all registered tools are offered");
        let finished = pieces.lock().iter().filter(|piece| matches!(piece, Delta::Finished { .. })).count();
        assert_eq!(finished, if options.on_delta.is_some() { 3 } else { 0 });
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_one_run_and_says_its_turns() {
    let rig = Rig::new([echo("once").once_per_run()]);
    let model = Script::new([Ok(calls([call("a", "once"), call("b", "once")])), Ok(calls([call("c", "once")]))]);
    let outcome = run(&rig.executor, &model, &LoopOptions::default()).await;
    assert_eq!(verdicts(&outcome.results), ["ok", "once-per-run", "once-per-run"]);
    assert!(rig.log.events().iter().all(|event| &*event.run_id == "run-1"));
    let turns = rig.log.of_type("model.finished");
    let told: Vec<_> = turns.iter().map(|event| serde_json::to_value(event.data()).unwrap()).collect();
    assert_eq!(told.len(), 3);
    assert_eq!(
        told[0],
        json!({"model": "opus", "turn": 1, "status": "ok", "tool_calls": 2, "input_tokens": 3, "output_tokens": 2})
    );
    assert_eq!((&told[2]["turn"], &told[2]["tool_calls"]), (&json!(3), &json!(0)));
    assert_eq!(rig.events()[..2], ["model.started", "model.finished"]);
}

#[tokio::test(start_paused = true)]
async fn the_tools_offered_may_be_chosen() {
    let rig = Rig::new([echo("read"), echo("write")]);
    let model = Script::default();
    let tools = rig.executor.registry().iter().take(1).map(|tool| tool.spec().into()).collect();
    let request = ModelRequest { tools, ..ask([Message::user("go")]) };
    rig.executor.run_tool_loop(&model, request, &LoopOptions::default()).await.unwrap();
    assert_eq!(model.requests()[0].tools.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_turn_limit_is_inclusive_and_leaves_a_conversation_to_go_on_from() {
    let endless = || Script::new((0..9).map(|n| Ok(calls([call(&format!("call-{n}"), "read")]))));
    for turns_max in [0, 1, 3] {
        let rig = Rig::new([echo("read")]);
        let model = endless();
        let outcome = run(&rig.executor, &model, &LoopOptions { turns_max, ..LoopOptions::default() }).await;
        assert_eq!((outcome.end, outcome.turns), (LoopEnd::TurnLimit, turns_max));
        assert_eq!(model.requests().len(), turns_max as usize);
        assert_eq!(outcome.results.len(), turns_max as usize, "the calls of the last turn were made");
        assert_eq!(outcome.messages.len(), 1 + 2 * turns_max as usize);
        if turns_max > 0 {
            assert_eq!(outcome.messages.last().unwrap().role, Role::Tool);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_with_a_call_is_for_the_model_to_read() {
    let refusing = tool("pay", |_, _| async { Err(ToolError::new("no such card").into()) });
    let failing = tool("fail", |_, _| async { Err("password=hunter2".into()) });
    let rig = Rig::new([refusing, failing]);
    let model = Script::new([Ok(calls([call("a", "pay"), call("b", "fail"), call("c", "nonesuch")]))]);
    let outcome = run(&rig.executor, &model, &LoopOptions::default()).await;
    let error = |kind: &str, message: &str| json!({"kind": kind, "message": message, "retryable": false});
    let read: Vec<Value> = outcome.messages[2..5]
        .iter()
        .map(|message| serde_json::from_str::<Value>(&message.content).unwrap()["error"].clone())
        .collect();
    assert_eq!(
        read,
        [
            error("tool-error", "no such card"),
            error("tool-failed", r#"tool "fail" failed after 1 attempt"#),
            error("tool-not-found", r#"there is no tool named "nonesuch""#),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_gets_one_that_its_result_names() {
    let rig = Rig::new([echo("read")]);
    let model = Script::new([Ok(calls([ToolCall::new("read", json!({})), ToolCall::new("read", json!({}))]))]);
    let outcome = run(&rig.executor, &model, &LoopOptions::default()).await;
    let expected = ["Assistant call-1:read,call-2:read", "Tool call-1{}", "Tool call-2{}"];
    assert_eq!(transcript(&outcome.messages)[1..4], expected);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_id_is_not_called_as_another_one_of_its_turn() {
    let rig = Rig::new([echo("read")]);
    let model = Script::new([Ok(calls([ToolCall::new("read", json!({})), call("call-1", "read")]))]);
    let outcome = run(&rig.executor, &model, &LoopOptions::default()).await;
    let expected = ["Assistant call-2:read,call-1:read", "Tool call-2{}", "Tool call-1{}"];
    assert_eq!(transcript(&outcome.messages)[1..4], expected);
}

#[tokio::test(start_paused = true)]
async fn calls_at_the_end_of_the_request_are_made_first() {
    let rig = Rig::new([echo("read")]);
    let model = Script::default();
    let open = Message::tool_calls(vec![call("a", "read"), ToolCall::new("read", json!({"page": 2}))]);
    let request = ask([Message::user("go"), open]);
    let outcome = rig.executor.run_tool_loop(&model, request, &LoopOptions::default()).await.unwrap();
    assert_eq!(
        transcript(&outcome.messages),
        ["User go", "Assistant a:read,call-1:read", "Tool a{}", r#"Tool call-1{"page":2}"#, "Assistant done"]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_the_conversation_has_moved_past_are_not_made() {
    let rig = Rig::new([echo("pay")]);
    let model = Script::default();
    let stopped = [Message::tool_calls(vec![call("a", "pay")]), Message::user("stop, do not pay")];
    let outcome = rig.executor.run_tool_loop(&model, ask(stopped), &LoopOptions::default()).await.unwrap();
    assert_eq!((outcome.end, outcome.results.len()), (LoopEnd::Answer, 0));
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_turn_that_share_an_id_are_told_apart() {
    let reviewer = Reviewer::new([Decision::Pending, Decision::approve()]);
    let rig = Rig::with([echo("look"), echo("pay").confirm()], |builder| builder.approval(reviewer.clone()));
    let executor = rig.in_run("run-a");
    let model = Script::new([Ok(calls([call("call_0", "look"), call("call_0", "pay")]))]);
    let waiting = run(&executor, &model, &LoopOptions::default()).await;
    assert_eq!(verdicts(&waiting.results), ["ok", "pending"]);
    let resumed = executor.run_tool_loop(&model, ask(waiting.messages), &LoopOptions::default()).await.unwrap();
    assert_eq!(resumed.end, LoopEnd::Answer);
    assert_eq!(verdicts(&resumed.results), ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_pending_loop_goes_on_in_the_same_run_once_it_is_decided() {
    let ran = Notes::default();
    let reviewer = Reviewer::new([Decision::Pending, Decision::Pending, Decision::approve(), Decision::deny("no")]);
    let tools = [noted_echo("read", &ran), echo("pay").confirm(), echo("send").confirm()];
    let rig = Rig::with(tools, |builder| {
        builder.approval(reviewer.clone()).run_limits(RunLimits { calls_max: Some(2), ..RunLimits::default() })
    });
    let executor = rig.in_run("run-a");
    let model = Script::new([Ok(calls([call("a", "read"), call("b", "pay"), call("c", "send")]))]);

    let waiting = run(&executor, &model, &LoopOptions::default()).await;
    let approval_ids = vec!["approval-1".into(), "approval-2".into()];
    assert_eq!((waiting.end, waiting.turns), (LoopEnd::Pending { approval_ids }, 1));
    assert_eq!(verdicts(&waiting.results), ["ok", "pending", "pending"]);
    assert_eq!(transcript(&waiting.messages)[..2], ["User go", "Assistant a:read,b:pay,c:send"]);
    assert_eq!(waiting.messages[2].tool_call_id.as_deref(), Some("a"));
    assert_eq!(rig.ledger.entries().len(), 1);

    let request = ask(waiting.messages);
    let resumed = executor.run_tool_loop(&model, request, &LoopOptions::default()).await.unwrap();
    assert_eq!(resumed.end, LoopEnd::Answer);
    assert_eq!(verdicts(&resumed.results), ["ok", "approval-denied"]);
    let asked: Vec<_> = reviewer.requests().iter().map(|request| request.approval_id.to_string()).collect();
    assert_eq!(asked, ["approval-1", "approval-2", "approval-1", "approval-2"]);
    // The call that ran before has its result, and does not run again.
    assert_eq!(ran.all().len(), 1);
    assert_eq!(transcript(&resumed.messages).len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_leaves_the_conversation_to_try_again_from() {
    for (options, _) in ways() {
        let rig = Rig::new([echo("read")]);
        let overloaded = ModelError::new(ModelErrorKind::Overloaded, "try later");
        let model = Script::new([Ok(calls([call("a", "read")])), Err(overloaded)]);
        let failed = rig.executor.run_tool_loop(&model, ask([Message::user("go")]), &options).await.unwrap_err();
        let LoopError::Model { turn, error, messages } = failed else { panic!("{failed:?}") };
        assert_eq!((turn, error.kind), (2, ModelErrorKind::Overloaded));
        assert_eq!(transcript(&messages), ["User go", "Assistant a:read", "Tool a{}"]);
        let finished = rig.log.of_type("model.finished")[1].data();
        assert_eq!((&finished["status"], &finished["error"]), (&json!("error"), &json!("overloaded")));

        let again = rig.executor.run_tool_loop(&model, ask(messages), &options).await.unwrap();
        assert_eq!((again.end, again.turns), (LoopEnd::Answer, 1));
        assert_eq!(transcript(&again.messages)[3], "Assistant done");
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_in_a_tool_is_nested_in_its_call() {
    let agent = tool("agent", |_, context| async move {
        let model = Script::new([Ok(calls([call("b", "alone")]))]);
        let outcome = run(&context.executor(), &model, &LoopOptions::default()).await;
        Ok(json!(outcome.messages.last().map(|message| message.content.clone())))
    });
    let rig = Rig::new([agent.exclusive(), echo("alone").exclusive()]);
    let result = rig.executor.run_call(call("a", "agent")).await.unwrap();
    assert_eq!(result.value(), Some(&json!("done")));
    assert_eq!(rig.log.of_type("model.started")[0].parent_id.as_deref(), Some("a"));
    assert_eq!(rig.log.of_call("b")[0].parent_id.as_deref(), Some("a"));
}

/// A model whose stream breaks after one piece: with an error, or by just ending.
struct Breaking(Option<ModelError>);

impl ModelTransport for Breaking {
    fn complete<'a>(&'a self, _request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async { Ok(answers("unused")) })
    }

    fn stream<'a>(
        &'a self,
        _request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        let pieces = [Ok(Delta::Text("half".to_owned()))].into_iter().chain(self.0.clone().map(Err));
        Box::pin(async { Ok(stream::iter(pieces).boxed()) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_is_a_failure_of_the_model() {
    let reset = ModelError::new(ModelErrorKind::Server, "reset");
    for (model, expected) in
        [(Breaking(Some(reset)), ModelErrorKind::Server), (Breaking(None), ModelErrorKind::Connection)]
    {
        let [_, (options, pieces)] = ways();
        let rig = Rig::new([echo("read")]);
        let failed = rig.executor.run_tool_loop(&model, ask([Message::user("go")]), &options).await.unwrap_err();
        let LoopError::Model { turn, error, messages } = failed else { panic!("{failed:?}") };
        assert_eq!((turn, error.kind, transcript(&messages)), (1, expected, vec!["User go".to_owned()]));
        assert_eq!(pieces.lock().len(), 1, "what came was handed out");
        assert_eq!(rig.events(), ["model.started", "model.finished"]);
    }
}
