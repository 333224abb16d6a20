//! Running a case's agent in a world, by workers that come and go.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select, select_all};
use parking_lot::Mutex;
use windtunnel_core::BoxError;
use windtunnel_core::durable::{Checkpoint, JournalStore, ToolLoopState, Turn, Worker};
use windtunnel_core::env::Env;
use windtunnel_core::model::{ModelRequest, ModelResponse, ModelTransport};
use windtunnel_core::tool::Registry;

use super::approvals::{ReviewDelivery, Reviews};
use super::blueprint::{Blueprint, WORKFLOW};
use super::crashes::CrashPlan;
use super::definition::{AgentCase, AgentTurn};
use super::effects::Ledger;
use super::life::Life;
use super::model::{OutsideModel, ProcessModel, TurnsModel};
use super::observed::Observed;
use super::outcome::{ActivationSummary, AgentEnding, AgentOutcome};
use super::process::Process;
use super::scene::{Log, Scene};
use super::signal::Signal;
use super::store::ProcessStore;
use super::tools::{OutsideTool, ProcessTool};
use crate::WorldHandle;
use crate::case::cassettes::Playing;
use crate::case::store::{CaseStore, Keeping};
use crate::case::trouble::Setting;
use crate::case::wire::Delay;
use crate::case::{CaseOutcome, CaseRun};
use crate::script::{Invocations, ScriptedModel};

/// The names of what the case does not name.
const WORKFLOW_ID: &str = "case";
const ENTRY: &str = "turn";

/// How often the reviewer looks even though nothing was said to have changed.
const LOOK: Duration = Duration::from_secs(60);

impl AgentCase {
    pub(super) fn play_with(&self, setting: &Setting, keeping: &Keeping) -> CaseRun {
        let log = Arc::new(Log {
            crashes: Mutex::new(CrashPlan::new(self.crashes.iter().cloned(), self.crash_rate, self.crashes_max)),
            crashed: Mutex::default(),
            ledger: Mutex::new(Ledger::default()),
            reviews: Mutex::new(Reviews::new(self.reviews.iter().cloned())),
            delivered: Mutex::default(),
            operations: Mutex::default(),
            invocations: Invocations::default(),
            store: Mutex::default(),
            model: Mutex::default(),
            playing: Mutex::default(),
        });
        let takes_faults = setting.takes_faults;
        let world = setting.world.run(|world| self.play(world, keeping, &log, takes_faults));
        let mut outcome = outcome_of(&log);
        // In a world no store waits.
        let history = log.store.lock().as_ref().and_then(|store| store.read(WORKFLOW_ID).now_or_never());
        if let Some(Ok(Some(history))) = history {
            outcome.ending = AgentEnding::of(&history);
            if self.on_hosts {
                let Observed { operations, places } = Observed::of(&world.trace);
                outcome.activations = ActivationSummary::all(history, &operations);
                outcome.effects.iter_mut().for_each(|effect| effect.take_place(&places));
            } else {
                outcome.activations = ActivationSummary::all(history, &log.operations.lock());
            }
        }
        let invocations = log.invocations.to_vec();
        let has_faults = !world.faults.is_empty();
        let replayed = log.playing.lock().as_ref().map(|playing| self.shelf.replayed(playing, has_faults));
        let replayed = replayed.unwrap_or_default();
        CaseRun { outcome: CaseOutcome::Agent(Box::new(outcome)), invocations, cut_off: None, replayed, world }
    }

