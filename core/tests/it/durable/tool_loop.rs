//! Model and tools in turns, each an operation.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::durable::{
    ActivationRetry, Decision, Ending, JournalStore, MemoryStore, OrderCheck, ToolLoop, ToolLoopBudget, ToolLoopEnd,
    ToolLoopState, ToolLoopStep, Turn, Worker, Workflow, WorkflowContext,
};
use windtunnel_core::executor::{LoopOptions, RunLimits, ToolCall};
use windtunnel_core::model::{Message, ModelError, ModelErrorKind};
use windtunnel_core::tool::Cancelled;

use super::agent::{
    ByHeart, effect_tool, end_of, executor, last_state, read_by_model, request, started, started_agent,
};
use super::stage::{Crash, Effects, Pauses, env, history, keys, output, pausing_env};
use crate::ports::{Script, answers, calls};
use crate::rig::{call, echo, tool};

fn pay(id: &str, amount: u32) -> ToolCall {
    ToolCall::new("pay", json!({ "amount": amount })).with_id(id)
}

/// Looks something up, pays twice at once, and answers.
fn payer() -> ByHeart {
    let look_up = ToolCall::new("look_up", json!({"order": 7})).with_id("call-123");
    ByHeart::new([calls([look_up]), calls([pay("a", 1), pay("b", 2)]), answers("paid")])
}

fn agent(model: &ByHeart, effects: &Effects) -> ToolLoop {
    let tools = ["look_up", "pay"].map(|name| effect_tool(name, effects));
    ToolLoop::new(executor(&pausing_env(), tools), Arc::new(model.clone()))
}

