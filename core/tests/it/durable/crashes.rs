//! A worker that is gone at any point costs nothing that was acknowledged, and repeats nothing that was committed.

use std::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::{JournalStore, MemoryStore, Wake, Worker, Workflow, WorkflowContext};

use super::stage::{Crash, Effects, Pauses, effect, env, history, output, pausing_env};

const HOUR: Duration = Duration::from_secs(3600);

/// Operations one after another, at the same time, and shared; a checkpoint, a sleep and an event.
fn order(effects: &Effects) -> Workflow {
    let [first, second, third] = [(); 3].map(|()| effects.clone());
    Workflow::new("test")
        .entry("start", move |context: WorkflowContext, _: Value| {
            let effects = first.clone();
            async move {
                let plan = effect(&context, &effects, "plan").await?;
                let twice = join(effect(&context, &effects, "reserve"), effect(&context, &effects, "reserve"));
                let (reserved, charged) = join(twice, effect(&context, &effects, "charge")).await;
                let (reserved, again) = (reserved.0?, reserved.1?);
                assert_eq!(reserved, again, "one execution is shared");
                Ok::<_, BoxError>(context.continue_("ship", &json!([plan, reserved, charged?]))?)
            }
        })
        .entry("ship", move |context: WorkflowContext, mut done: Vec<String>| {
            let effects = second.clone();
            async move {
                done.push(effect(&context, &effects, "ship").await?);
                Ok::<_, BoxError>(context.sleep("transport", HOUR, "arrive", &done)?)
            }
        })
        .entry("arrive", move |context: WorkflowContext, mut done: Vec<String>| {
            let effects = third.clone();
            async move {
                if matches!(context.wake(), Wake::Timer { .. }) {
                    return Ok(context.wait_event("signature", Some(HOUR), "arrive", &done)?);
                }
                done.push(context.event::<String>()?.unwrap_or_default());
                done.push(effect(&context, &effects, "thank").await?);
                Ok::<_, BoxError>(context.complete(&done)?)
            }
        })
}

struct Scene {
    store: Pauses,
    effects: Effects,
}

impl Scene {
    async fn new() -> Self {
        let effects = Effects::default();
        let store = Pauses::new(MemoryStore::new(env()), effects.clone());
        let scene = Self { store, effects };
        scene.worker().start("w", "test", "start", &()).await.unwrap();
        scene.store.deliver("w", "signature", json!("signed")).await.unwrap();
        scene
    }

    /// The store has another environment on the same clock.
    fn worker(&self) -> Worker {
        Worker::new(self.store.clone()).env(pausing_env()).workflow(order(&self.effects))
    }

    /// Runs a worker that is gone after so many polls; says whether it came to its end before.
    async fn crash(&self, polls: usize) -> bool {
        let worker = self.worker();
        Crash::new(worker.run_until_idle(), polls).await.is_some()
    }

    /// Runs another worker to the end, and holds the history against what is promised. Gives the number of effects.
    async fn check_end(&self) -> usize {
        self.worker().run_until_idle().await.unwrap();
        let history = history(&self.store).await;
        self.store.check_read_back(&history);
        let recorded = history.activations.iter().flat_map(|activation| &activation.records);
        let mut answers: Vec<Value> = recorded.map(|committed| (**committed.record.output()).clone()).collect();
        let mut output = output(&self.store).await.as_array().unwrap().clone();
        output.retain(|done| done != "signed");
        for sorted in [&mut answers, &mut output] {
            sorted.sort_by_key(Value::to_string);
        }
        assert_eq!(answers, output, "what was committed is what was used");
        let counts = self.effects.counts();
        assert_eq!(counts.len(), 5);
        counts.values().sum()
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_is_made_good() {
    let (mut points, mut repeats) = (0, 0);
    loop {
        let scene = Scene::new().await;
        let ended = scene.crash(points).await;
        let effects = scene.check_end().await;
        // One crash can repeat no more than what was under way.
        assert!((5..=7).contains(&effects), "{effects} effects after a crash at poll {points}");
        repeats += effects - 5;
        if ended {
            break;
        }
        points += 1;
    }
    assert!(points > 60, "only {points} points");
    assert!(repeats > 10, "the window between effect and commit was hit {repeats} times only");
}

#[tokio::test(start_paused = true)]
async fn crashes_in_any_row_are_made_good() {
    for first in (0..80).step_by(3) {
        for second in (1..60).step_by(4) {
            let scene = Scene::new().await;
            scene.crash(first).await;
            scene.crash(second).await;
            scene.crash(first / 2 + 5).await;
            scene.check_end().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_workers_at_once_do_each_thing_once() {
    let scene = Scene::new().await;
    let (one, other) = (scene.worker(), scene.worker());
    let (first, second) = join(one.run_until_idle(), other.run_until_idle()).await;
    first.and(second).unwrap();
    assert_eq!(scene.check_end().await, 5);
}