    async fn play(
        &self,
        world: WorldHandle,
        keeping: &Keeping,
        log: &Arc<Log>,
        takes_faults: bool,
    ) -> Result<(), BoxError> {
        let store = keeping.open(world.env()).await?;
        let playing = self.shelf.play(&world.env());
        let scene = Arc::new(self.scene(&world, store, log, &playing, takes_faults));
        *log.playing.lock() = Some(playing);
        *log.store.lock() = Some(scene.store.clone());
        *log.model.lock() = Some(Arc::clone(&scene.model));
        let request =
            ModelRequest { model: self.model.clone(), messages: self.messages.clone(), ..ModelRequest::default() };
        let state = serde_json::to_value(ToolLoopState::new(request))?;
        scene.store.start(WORKFLOW_ID, WORKFLOW, Checkpoint::new(ENTRY, state)?).await?;
        scene.store.seed(WORKFLOW_ID, &self.journal).await?;
        if self.on_hosts {
            self.start_hosts(&world, &scene)?;
            return self.oversee(&scene).await;
        }
        let workers = (1..=u64::from(self.workers.count.get())).map(|worker| self.live(&world, &scene, worker).boxed());
        // The first worker that finds nothing left to do, and nothing to come, says so for all.
        match select(select_all(workers), review(&scene).boxed()).await {
            Either::Left(((over, ..), _)) => over,
            Either::Right((failed, _)) => failed,
        }
    }

    fn scene(
        &self,
        world: &WorldHandle,
        store: CaseStore,
        log: &Arc<Log>,
        playing: &Playing,
        takes_faults: bool,
    ) -> Scene {
        let env = world.env();
        store.script_records(self.record_acknowledgments.iter().copied());
        store.script_decisions(self.decision_acknowledgments.iter().copied());
        Scene {
            tools: self.tools.iter().map(|tool| Arc::new(OutsideTool::new(tool, playing, &env))).collect(),
            model: Arc::new(self.outside_model(playing, &env)),
            log: Arc::clone(log),
            store,
            faults: takes_faults.then(|| world.faults()),
            changed: Signal::default(),
            signs_of_life: AtomicU64::new(0),
            activations: Mutex::default(),
            places: Mutex::default(),
            env,
        }
    }

    /// The reviewer, while workers run on hosts of their own: until the workflow has ended, or waits for what nobody decides.
    async fn oversee(&self, scene: &Scene) -> Result<(), BoxError> {
        loop {
            let changed = scene.changed.next();
            if let Some(history) = scene.store.read(WORKFLOW_ID).await? {
                if history.outcome().is_some() {
                    return Ok(());
                }
                let waiting = ToolLoopState::of(&history).map(|state| state.pending).unwrap_or_default();
                for pending in waiting {
                    scene.log.reviews.lock().pending(&pending.approval_id, scene.env.now());
                }
                let is_waiting = matches!(AgentEnding::of(&history), AgentEnding::Waiting { .. });
                let is_for_ever = self.approval_timeout.is_none() && scene.log.reviews.lock().next_due().is_none();
                if is_waiting && is_for_ever {
                    return Ok(());
                }
            }
            if !deliver_due(scene).await? {
                let look = scene.env.now().saturating_add(LOOK);
                let next = scene.log.reviews.lock().next_due().map_or(look, |next| next.min(look));
                wait(scene, Some(next), changed).await;
            }
        }
    }

    /// The turns that the conversation begins with were spoken before: nobody asks for them.
    fn outside_model(&self, playing: &Playing, env: &Env) -> OutsideModel {
        if let Some(cassette) = self.cassette {
            return OutsideModel::Recorded { model: self.shelf.model(cassette, playing), requests: Mutex::default() };
        }
        let spoken = self.spoken();
        let turn = |turn: &AgentTurn| {
            let failures = turn.failures.iter().cloned().map(Err);
            failures.chain([Ok::<ModelResponse, _>(turn.answer.clone())]).collect::<Vec<_>>()
        };
        let before = std::iter::repeat_with(Vec::new).take(spoken);
        let delays = self.turns.iter().map(|turn| turn.delay);
        OutsideModel::Scripted(Box::new(TurnsModel {
            script: ScriptedModel::by_conversation(before.chain(self.turns.iter().map(turn))),
            delays: std::iter::repeat_n(Delay::default(), spoken).chain(delays).collect(),
            env: env.clone(),
        }))
    }

