//! An agent at work in a world, until it has ended or waits for ever.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{self, Either};
use proptest::test_runner::TestCaseError;
use windtunnel_core::durable::{
    ActivationRetry, Checkpoint, Decision, Delivery, Fence, JournalStore, MemoryStore, ToolLoop, ToolLoopBudget,
    ToolLoopState, Worker, WorkflowHistory,
};
use windtunnel_core::env::Env;
use windtunnel_core::executor::{LoopOptions, LoopOutcome};
use windtunnel_core::model::{Message, ModelRequest};
use windtunnel_proptests::played::FaultyStore;
use windtunnel_proptests::{Effect, EffectLine, invariants};
use windtunnel_sim::{World, WorldHandle};

use super::case::{AgentCase, AgentFaults, ReviewTime};
use super::tools::{Made, Outside};
use windtunnel_proptests::properties::journals::live_once;

const ID: &str = "agent-1";
const NAME: &str = "agent";
const LEASE: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_secs(7200);

/// What is left at the end.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) history: WorkflowHistory,
    /// With the attempts in which callables ran.
    pub(super) effects: Vec<EffectLine>,
    /// By the number of the run.
    pub(super) runs: Vec<Made>,
    /// The approvals that were delivered in time.
    pub(super) accepted: Vec<String>,
    pub(super) requests: Vec<ModelRequest>,
}

/// What an agent is asked.
fn request() -> ModelRequest {
    ModelRequest { model: "opus".to_owned(), messages: vec![Message::user("go")], ..ModelRequest::default() }
}

/// The conversation of a plain loop and what its tools did.
pub(super) fn run_plainly(case: &AgentCase) -> Result<(LoopOutcome, Vec<Made>), TestCaseError> {
    let run = World::new(0).run(|world| async move {
        let outside = Outside::new(world.env(), case);
        let options = LoopOptions { turns_max: case.turns_max, ..LoopOptions::default() };
        let outcome = outside.executor(&world).run_tool_loop(&outside, request(), &options).await.unwrap();
        (outcome, outside.runs())
    });
    run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))
}

pub(super) fn run_durably(case: &AgentCase, faults: &AgentFaults) -> Result<Ended, TestCaseError> {
    let run = World::new(0).run(|world| play(case, faults, world));
    invariants::order(&run.trace)?;
    let ended = run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    invariants::decisions_are_told_truly(&run.trace, &ended.history)?;
    Ok(ended)
}

async fn play(case: &AgentCase, faults: &AgentFaults, world: WorldHandle) -> Ended {
    let (env, outside) = (world.env(), Outside::new(world.env(), case));
    let inner = MemoryStore::new(env.clone());
    let state = serde_json::to_value(ToolLoopState::new(request())).unwrap();
    inner.start(ID, NAME, Checkpoint::new("turn", state).unwrap()).await.unwrap();
    let store = FaultyStore::new(inner.clone(), env.clone(), faults.faults.clone(), outside.effects.clone());
    let lives = async {
        for life in &faults.lives {
            live_once(&worker(case, faults, &world, &store, &outside), *life, &env).await;
        }
        worker(case, faults, &world, &store, &outside).run().await
    };
    let working = future::select(Box::pin(lives), Box::pin(store.work()));
    let Either::Left((accepted, _)) = future::select(Box::pin(review(case, &inner, &env)), working).await;
    let history = inner.read(ID).await.unwrap().unwrap();
    let effects = placed(case, &history, outside.effects.lines());
    Ended { history, effects, runs: outside.runs(), accepted, requests: outside.requests() }
}

fn worker(
    case: &AgentCase,
    faults: &AgentFaults,
    world: &WorldHandle,
    store: &FaultyStore<MemoryStore>,
    outside: &Outside,
) -> Worker {
    let budget = ToolLoopBudget { turns_max: case.turns_max, calls_max: case.calls_max };
    let agent = ToolLoop::new(outside.executor(world), Arc::new(outside.clone()))
        .budget(budget)
        .turns_per_activation(case.turns_per_activation);
    let agent = case.approval_timeout.into_iter().fold(agent, ToolLoop::approval_timeout);
    // A model that is busy for a while fails no agent.
    let retry = ActivationRetry { failures_max: NonZeroU32::MAX, ..ActivationRetry::default() };
    let worker = Worker::new(store.clone()).env(world.env()).sink(world.trace()).lease(LEASE).retry(retry);
    let worker = worker.workflow(agent.into_workflow(NAME));
    if faults.replays_always { worker.always_replay() } else { worker }
}

