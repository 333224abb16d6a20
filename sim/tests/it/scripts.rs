//! Scripted tools, reviewers and models.

use std::time::Duration;

use serde_json::json;
use windtunnel_core::executor::{Decision, Executor, LoopEnd, LoopOptions, ToolCall};
use windtunnel_core::model::{Message, ModelErrorKind, ModelRequest, ModelTransport};
use windtunnel_core::tool::{ErrorKind, Registry, ToolSpec};
use windtunnel_sim::World;
use windtunnel_sim::script::{Failure, Invocations, ScriptedApprovals, ScriptedModel, ScriptedTool, Step, Then};

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "", json!({"type": "object"}))
}

#[test]
fn a_tool_does_its_steps_in_order_over_all_calls() {
    let run = World::new(0).run(|world| async move {
        let invocations = Invocations::default();
        let script = [
            Step::answer().after(Duration::from_millis(30)),
            Step::fail(Failure::Foreign),
            Step { then: Then::Panic, ..Step::default() },
            Step::fail(Failure::ToolError),
            Step { then: Then::Answer(Some(json!(7))), ..Step::default() },
        ];
        let tool = ScriptedTool::new(spec("search"), script).log_to(invocations.clone());
        let mut registry = Registry::new();
        registry.register(tool).unwrap();
        let executor = Executor::builder(registry).env(world.env()).build();
        let mut ends = Vec::new();
        for number in 0..6 {
            let result = executor.run_call(ToolCall::new("search", json!({ "n": number }))).await.unwrap();
            ends.push((result.error_kind(), result.value().cloned()));
        }
        assert_eq!(invocations.to_vec().len(), 6);
        ends
    });
    let echo = |number: i32| (None, Some(json!({"echo": {"n": number}})));
    let failed = (Some(ErrorKind::ToolFailed), None);
    let refused = (Some(ErrorKind::ToolError), None);
    let expected = [echo(0), failed.clone(), failed, refused, (None, Some(json!(7))), echo(5)];
    assert_eq!(run.outcome.unwrap(), expected);
    assert_eq!(run.elapsed, Duration::from_millis(30));
}

#[test]
fn after_its_script_a_tool_may_draw_from_the_seed() {
    let delays = |seed| {
        let run = World::new(seed).run(|world| async move {
            let tool = ScriptedTool::new(spec("search"), [])
                .after_script(|env| Step::answer().after(Duration::from_secs_f64(env.unit("latency/search"))));
            let mut registry = Registry::new();
            registry.register(tool).unwrap();
            Executor::builder(registry).env(world.env()).build().run("search", json!({})).await.unwrap();
        });
        run.elapsed
    };
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}

#[test]
fn a_reviewer_takes_days_and_ends_by_denying() {
    let run = World::new(0).run(|world| async move {
        let day = Duration::from_secs(86_400);
        let reviewer = ScriptedApprovals::new([Decision::approve()]).thinking_for(world.env(), day);
        let mut registry = Registry::new();
        let confirmed = ToolSpec { confirm: windtunnel_core::tool::Confirm::Always, ..spec("pay") };
        registry.register(ScriptedTool::new(confirmed, [])).unwrap();
        let executor = Executor::builder(registry).env(world.env()).approval(reviewer.clone()).build();
        executor.run("pay", json!({})).await.unwrap();
        let denied = executor.run("pay", json!({})).await.unwrap_err();
        assert_eq!(denied.to_string(), "approval-denied: the approval script has ended");
        assert_eq!(reviewer.requests().len(), 2);
    });
    run.outcome.unwrap();
    assert_eq!(run.elapsed, Duration::from_secs(2 * 86_400));
}

#[test]
fn a_model_calls_tools_and_answers_whole_or_in_pieces() {
    for streams in [false, true] {
        let run = World::new(0).run(|world| async move {
            let call = ToolCall::new("search", json!({"query": "wärranty"})).with_id("call-1");
            let turns = [ScriptedModel::calls([call]), ScriptedModel::says("Two years.")];
            let model = ScriptedModel::new(turns).latency(world.env(), Duration::from_millis(200));
            let mut registry = Registry::new();
            registry.register(ScriptedTool::new(spec("search"), [])).unwrap();
            let executor = Executor::builder(registry).env(world.env()).build();
            let mut options = LoopOptions::default();
            if streams {
                options.on_delta = Some(std::sync::Arc::new(|_| {}));
            }
            let request = ModelRequest { messages: vec![Message::user("How long?")], ..ModelRequest::default() };
            let outcome = executor.run_tool_loop(&model, request, &options).await.unwrap();
            assert_eq!((outcome.end, outcome.turns), (LoopEnd::Answer, 2));
            assert_eq!(outcome.results[0].value(), Some(&json!({"echo": {"query": "wärranty"}})));
            let past_the_end = model.complete(&ModelRequest::default()).await.unwrap_err();
            assert_eq!(past_the_end.kind, ModelErrorKind::InvalidRequest);
            outcome.messages.last().unwrap().content.clone()
        });
        assert_eq!(run.outcome.unwrap(), "Two years.");
    }
}