    /// A worker, and those that follow it when it goes down.
    async fn live(&self, world: &WorldHandle, scene: &Arc<Scene>, number: u64) -> Result<(), BoxError> {
        let blueprint = Blueprint::of(self);
        loop {
            let process = Process::new(scene, number);
            let worker = Self::worker(world, &process, &blueprint)?;
            if let Some(ended) = Life::new(process, work(worker, scene).boxed()).await {
                return ended;
            }
            scene.env.until(scene.env.now().saturating_add(self.workers.restart_after)).await;
        }
    }

    /// A new process, with nothing of those before it in its memory.
    fn worker(world: &WorldHandle, process: &Process, blueprint: &Blueprint) -> Result<Worker, BoxError> {
        let reacting = process.clone();
        let env = world.env_on_event(move |event| reacting.react(event));
        let mut registry = Registry::new();
        for tool in &process.scene.tools {
            let tool = ProcessTool::new(tool, process);
            match &process.scene.faults {
                Some(faults) => registry.register(faults.tool(tool))?,
                None => registry.register(tool)?,
            };
        }
        let model = ProcessModel::new(process.clone());
        let model: Arc<dyn ModelTransport> = match &process.scene.faults {
            Some(faults) => Arc::new(faults.model(model)),
            None => Arc::new(model),
        };
        let store = ProcessStore::new(process.clone());
        let worker = match &process.scene.faults {
            Some(faults) => Worker::new(faults.journal(store)),
            None => Worker::new(store),
        };
        Ok(blueprint.worker(worker, env, world.trace(), registry, model))
    }
}

/// Works until there is nothing left to do, and nothing to come.
async fn work(worker: Worker, scene: &Scene) -> Result<(), BoxError> {
    loop {
        let changed = scene.changed.next();
        match worker.turn().await? {
            Turn::Attempt { .. } => scene.changed.raise(),
            Turn::Nothing { next: Some(next) } => {
                wait(scene, Some(scene.env.now().saturating_add(next)), changed).await
            }
            Turn::Nothing { next: None } if scene.log.reviews.lock().next_due().is_some() => changed.await,
            Turn::Nothing { next: None } => return Ok(()),
        }
    }
}

/// Delivers decisions when they are due, until that is of no more use.
async fn review(scene: &Scene) -> Result<(), BoxError> {
    loop {
        let changed = scene.changed.next();
        if let Some(problem) = scene.hangs() {
            return Err(problem.into());
        }
        if !deliver_due(scene).await? {
            let next = scene.log.reviews.lock().next_due();
            wait(scene, next, changed).await;
        }
    }
}

/// Delivers the first decision that is due, if one is.
async fn deliver_due(scene: &Scene) -> Result<bool, BoxError> {
    let due = scene.log.reviews.lock().take_due(scene.env.now());
    let Some(review) = due else { return Ok(false) };
    let delivery = scene.store.deliver(WORKFLOW_ID, &review.approval_id, review.payload).await?;
    scene.log.delivered.lock().push(ReviewDelivery {
        approval_id: review.approval_id,
        time: scene.env.now(),
        delivery,
    });
    scene.changed.raise();
    Ok(true)
}

/// Waits for a time, or until something has changed.
async fn wait(scene: &Scene, until: Option<Duration>, changed: impl Future<Output = ()> + Send + Unpin) {
    match until {
        None => changed.await,
        Some(until) => {
            let _first = select(scene.env.until(until), changed).await;
        }
    }
}

