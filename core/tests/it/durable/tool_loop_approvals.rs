//! Approvals of a durable loop: a decision that releases the worker.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::{Decision, JournalStore, MemoryStore, ToolLoop, Turn, Worker};
use windtunnel_core::event::EventLog;
use windtunnel_core::executor::{self, Executor, Hook, HookCall, ToolCall};
use windtunnel_core::{BoxError, BoxFuture};

use super::agent::{ByHeart, effect_tool, last_state, read_by_model, started_agent};
use super::stage::{Crash, Effects, env, history, output, pausing_env};
use crate::ports::{Reviewer, answers, calls};
use crate::rig::registry;

const DAY: Duration = Duration::from_secs(86_400);

fn pay(id: &str, amount: u32) -> ToolCall {
    ToolCall::new("pay", json!({ "amount": amount })).with_id(id)
}

/// Looks something up and pays, at once.
fn model() -> ByHeart {
    ByHeart::new([calls([ToolCall::new("look_up", json!({})).with_id("l"), pay("a", 1), pay("b", 2)]), answers("done")])
}

struct Scene {
    model: ByHeart,
    effects: Effects,
    store: MemoryStore,
    log: EventLog,
}

impl Scene {
    fn new() -> Self {
        Self { model: model(), effects: Effects::default(), store: MemoryStore::new(env()), log: EventLog::new() }
    }

    /// As another process would make it.
    fn agent(&self, set: impl FnOnce(executor::ExecutorBuilder) -> executor::ExecutorBuilder) -> ToolLoop {
        let tools = [effect_tool("look_up", &self.effects), effect_tool("pay", &self.effects).confirm()];
        let builder = Executor::builder(registry(tools)).env(pausing_env()).sink(self.log.clone());
        ToolLoop::new(set(builder).build(), Arc::new(self.model.clone()))
    }

    async fn run(&self, agent: ToolLoop) {
        started_agent(self.store.clone(), env(), agent).await.run_until_idle().await.unwrap();
    }

    async fn decide(&self, call_id: &str, decision: Value) {
        let approval_id = format!("approval:turn:0:{call_id}");
        self.store.deliver("w", &approval_id, decision).await.unwrap();
    }

    /// What the model read of the calls.
    fn read(&self) -> Vec<String> {
        read_by_model(&self.model)
    }
}

