//! Programs that are evaluated inside a workflow come to the same value whatever goes wrong, and repeat nothing that was
//! acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    Checkpoint, Decision, ErrorKind, Fence, JournalStore, MemoryStore, RECORDS_MAX, Worker, Workflow, WorkflowContext,
    WorkflowHistory,
};
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{
    self, Evaluator, ExecutionPolicy, ParallelFailures, ProviderCall, ProviderError, ToolDefinition, ToolProvider,
};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_proptests::cases::{AttemptEnding, LifeCase, ProgramCase, StoreFault, ToolBehaviours};
use windtunnel_proptests::models::ProgramEnd;
use windtunnel_proptests::played::{FaultyStore, PlayedProvider};
use windtunnel_proptests::strategies::{programs, retry_policies, worker_cases};
use windtunnel_proptests::{Effect, EffectLine, EffectLog, invariants};
use windtunnel_sim::{World, WorldHandle};

use crate::programs::places::{answering_tools, concurrencies};
use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{evaluate, read, told};
use windtunnel_proptests::properties::journals::live_once;

const ID: &str = "plan-1";
/// Programs with more calls are evaluated calmly only: each record is a replay of all before it.
const RECORDS_CHECKED_MAX: usize = 15;
/// More than all faults of a case can cost.
const ATTEMPTS_MAX: u64 = 60;
const END: Duration = Duration::from_secs(100_000);

/// What befalls the worker.
#[derive(Clone, Debug, Default)]
struct Faults {
    lives: Vec<LifeCase>,
    faults: Vec<StoreFault>,
    replays_always: bool,
    is_shuffled: bool,
}

#[derive(Debug)]
struct Ended {
    history: WorkflowHistory,
    effects: Vec<EffectLine>,
}

/// A provider that writes down its calls, in the attempt in which it was made.
struct Told {
    inner: PlayedProvider,
    env: Env,
    effects: EffectLog,
    fence: Fence,
}

impl ToolProvider for Told {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.inner.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.inner.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let key = call.idempotency_key.clone().expect("the call is durable");
        // The operation's key is found later, by this one.
        let (run, _) = self.effects.begin_run(self.env.now(), &self.fence, &key, &key);
        let running = Running { told: self, run, is_over: false };
        Box::pin(async move {
            let answer = self.inner.call(call).await;
            running.end();
            answer
        })
    }
}

struct Running<'a> {
    told: &'a Told,
    run: u64,
    is_over: bool,
}

impl Running<'_> {
    /// A failure is a result too: it is recorded.
    fn end(mut self) {
        self.is_over = true;
        self.write(Effect::CallableEnded { run: self.run, is_ok: true });
    }

    fn write(&self, effect: Effect) {
        let Told { env, effects, fence, .. } = self.told;
        effects.write(env.now(), fence, effect);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.write(Effect::CallableDropped { run: self.run });
        }
    }
}

fn plan(case: &ProgramCase, faults: &Faults, world: &WorldHandle, effects: &EffectLog) -> Workflow {
    let (case, env, effects) = (Arc::new(case.clone()), world.env(), effects.clone());
    let is_shuffled = faults.is_shuffled;
    Workflow::new("plan").entry("start", move |context: WorkflowContext, _: Value| {
        let (case, env, effects) = (Arc::clone(&case), env.clone(), effects.clone());
        async move {
            let fence = Fence {
                workflow_id: Arc::clone(context.workflow_id()),
                activation_id: Arc::clone(context.activation_id()),
                attempt: context.attempt(),
            };
            let inner = PlayedProvider::new(env.clone(), case.tools.clone());
            let tools = context.tools("plan", Told { inner, env: env.clone(), effects, fence })?;
            let evaluator = Evaluator::new(tools).env(env).limits(case.limits).policy(case.policy.clone());
            let evaluator = if is_shuffled { evaluator.shuffle_siblings() } else { evaluator };
            let program = windtunnel_core::evaluator::Program::from_value(&case.program.to_json())?;
            let evaluation = evaluator.evaluate(&program).await;
            let end = ProgramEnd::of(&evaluation);
            let text = told(&evaluation);
            match evaluation.into_value() {
                Err(error) if end == ProgramEnd::Interrupted => Err(BoxError::from(error)),
                _ => Ok(context.complete(&json!({"told": text, "is_free": end.is_free_of_failures()}))?),
            }
        }
    })
}