/// All that is known without the store.
fn outcome_of(log: &Log) -> AgentOutcome {
    let crashes = log.crashes.lock();
    let unreached = crashes.unreached().into_iter().map(|(index, crash, passed)| match passed {
        0 => format!("$.crashes[{index}]: no worker came to the crash {crash}"),
        _ => format!("$.crashes[{index}]: no worker came to the crash {crash}: its point was passed {passed} times"),
    });
    AgentOutcome {
        effects: log.ledger.lock().effects().to_vec(),
        crashes: log.crashed.lock().clone(),
        approvals: log.delivered.lock().clone(),
        requests: log.model.lock().as_ref().map(|model| model.requests()).unwrap_or_default(),
        unreached: unreached.collect(),
        ..AgentOutcome::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use crate::case::{Case, CaseOutcome, CaseRun, Format};

    fn case(fields: Value) -> Case {
        let mut case = json!({
            "model": {"turns": [{"calls": [{"id": "a", "name": "pay"}]}, {"says": "paid"}]},
            "tools": [{"name": "pay"}],
            "rng": 0.0,
        });
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        fields.into_iter().for_each(|(name, field)| case[name] = field);
        Case::parse("f", Format::Json, &case.to_string()).unwrap().remove(0)
    }

    /// The names of the events up to the crash, of the operation that it is at.
    fn events_before(run: &CaseRun) -> Vec<&str> {
        let cancelled = |event: &windtunnel_core::event::Event| {
            serde_json::to_value(event).unwrap()["data"]["status"] == "cancelled"
        };
        let crash = run.trace().iter().position(cancelled).unwrap();
        run.trace()[..crash].iter().map(|event| event.kind.name()).collect()
    }

    #[test]
    fn a_crash_is_exactly_at_its_point() {
        let call = ["operation.started", "tool.started", "tool.attempt"];
        let answered = ["tool.finished", "operation.executed", "operation.commit"];
        let committed = ["operation.committed", "run.finished", "activation.decided"];
        for (at, last, effects, records) in [
            ("before-call", &call[..1], 0, 0),
            ("after-effect", &call[..3], 1, 0),
            ("before-commit", &answered[..3], 1, 0),
            ("after-commit", &answered[..3], 1, 1),
            ("before-decision", &committed[1..3], 1, 1),
            ("after-decision", &committed[1..3], 1, 1),
        ] {
            let operation = if at.ends_with("decision") { Value::Null } else { json!("tool:turn:0:a") };
            let mut crash = json!({"at": at});
            if !operation.is_null() {
                crash["operation"] = operation;
            }
            // The next worker comes after all that this one could still do, so what is there then is what it did.
            let case = case(json!({"crashes": [crash]}));
            let run = case.run(0);
            assert_eq!(case.judge(&run).failures(), Vec::<String>::new());
            let events = events_before(&run);
            let mut ends = events.iter().rev().filter(|name| !name.starts_with("run."));
            let expected = last.iter().rev().find(|name| !name.starts_with("run.")).unwrap();
            assert_eq!(ends.next(), Some(expected), "{at}: {events:?}");
            let CaseOutcome::Agent(outcome) = &run.outcome else { panic!("a model is an agent's") };
            let early = outcome.effects.iter().filter(|effect| effect.time.is_zero());
            assert_eq!(early.count(), effects, "{at}");
            let replays = run.trace().iter().filter(|event| event.kind.name() == "operation.replayed").count();
            let expected = match at {
                "after-decision" => 0,
                _ => 1 + records,
            };
            assert_eq!(replays, expected, "{at}");
        }
    }

    #[test]
    fn a_crash_that_nobody_comes_to_fails_its_case() {
        let crashes = json!([
            {"at": "after-effect", "operation": "tool:turn:1:a"},
            {"at": "before-commit", "operation": "model:turn:1", "nth": 2},
            {"at": "before-decision", "activation": 3},
        ]);
        let case = case(json!({"crashes": crashes}));
        for seed in [0, 1] {
            let verdict = case.judge(&case.run(seed));
            assert!(!verdict.passed());
            assert_eq!(
                verdict.failures(),
                [
                    "$.crashes[0]: no worker came to the crash after-effect of operation \"tool:turn:1:a\"",
                    "$.crashes[1]: no worker came to the crash before-commit of operation \"model:turn:1\", time 2: its \
                     point was passed 1 times",
                    "$.crashes[2]: no worker came to the crash before-decision of activation 3",
                ]
            );
            assert_eq!(verdict.to_json()["unreached"].as_array().unwrap().len(), 3);
        }
    }

    #[test]
    fn drawn_crashes_are_bounded_and_follow_the_seed() {
        let case = case(json!({"crash_rate": 1, "crashes_max": 5, "tools": [{"name": "pay", "idempotent": true}],
            "always": [{"that": "crashes.size() == 5 && crashes.all(c, c.drawn) && outcome.end == 'answer'"}]}));
        assert!(case.draws());
        assert_eq!(case.judge(&case.run(7)).failures(), Vec::<String>::new());
        let rare = self::case(
            json!({"crash_rate": 0.2, "tools": [{"name": "pay", "random": {"delay_ms": {"min": 1, "max": 9}}}]}),
        );
        let digests: BTreeSet<String> = (0..20).map(|seed| rare.check_determinism(seed).unwrap().digest()).collect();
        assert!(digests.len() > 15);
        assert!(!self::case(json!({"crash_rate": 0})).draws());
    }

    #[test]
    fn assertions_see_the_agent() {
        let case = case(json!({
            "tools": [{"name": "pay", "confirm": true}],
            "approvals": [{"call": "a", "after_s": 2, "decision": "approve"}],
            "crashes": [{"at": "after-effect", "operation": "tool:turn:0:a"}],
            "always": [
                {"that": "outcome.status == 'completed' && outcome.answer == 'paid' && outcome.failed == null"},
                {"that": "activations.map(a, a.decision) == ['wait_event', 'complete']"},
                {"that": "activations.map(a, a.index) == [1, 2] && activations[1].wake == 'event'"},
                {"that": "activations.map(a, a.attempts) == [1, 2] && activations.all(a, a.failures == 0)"},
                {"that": "activations.map(a, a.executed) == [2, 3] && activations.map(a, a.replayed) == [0, 0]"},
                {"that": "journal.map(j, j.activation) == [1, 1, 2, 2] && journal[2].key == activations[1].keys[0]"},
                {"that": "effects.map(e, e.at_ms) == [2000.0, 62000.0] && effects.map(e, e.repeat) == [false, true]"},
                {"each": "effects", "that": "it.happened && it.operation == 'tool:turn:0:a' && it.activation == 2 && it.call_id == 'a'"},
                {"that": "crashes.map(c, c.at_ms) == [2000.0] && crashes[0].worker == 1 && !crashes[0].drawn"},
                {"that": "approvals == [{'approval_id': 'approval:turn:0:a', 'at_ms': 2000.0, 'delivery': 'accepted'}]"},
                {"that": "read.size() == 1 && model_requests == 2 && invocations.size() == 2 && elapsed_ms == 62000.0"},
                {"that": "events.filter(e, e.type == 'activation.finished' && e.data.status == 'cancelled').size() == 1"},
            ],
        }));
        assert_eq!(case.judge(&case.run(0)).failures(), Vec::<String>::new());
    }

    #[test]
    fn what_is_known_survives_an_agent_that_comes_to_no_end() {
        let case = case(json!({"tools": [{"name": "pay", "script": [{"fail": "hang"}]}]}));
        let run = case.run(0);
        assert!(run.problem().unwrap().contains("something hangs without a timeout"), "{:?}", run.problem());
        let CaseOutcome::Agent(outcome) = &run.outcome else { panic!("a model is an agent's") };
        assert_eq!((outcome.ending.status(), outcome.effects.len()), ("unfinished", 1));
        assert_eq!(outcome.activations[0].keys(), ["model:turn:0"]);
    }

    #[test]
    fn a_run_of_a_case_of_another_kind_is_no_run_of_this_one() {
        let agent = case(json!({"expect": {"activations": 2}}));
        let calls = Case::parse("f", Format::Json, r#"{"tools": [], "calls": []}"#).unwrap().remove(0);
        assert_eq!(agent.judge(&calls.run(0)).failures(), ["$.expect.activations: expected 2, found 0"]);
        assert!(calls.judge(&agent.run(0)).passed());
    }
}