fn approve() -> Value {
    serde_json::to_value(executor::Decision::approve()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_loop_waits_for_the_approvals_of_a_turn_and_holds_no_worker() {
    let scene = Scene::new();
    scene.run(scene.agent(|builder| builder)).await;
    assert_eq!(scene.effects.names(), ["look_up{}"]);
    let state = last_state(&scene.store).await;
    let waits: Vec<_> = state.pending.iter().map(|pending| (&*pending.approval_id, &pending.arguments)).collect();
    assert_eq!(waits, [("approval:turn:0:a", &json!({"amount": 1})), ("approval:turn:0:b", &json!({"amount": 2}))]);
    // In the other order: the second is kept until its turn comes.
    scene.decide("b", json!({"deny": {"reason": "too much"}})).await;
    scene.run(scene.agent(|builder| builder)).await;
    assert_eq!(scene.effects.names().len(), 1);
    scene.decide("a", approve()).await;
    scene.run(scene.agent(|builder| builder)).await;
    assert_eq!(output(&scene.store).await["answer"], "done");
    let read = scene.read();
    assert_eq!((read[0].as_str(), read[1].as_str()), (r#""look_up{}#1""#, r#""pay{\"amount\":1}#2""#));
    assert!(read[2].contains("too much"));
    scene.effects.counts();
}

#[tokio::test(start_paused = true)]
async fn an_approval_has_one_id_from_request_to_decision_in_every_process() {
    let scene = Scene::new();
    scene.run(scene.agent(|builder| builder)).await;
    scene.decide("a", approve()).await;
    scene.decide("b", approve()).await;
    scene.run(scene.agent(|builder| builder)).await;
    let ids = |name: &str| {
        let events = scene.log.of_type(name);
        let data = events.iter().map(|event| serde_json::to_value(event.data()).unwrap());
        data.map(|data| data["approval_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let both = ["approval:turn:0:a", "approval:turn:0:b"];
    assert_eq!(ids("tool.pending"), both);
    assert_eq!(ids("approval.decided"), both);
}

#[tokio::test(start_paused = true)]
async fn nobody_decides_for_ever_if_there_is_a_timeout() {
    let scene = Scene::new();
    let clock = env();
    scene.run(scene.agent(|builder| builder).approval_timeout(DAY)).await;
    assert_eq!(scene.effects.names(), ["look_up{}"]);
    assert_eq!(output(&scene.store).await["answer"], "done");
    assert!(scene.read()[1..].iter().all(|text| text.contains("nobody decided in time")));
    assert_eq!(clock.now(), 2 * DAY, "one wait after another");
}

#[tokio::test(start_paused = true)]
async fn edited_arguments_are_what_runs() {
    let scene = Scene::new();
    scene.run(scene.agent(|builder| builder)).await;
    scene.decide("a", json!({"approve": {"edited_arguments": {"amount": 3}}})).await;
    scene.decide("b", json!({"approval": "granted"})).await;
    scene.run(scene.agent(|builder| builder)).await;
    assert_eq!(scene.effects.names(), ["look_up{}", r#"pay{"amount":3}"#]);
    assert!(scene.read()[2].contains("no decision"), "what cannot be read approves nothing");
}

/// Changes what is paid.
struct Raising(u32);

impl Hook for Raising {
    fn before<'a>(&'a self, call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        let raised = call.arguments["amount"].as_u64().map(|amount| json!({"amount": amount + u64::from(self.0)}));
        Box::pin(async { Ok(raised) })
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_that_the_reviewer_never_saw_do_not_run() {
    let scene = Scene::new();
    scene.run(scene.agent(|builder| builder.hook(Raising(1)))).await;
    assert_eq!(last_state(&scene.store).await.pending[0].arguments, json!({"amount": 2}));
    scene.decide("a", approve()).await;
    scene.decide("b", approve()).await;
    scene.run(scene.agent(|builder| builder.hook(Raising(100)))).await;
    assert_eq!(scene.effects.names(), ["look_up{}"]);
    assert!(scene.read()[1].contains("the arguments are not those that the reviewer saw"));
}

#[tokio::test(start_paused = true)]
async fn the_executors_own_port_is_asked_first() {
    let scene = Scene::new();
    let reviewer = Reviewer::new([executor::Decision::approve(), executor::Decision::Pending]);
    scene.run(scene.agent(|builder| builder.approval(reviewer.clone()))).await;
    assert_eq!(scene.effects.names().len(), 2);
    assert_eq!(last_state(&scene.store).await.pending.len(), 1);
    scene.decide("b", approve()).await;
    scene.run(scene.agent(|builder| builder.approval(reviewer.clone()))).await;
    assert_eq!(reviewer.requests().len(), 2, "what is decided is not asked again");
    assert_eq!(scene.effects.names().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_of_an_approval_pays_under_one_key() {
    let mut polls = 0;
    loop {
        let scene = Scene::new();
        let worker = started_agent(scene.store.clone(), pausing_env(), scene.agent(|builder| builder)).await;
        scene.decide("a", approve()).await;
        scene.decide("b", approve()).await;
        let ended = Crash::new(worker.run_until_idle(), polls).await.is_some();
        let agent = scene.agent(|builder| builder).into_workflow("agent");
        Worker::new(scene.store.clone()).env(env()).workflow(agent).run_until_idle().await.unwrap();
        assert_eq!(output(&scene.store).await["answer"], "done");
        assert_eq!(scene.effects.counts().len(), 3);
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls > 40, "only {polls} points");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_approval_is_a_decision() {
    let scene = Scene::new();
    let worker = started_agent(scene.store.clone(), env(), scene.agent(|builder| builder)).await;
    let Turn::Attempt { .. } = worker.turn().await.unwrap() else { panic!("nothing was due") };
    let Turn::Nothing { next: None } = worker.turn().await.unwrap() else { panic!("it waits for an event") };
    let history = history(&scene.store).await;
    let (decision, _) = history.activations[0].decision.as_ref().unwrap();
    assert!(matches!(decision, Decision::WaitEvent { key, timeout: None, .. } if &**key == "approval:turn:0:a"));
}