/// Decides on what waits, until the agent has ended or waits for what nobody will decide. Gives what was delivered in time.
async fn review(case: &AgentCase, store: &MemoryStore, env: &Env) -> Vec<String> {
    let calls = case.named_calls().filter(|(.., call)| call.tool.needs_approval());
    let reviews: BTreeMap<_, _> =
        calls.map(|(turn, name, call)| (format!("approval:turn:{turn}:{name}"), &call.review)).collect();
    let (mut seen, mut delivered, mut accepted) = (BTreeMap::new(), Vec::new(), Vec::new());
    for (key, review) in reviews.iter().filter(|(_, review)| review.when == ReviewTime::Early) {
        store.deliver(ID, key, review.answer.payload()).await.unwrap();
        delivered.push(key.clone());
        accepted.push(key.clone());
    }
    loop {
        let history = store.read(ID).await.unwrap().unwrap();
        if history.outcome().is_some() || waits_for_ever(&history, &reviews) {
            return accepted;
        }
        for key in waiting(&history) {
            seen.entry(key).or_insert(env.now());
        }
        for (key, since) in &seen {
            let review = reviews[key];
            let ReviewTime::After(delay) = review.when else { continue };
            if !delivered.contains(key) && env.now() >= *since + delay {
                delivered.push(key.clone());
                if store.deliver(ID, key, review.answer.payload()).await.unwrap() == Delivery::Accepted {
                    accepted.push(key.clone());
                }
            }
        }
        assert!(env.now() < END, "the agent comes to no end: {history:?}");
        env.until(env.now() + Duration::from_millis(500)).await;
    }
}

/// The approvals that the last activation begins with.
fn waiting(history: &WorkflowHistory) -> Vec<String> {
    let last = history.activations.last().unwrap();
    let pending = last.checkpoint.state()["pending"].as_array().cloned().unwrap_or_default();
    pending.iter().map(|pending| pending["approval_id"].as_str().unwrap().to_owned()).collect()
}

fn waits_for_ever(history: &WorkflowHistory, reviews: &BTreeMap<String, &super::case::Review>) -> bool {
    let [.., before, last] = &history.activations[..] else { return false };
    match &before.decision {
        Some((Decision::WaitEvent { key, timeout: None, .. }, _)) if last.wake.is_none() => {
            reviews[&**key].when == ReviewTime::Never
        }
        _ => false,
    }
}

/// Says of each run in which attempt and for which operation it was: by its idempotency key, and by who had claimed the
/// activation last.
fn placed(case: &AgentCase, history: &WorkflowHistory, lines: Vec<EffectLine>) -> Vec<EffectLine> {
    let mut operations = BTreeMap::new();
    for activation in &history.activations {
        let fence = Fence { workflow_id: ID.into(), activation_id: Arc::clone(&activation.activation_id), attempt: 0 };
        let models = (0..=case.turns.len()).map(|turn| format!("model:turn:{turn}"));
        let tools = case.named_calls().map(|(turn, name, _)| format!("tool:turn:{turn}:{name}"));
        for key in models.chain(tools) {
            operations.insert(fence.idempotency_key(&key), (fence.clone(), Arc::<str>::from(key)));
        }
    }
    let (mut claimed, mut runs) = (BTreeMap::new(), BTreeMap::new());
    let place = |mut line: EffectLine| {
        match &mut line.effect {
            Effect::Claimed(_) => {
                claimed.insert(Arc::clone(&line.fence.activation_id), line.fence.clone());
            }
            Effect::CallableStarted { key, idempotency_key, run } => {
                let known = operations.get(idempotency_key);
                let (fence, operation) = known.unwrap_or_else(|| panic!("nothing has the key of run {run}"));
                line.fence = claimed[&fence.activation_id].clone();
                *key = Arc::clone(operation);
                runs.insert(*run, line.fence.clone());
            }
            Effect::CallableEnded { run, .. } | Effect::CallableDropped { run } => line.fence = runs[run].clone(),
            _ => {}
        }
        line
    };
    lines.into_iter().map(place).collect()
}