fn run(case: &ProgramCase, faults: &Faults) -> Result<Ended, TestCaseError> {
    read(&case.program.to_json())?;
    let run = World::new(7).time_limit(Duration::MAX).run(|world| play(case, faults, world));
    invariants::order(&run.trace)?;
    run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))
}

async fn play(case: &ProgramCase, faults: &Faults, world: WorldHandle) -> Ended {
    let (env, effects) = (world.env(), EffectLog::new());
    let inner = MemoryStore::new(env.clone());
    inner.start(ID, "plan", Checkpoint::new("start", Value::Null).unwrap()).await.unwrap();
    let store = FaultyStore::new(inner.clone(), env.clone(), faults.faults.clone(), effects.clone());
    let lives = async {
        let worker = || {
            let worker = Worker::new(store.clone()).env(env.clone()).sink(world.trace());
            let worker = worker.workflow(plan(case, faults, &world, &effects));
            if faults.replays_always { worker.always_replay() } else { worker }
        };
        for life in &faults.lives {
            live_once(&worker(), *life, &env).await;
        }
        worker().run().await
    };
    let ending = async {
        loop {
            let history = inner.read(ID).await.unwrap().unwrap();
            if history.outcome().is_some() || is_stuck(&history) {
                return history;
            }
            assert!(env.now() < END, "the plan comes to no end: {history:?}");
            env.until(env.now() + Duration::from_secs(10)).await;
        }
    };
    let working = future::select(Box::pin(lives), Box::pin(store.work()));
    let future::Either::Left((history, _)) = future::select(Box::pin(ending), working).await;
    let effects = named(&history, effects.lines());
    Ended { history, effects }
}

/// A failure cancels other parts of a program, and so perhaps a commit on its way, which poisons the attempt. Where the store
/// never has that record, as here, the next attempt does the same again.
fn is_stuck(history: &WorkflowHistory) -> bool {
    history.activations[0].attempts > ATTEMPTS_MAX
}

/// Says of each run for which operation it was, if that was ever recorded.
fn named(history: &WorkflowHistory, lines: Vec<EffectLine>) -> Vec<EffectLine> {
    let [activation] = &history.activations[..] else { panic!("a plan has one activation") };
    let (workflow_id, activation_id) = (ID.into(), Arc::clone(&activation.activation_id));
    let fence = Fence { workflow_id, activation_id, attempt: 0 };
    let keys = activation.records.iter().map(|committed| committed.record.key());
    let keys: BTreeMap<_, _> = keys.map(|key| (fence.idempotency_key(key), Arc::clone(key))).collect();
    let name = |mut line: EffectLine| {
        if let Effect::CallableStarted { key, idempotency_key, .. } = &mut line.effect
            && let Some(known) = keys.get(idempotency_key)
        {
            *key = Arc::clone(known);
        }
        line
    };
    lines.into_iter().map(name).collect()
}

/// What the plan completes with; null, if it is stuck.
/// Nor does it come to an end that counts, where it is to replay all and a recorded failure cancels what was recorded before it.
fn output<'a>(ended: &'a Ended, faults: &Faults) -> Result<&'a Value, TestCaseError> {
    match ended.history.outcome() {
        Some(Decision::Complete(output)) => Ok(output),
        None if is_stuck(&ended.history) => Ok(&Value::Null),
        Some(Decision::Fail { kind, .. }) if faults.replays_always && **kind == *ErrorKind::OutOfOrder.as_str() => {
            Ok(&Value::Null)
        }
        // Nothing but a program that asks for too much fails a plan; above all no binding that is another one.
        Some(Decision::Fail { kind, .. })
            if [ErrorKind::TooManyRecords, ErrorKind::TooLarge, ErrorKind::InvalidJson]
                .iter()
                .any(|known| **kind == *known.as_str()) =>
        {
            Err(TestCaseError::reject("the program asks for more than an activation may"))
        }
        other => Err(TestCaseError::fail(format!("the plan ends with {other:?}"))),
    }
}

