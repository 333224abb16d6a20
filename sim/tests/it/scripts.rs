//! Scripted tools, reviewers and models.

use std::time::Duration;

use serde_json::json;
use windtunnel_core::evaluator::{
    ErrorKind as ProgramErrorKind, Evaluation, Evaluator, ExecutionPolicy, ParallelFailures, Program, ToolDefinition,
    ToolFailure,
};
use windtunnel_core::executor::{Decision, Executor, LoopEnd, LoopOptions, ToolCall};
use windtunnel_core::model::{Message, ModelError, ModelErrorKind, ModelRequest, ModelTransport};
use windtunnel_core::tool::{ErrorKind, Registry, ToolSpec};
use windtunnel_sim::World;
use windtunnel_sim::script::{
    Failure, Invocations, ScriptedApprovals, ScriptedFunction, ScriptedModel, ScriptedProvider, ScriptedTool, Step,
    Then,
};

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

#[test]
fn a_model_by_conversation_gives_a_turn_again_and_each_failure_once() {
    let run = World::new(0).run(|_world| async move {
        let busy = || Err(ModelError::new(ModelErrorKind::Overloaded, "busy"));
        let turns = [vec![busy(), busy(), ScriptedModel::says("first")], vec![ScriptedModel::says("second")], vec![]];
        let model = ScriptedModel::by_conversation(turns);
        let mut said = Vec::new();
        for spoken in [0, 1, 0, 0, 0, 1, 2, 3] {
            let messages = vec![Message::assistant("so far"); spoken];
            let request = ModelRequest { messages, ..ModelRequest::default() };
            let answer = model.complete(&request).await;
            said.push(answer.map_or_else(|error| error.kind.as_str().to_owned(), |answer| answer.message.content));
        }
        assert_eq!(model.requests().len(), 8);
        said
    });
    let end = "invalid-request";
    let expected = ["overloaded", "second", "overloaded", "first", "first", "second", end, end];
    assert_eq!(run.outcome.unwrap(), expected);
}

/// Evaluates a program that calls `search` so many times, one after another, and collects what comes of each.
async fn searches(provider: ScriptedProvider, world: &windtunnel_sim::WorldHandle, times: usize) -> Evaluation {
    let search =
        json!({"type": "tool_call", "tool": "search", "arguments": {"q": {"type": "literal", "value": "tea"}}});
    let body = vec![search; times];
    let program = Program::from_value(&json!({"schema_version": "2.0", "mode": "parallel", "body": body})).unwrap();
    let policy = ExecutionPolicy { parallel_failures: ParallelFailures::Collect, ..ExecutionPolicy::default() };
    let limits = windtunnel_core::evaluator::ExecutionLimits {
        max_concurrency: std::num::NonZeroU64::new(1),
        timeout: Some(Duration::from_secs(60)),
        ..Default::default()
    };
    Evaluator::new(provider).env(world.env()).policy(policy).limits(limits).evaluate(&program).await
}

fn search_definition() -> ToolDefinition {
    let properties = json!({"q": {"type": "string"}}).as_object().unwrap().clone();
    ToolDefinition::with_properties("search", "Searches.", properties).unwrap()
}

#[test]
fn a_programs_tool_does_its_steps_in_order_over_all_calls() {
    let invocations = Invocations::default();
    let run = World::new(0).run(|world| {
        let invocations = invocations.clone();
        async move {
            let script = [
                Step::fail(ToolFailure::execution("down")).after(Duration::from_millis(30)),
                Step::fail(ToolFailure::timeout()),
                Step { then: Then::Panic, ..Step::default() },
                Step { then: Then::Answer(Some(json!(7))), ..Step::default() },
            ];
            let search = ScriptedFunction::new(search_definition(), |arguments| Ok(arguments["q"].clone()))
                .script(script)
                .delay(Duration::from_millis(10))
                .log_to(invocations);
            searches(ScriptedProvider::new(world.env(), [search]), &world, 5).await
        }
    });
    let failed = |kind: ProgramErrorKind| json!({"success": false, "error": kind.as_str()});
    let mut branches = run.outcome.unwrap().into_value().unwrap();
    for branch in branches.as_array_mut().unwrap() {
        branch.as_object_mut().unwrap().remove("message");
    }
    let expected = json!([
        failed(ProgramErrorKind::ToolExecution),
        failed(ProgramErrorKind::Timeout),
        failed(ProgramErrorKind::Unclassified),
        {"success": true, "value": 7},
        {"success": true, "value": "tea"},
    ]);
    assert_eq!((branches, invocations.to_vec().len()), (expected, 5));
    assert_eq!(run.elapsed, Duration::from_millis(30 + 4 * 10));
}

#[test]
fn a_programs_tool_that_hangs_is_ended_by_the_deadline() {
    let run = World::new(0).run(|world| async move {
        let hangs =
            ScriptedFunction::echo(search_definition()).after_script(|_| Step { then: Then::Hang, ..Step::default() });
        searches(ScriptedProvider::new(world.env(), [hangs]), &world, 1).await
    });
    let error = run.outcome.unwrap().into_value().unwrap_err();
    assert_eq!(error.kind(), Some(ProgramErrorKind::ExecutionLimit));
    assert_eq!(run.elapsed, Duration::from_secs(60));
}

#[test]
fn a_programs_tool_may_draw_from_the_seed_after_its_script() {
    let elapsed = |seed| {
        let run = World::new(seed).run(|world| async move {
            let search = ScriptedFunction::echo(search_definition())
                .after_script(|env| Step::answer().after(Duration::from_secs_f64(env.unit("latency/search"))));
            searches(ScriptedProvider::new(world.env(), [search]), &world, 2).await
        });
        run.elapsed
    };
    assert_eq!(elapsed(1), elapsed(1));
    assert_ne!(elapsed(1), elapsed(2));
}

#[test]
fn of_two_scripted_tools_with_one_name_the_last_counts() {
    let run = World::new(0).run(|world| async move {
        let answers = |number: i32| ScriptedFunction::new(search_definition(), move |_| Ok(json!(number)));
        searches(ScriptedProvider::new(world.env(), [answers(1), answers(2)]), &world, 1).await
    });
    assert_eq!(run.outcome.unwrap().into_value().unwrap(), json!([{"success": true, "value": 2}]));
}