#[tokio::test(start_paused = true)]
async fn each_turn_and_each_call_is_an_operation_of_its_activation() {
    let (model, effects) = (payer(), Effects::default());
    let (ended, store) = end_of(agent(&model, &effects)).await;
    assert_eq!((ended.end, ended.answer.as_str(), ended.turns, ended.calls), (ToolLoopEnd::Answer, "paid", 3, 3));
    assert_eq!((ended.usage.input_tokens, ended.usage.output_tokens), (9, 6));
    let history = history(&store).await;
    let recorded: Vec<_> = history.activations.iter().map(keys).collect();
    let turns = [
        vec!["model:turn:0", "tool:turn:0:call-123"],
        vec!["model:turn:1", "tool:turn:1:a", "tool:turn:1:b"],
        vec!["model:turn:2"],
    ];
    assert_eq!(recorded, turns);
    let looked_up = history.activations[0].records[1].record.binding();
    assert_eq!((&**looked_up.callable(), &**looked_up.version()), ("look_up", "1"));
    assert_eq!(**looked_up.arguments(), json!({"tool": "look_up", "arguments": {"order": 7}}));
    let asked = history.activations[1].records[0].record.binding();
    assert_eq!((&**asked.callable(), asked.arguments()["messages"].as_array().unwrap().len()), ("opus", 3));
    assert_eq!(asked.arguments()["tools"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_conversation_is_that_of_a_loop_that_is_not_durable() {
    let tools = || [echo("look_up"), echo("pay")];
    let plain = payer();
    let outcome = executor(&env(), tools()).run_tool_loop(&plain, request(), &LoopOptions::default()).await.unwrap();
    for turns in [1, 2, 3, 16] {
        let durable = payer();
        let agent = ToolLoop::new(executor(&env(), tools()), Arc::new(durable.clone()))
            .turns_per_activation(NonZeroU32::new(turns).unwrap());
        let (ended, store) = end_of(agent).await;
        assert_eq!((ended.turns, ended.usage), (outcome.turns, outcome.usage));
        let activations = history(&store).await.activations.len();
        assert_eq!(activations, 3_usize.div_ceil(turns as usize), "{turns} turns an activation");
        let said = |model: &ByHeart| model.requests().into_iter().map(|request| request.messages).collect::<Vec<_>>();
        assert_eq!(said(&durable), said(&plain));
        let keys: Vec<_> = durable.requests().into_iter().filter_map(|request| request.idempotency_key).collect();
        assert_eq!(keys.len(), 3, "a durable request has a key");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_loses_and_repeats_nothing_that_was_committed() {
    for turns in [1, 3] {
        let (mut polls, mut repeats) = (0, 0);
        loop {
            let (model, effects) = (payer(), Effects::default());
            let store = Pauses::new(MemoryStore::new(env()), effects.clone());
            let agent = agent(&model, &effects).turns_per_activation(NonZeroU32::new(turns).unwrap());
            let worker = started_agent(store.clone(), pausing_env(), agent.clone()).await;
            let ended = Crash::new(worker.run_until_idle(), polls).await.is_some();
            drop(worker);
            Worker::new(store.clone())
                .env(env())
                .workflow(agent.into_workflow("agent"))
                .run_until_idle()
                .await
                .unwrap();
            let history = history(&store).await;
            store.check_read_back(&history);
            assert_eq!(output(&store).await["answer"], "paid");
            assert_eq!(output(&store).await["usage"], json!({"input_tokens": 9, "output_tokens": 6}));
            let read = read_by_model(&model);
            assert_eq!(read.len(), 3);
            let counts = effects.counts();
            assert_eq!(counts.len(), 3);
            repeats += counts.values().sum::<usize>() - 3;
            if ended {
                break;
            }
            polls += 1;
        }
        assert!(polls > 60, "only {polls} points");
        assert!(repeats > 0, "the window between effect and commit was never hit");
    }
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_is_replayed_at_every_record_comes_to_the_same_end() {
    for turns in [1, 3] {
        let (model, effects) = (payer(), Effects::default());
        let store = MemoryStore::new(env());
        let agent = agent(&model, &effects).turns_per_activation(NonZeroU32::new(turns).unwrap());
        let worker = started_agent(store.clone(), env(), agent).await.always_replay().order(OrderCheck::Strict);
        worker.run_until_idle().await.unwrap();
        assert_eq!(output(&store).await["answer"], "paid");
    }
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_turns_is_exact() {
    for (turns_max, end, asked) in
        [(3, ToolLoopEnd::Answer, 3), (2, ToolLoopEnd::TurnLimit, 2), (0, ToolLoopEnd::TurnLimit, 0)]
    {
        let (model, effects) = (payer(), Effects::default());
        let budget = ToolLoopBudget { turns_max, ..ToolLoopBudget::default() };
        let (ended, _) = end_of(agent(&model, &effects).budget(budget)).await;
        assert_eq!((ended.end, model.requests().len()), (end, asked));
        assert_eq!(ended.answer, if end == ToolLoopEnd::Answer { "paid" } else { "" });
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_asks_for_more_calls_than_are_left_has_none_of_them_made() {
    for (calls_max, end, happened) in
        [(3, ToolLoopEnd::Answer, 3), (2, ToolLoopEnd::CallLimit, 1), (0, ToolLoopEnd::CallLimit, 0)]
    {
        let (model, effects) = (payer(), Effects::default());
        let budget = ToolLoopBudget { calls_max, ..ToolLoopBudget::default() };
        let (ended, _) = end_of(agent(&model, &effects).budget(budget)).await;
        assert_eq!((ended.end, effects.names().len()), (end, happened));
        assert_eq!(ended.calls as usize, happened);
    }
}

#[tokio::test(start_paused = true)]
async fn run_guards_hold_over_activations_and_crashes() {
    let model = || ByHeart::new([calls([pay("a", 1)]), calls([pay("b", 1)]), calls([pay("c", 1)]), answers("done")]);
    let mut polls = 0;
    loop {
        let (model, effects) = (model(), Effects::default());
        let store = MemoryStore::new(env());
        let agent = |turns: u32| {
            let tools = [effect_tool("pay", &effects).once_per_run()];
            ToolLoop::new(executor(&env(), tools), Arc::new(model.clone()))
                .turns_per_activation(NonZeroU32::new(turns).unwrap())
        };
        let turns = polls % 3 + 1;
        let worker = started_agent(store.clone(), pausing_env(), agent(turns)).await;
        let ended = Crash::new(worker.run_until_idle(), polls as usize).await.is_some();
        // Another process: its executor has counted nothing.
        let worker = Worker::new(store.clone()).env(env()).workflow(agent(turns).into_workflow("agent"));
        worker.run_until_idle().await.unwrap();
        assert_eq!(effects.counts().len(), 1, "once per run, and never under another key");
        let read = read_by_model(&model);
        assert!(read[0].starts_with("\"pay") && read[1].contains("once-per-run") && read[2].contains("once-per-run"));
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls > 40, "only {polls} points");
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_calls_in_a_run_holds_over_activations() {
    let effects = Effects::default();
    let model = ByHeart::new([calls([pay("a", 1)]), calls([pay("b", 2), pay("c", 3)]), answers("done")]);
    let limits = RunLimits { calls_max: Some(2), ..RunLimits::default() };
    let registry = crate::rig::registry([effect_tool("pay", &effects)]);
    let executor = windtunnel_core::executor::Executor::builder(registry).env(env()).run_limits(limits).build();
    let (_, store) = end_of(ToolLoop::new(executor, Arc::new(model.clone()))).await;
    assert_eq!(effects.names().len(), 2);
    assert!(read_by_model(&model)[2].contains("max-calls"));
    assert_eq!(last_state(&store).await.counted.calls, 2);
}

#[tokio::test(start_paused = true)]
async fn what_the_model_gets_wrong_is_a_result_and_no_end() {
    let wrong = [
        ToolCall::new("nobody", json!({})).with_id("a"),
        ToolCall::new("line\nbreak", json!({})).with_id("b\tc"),
        ToolCall::new("echo", json!([1])).with_id("a"),
        ToolCall::new("x".repeat(600), json!({})).with_id("y".repeat(600)),
    ];
    let model = ByHeart::new([calls(wrong), answers("sorry")]);
    let (ended, store) = end_of(ToolLoop::new(executor(&env(), [echo("echo")]), Arc::new(model.clone()))).await;
    assert_eq!(ended.answer, "sorry");
    let read = read_by_model(&model);
    let kinds = ["tool-not-found", "tool-not-found", "tool-args-invalid", "tool-not-found"];
    assert!(read.iter().zip(kinds).all(|(text, kind)| text.contains(kind)), "{read:?}");
    let history = history(&store).await;
    let called = ["tool:turn:0:a", "tool:turn:0:call-2", "tool:turn:0:call-3", "tool:turn:0:call-4"];
    assert_eq!(keys(&history.activations[0])[1..], called);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_kept_is_told_and_its_tool_runs_once() {
    for value in [json!(u64::MAX), json!("x".repeat(70_000))] {
        let (model, effects) = (ByHeart::new([calls([call("a", "vast")]), answers("oh")]), Effects::default());
        let counted = effects.clone();
        let vast = tool("vast", move |_, context| {
            counted.happen("vast", context.idempotency_key().unwrap());
            let value = value.clone();
            async move { Ok(value) }
        });
        let (ended, _) = end_of(ToolLoop::new(executor(&env(), [vast]), Arc::new(model.clone()))).await;
        assert_eq!((ended.answer.as_str(), effects.names().len()), ("oh", 1));
        assert!(read_by_model(&model)[0].contains("the tool ran, but its result cannot be kept"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_asked_again_when_it_says_so() {
    let busy = ModelError {
        retry_after: Some(Duration::from_secs(90)),
        ..ModelError::new(ModelErrorKind::RateLimited, "busy")
    };
    let model = Script::new([Err(busy), Ok(answers("here"))]);
    let store = MemoryStore::new(env());
    let agent = ToolLoop::new(executor(&env(), []), Arc::new(model.clone()));
    let worker = started_agent(store.clone(), env(), agent).await;
    let Turn::Attempt { ending: Ending::Retried { after, error }, .. } = worker.turn().await.unwrap() else {
        panic!("it was not retried")
    };
    assert_eq!((after, error.kind()), (Duration::from_secs(90), "call-failed"));
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await["answer"], "here");
    let keys: Vec<_> = model.requests().into_iter().map(|request| request.idempotency_key).collect();
    assert!(keys[0].is_some() && keys[0] == keys[1], "the same request has the same key");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_for_good_fails_the_workflow() {
    let refused = || Err(ModelError::new(ModelErrorKind::InvalidRequest, "no"));
    let store = MemoryStore::new(env());
    let agent = ToolLoop::new(executor(&env(), []), Arc::new(Script::new([refused(), refused()])));
    let retry = ActivationRetry { failures_max: NonZeroU32::new(2).unwrap(), ..ActivationRetry::default() };
    started_agent(store.clone(), env(), agent).await.retry(retry).run_until_idle().await.unwrap();
    let history = history(&store).await;
    assert!(matches!(history.outcome(), Some(Decision::Fail { kind, .. }) if &**kind == "call-failed"));
}

#[tokio::test(start_paused = true)]
async fn control_flow_in_a_call_leaves_no_record_of_it_and_keeps_those_beside_it() {
    let effects = Effects::default();
    let cancelled = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stops = tool("stops", move |arguments, _| {
        let again = cancelled.swap(true, std::sync::atomic::Ordering::Relaxed);
        async move { if again { Ok((*arguments).clone()) } else { Err(Cancelled.into()) } }
    });
    let model = ByHeart::new([calls([call("a", "stops"), pay("b", 1)]), answers("done")]);
    let agent = ToolLoop::new(executor(&env(), [stops, effect_tool("pay", &effects)]), Arc::new(model));
    let (ended, store) = end_of(agent).await;
    assert_eq!((ended.answer.as_str(), effects.names().len()), ("done", 1));
    let history = history(&store).await;
    assert_eq!(keys(&history.activations[0]), ["model:turn:0", "tool:turn:0:b", "tool:turn:0:a"]);
    assert_eq!(history.activations[0].attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn calls_that_the_conversation_begins_with_are_made_first() {
    let effects = Effects::default();
    let model = ByHeart::new([answers("unused"), answers("went on")]);
    let store = MemoryStore::new(env());
    let mut state = ToolLoopState::new(request());
    state.request.messages.push(Message::tool_calls(vec![pay("", 1)]));
    let worker = Worker::new(store.clone()).env(env()).workflow(agent(&model, &effects).into_workflow("agent"));
    worker.start("w", "agent", "turn", &state).await.unwrap();
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await["answer"], "went on");
    assert_eq!(keys(&history(&store).await.activations[0]), ["tool:given:call-1", "model:turn:0"]);
}

#[tokio::test(start_paused = true)]
async fn a_workflow_may_have_several_loops_with_names() {
    let effects = Effects::default();
    let (planner, payer) = (ByHeart::new([answers("plan")]), payer());
    let plan = agent(&planner, &effects).named("plan").unwrap();
    let act = agent(&payer, &effects).named("act").unwrap().turns_per_activation(NonZeroU32::new(9).unwrap());
    let workflow = Workflow::new("agent").entry("turn", move |context: WorkflowContext, state: ToolLoopState| {
        let (plan, act) = (plan.clone(), act.clone());
        async move {
            let ToolLoopStep::Ended { state: planned, .. } = plan.advance(&context, state.clone()).await? else {
                panic!("the plan is one turn")
            };
            match act.advance(&context, state).await? {
                ToolLoopStep::Next(decision) => Ok(decision),
                ToolLoopStep::Ended { state, .. } => context.complete(&json!([planned.turns, state.turns])),
            }
        }
    });
    let store = MemoryStore::new(env());
    started(store.clone(), env(), workflow).await.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!([1, 3]));
    let keys = keys(&history(&store).await.activations[0]).join(" ");
    assert!(keys.starts_with("plan:model:turn:0 act:model:turn:0 act:tool:turn:0:call-123"), "{keys}");
    assert!(agent(&planner, &effects).named(&"n".repeat(33)).is_err());
    assert!(agent(&planner, &effects).named("").is_err());
    drop(store.read("w").await);
}