fn check(case: &ProgramCase, faults: &Faults) -> Result<(), TestCaseError> {
    let calm = run(case, &Faults::default())?;
    // A program comes to the same without a workflow around it.
    let plain = evaluate(case)?;
    if plain.end.is_free_of_failures() {
        prop_assert_eq!(&output(&calm, &Faults::default())?["told"], &plain.told);
    }
    if calm.history.activations[0].records.len() > RECORDS_CHECKED_MAX {
        output(&calm, &Faults::default())?;
        return Ok(());
    }
    let troubled = run(case, faults)?;
    for (ended, is_explained) in [(&calm, true), (&troubled, !faults.replays_always)] {
        let lines = &ended.effects;
        invariants::attempts_read_what_is_stored(lines)?;
        invariants::overtaken_attempts_store_nothing(lines)?;
        invariants::acknowledged_operations_do_not_run_again(lines)?;
        invariants::idempotency_keys_tell_operations_apart(lines)?;
        invariants::poisoned_attempts_stop(lines)?;
        invariants::commits_come_one_after_another(lines)?;
        if is_explained {
            invariants::repeats_are_explained(lines)?;
        }
    }
    let (calm_output, output) = (output(&calm, &Faults::default())?, output(&troubled, faults)?);
    prop_assert!(calm.history.activations[0].records.len() <= RECORDS_MAX);
    // Nothing is cancelled where nothing fails.
    prop_assert!(calm_output["is_free"] != true || !output.is_null(), "it comes to no end: {:?}", troubled.history);
    if calm_output["is_free"] == true && output["is_free"] == true {
        prop_assert_eq!(output, calm_output);
        let records = |ended: &Ended| {
            let records = ended.history.activations[0].records.iter().map(|committed| &committed.record);
            records.map(|record| (record.key().to_string(), record.canonical().to_string())).collect::<BTreeMap<_, _>>()
        };
        prop_assert_eq!(records(&troubled), records(&calm));
    }
    Ok(())
}

/// A provider that panics breaks its operation, and leaves no answer.
fn recorded_tools() -> impl Strategy<Value = ToolBehaviours> {
    answering_tools().prop_map(|mut tools| {
        for step in tools.scripts.values_mut().flatten().flat_map(|script| &mut script.steps) {
            if step.ending == AttemptEnding::Panic {
                step.ending = AttemptEnding::Failure(evaluator::ErrorKind::Unclassified);
            }
        }
        tools
    })
}

fn faults() -> impl Strategy<Value = Faults> {
    (worker_cases(), prop::bool::weighted(0.3), any::<bool>()).prop_map(|(worker, replays_always, is_shuffled)| {
        let lives = worker.workers.into_iter().flatten().collect();
        // An order that is drawn anew does not replay.
        Faults { lives, faults: worker.faults, replays_always, is_shuffled: is_shuffled && !replays_always }
    })
}

fn config() -> Config {
    let config = family!("journal-program");
    Config { cases: config.cases.div_ceil(2), max_shrink_iters: 2048, ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn programs_in_workflows_come_to_their_value_whatever_goes_wrong(
        program in programs(), tools in recorded_tools(), retry in retry_policies(), collects: bool,
        limits in concurrencies(), faults in faults(),
    ) {
        let parallel_failures = if collects { ParallelFailures::Collect } else { ParallelFailures::Raise };
        let policy = ExecutionPolicy { retry, parallel_failures };
        check(&ProgramCase { program, tools, limits, policy }, &faults)?;
    }
}
