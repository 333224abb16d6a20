//! Workers whose store is across a network.

use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::{MemoryStore, Worker, Workflow, WorkflowContext};

use super::network::{Fault, Network};
use super::talk::essence;
use crate::durable::stage::{Effects, Pauses, effect, env, history, output};

/// Operations at the same time, a checkpoint, a sleep.
fn order(effects: &Effects) -> Workflow {
    let [first, second] = [(); 2].map(|()| effects.clone());
    Workflow::new("test")
        .entry("start", move |context: WorkflowContext, _: Value| {
            let effects = first.clone();
            async move {
                let reserved = join(effect(&context, &effects, "reserve"), effect(&context, &effects, "charge")).await;
                assert!(reserved.0.is_ok() == reserved.1.is_ok() || context.attempt() == 1);
                let (reserved, charged) = (reserved.0?, reserved.1?);
                Ok::<_, BoxError>(context.sleep("rest", Duration::from_secs(5), "ship", &[reserved, charged])?)
            }
        })
        .entry("ship", move |context: WorkflowContext, done: Vec<String>| {
            let effects = second.clone();
            async move {
                let shipped = effect(&context, &effects, "ship").await?;
                Ok::<_, BoxError>(context.complete(&(done, shipped))?)
            }
        })
}

struct Scene {
    store: Pauses,
    effects: Effects,
    network: Network,
}

impl Scene {
    fn new(buffer_bytes: usize, fault: Fault) -> Self {
        let effects = Effects::default();
        let store = Pauses::new(MemoryStore::new(env()), effects.clone());
        let network = Network::new(store.clone(), buffer_bytes).with_faults([fault]);
        Self { store, effects, network }
    }

    /// Runs workers until the workflow is done, whatever they meet. Gives the number of effects.
    async fn run(&self, workers: usize) -> usize {
        let client = self.network.client();
        let worker = Worker::new(client).env(env()).workflow(order(&self.effects));
        let run = async || {
            let mut failures = 0;
            while worker.run_until_idle().await.is_err() {
                failures += 1;
                assert!(failures < 4);
            }
        };
        let all = async {
            while worker.start("w", "test", "start", &()).await.is_err() {}
            join_all((0..workers).map(|_| run())).await;
        };
        self.network.run(all).await;
        let history = history(&self.store).await;
        self.store.check_read_back(&history);
        assert_eq!(output(&self.store).await.as_array().unwrap().len(), 2);
        let counts = self.effects.counts();
        assert_eq!(counts.keys().collect::<Vec<_>>(), ["charge", "reserve", "ship"]);
        counts.values().sum()
    }
}

#[tokio::test(start_paused = true)]
async fn a_workflow_runs_over_a_network_as_without() {
    let direct = MemoryStore::new(env());
    let worker = Worker::new(direct.clone()).env(env()).workflow(order(&Effects::default()));
    worker.start("w", "test", "start", &()).await.unwrap();
    worker.run_until_idle().await.unwrap();
    for (buffer_bytes, workers) in [(1, 1), (1000, 1), (1, 3), (64, 5)] {
        let scene = Scene::new(buffer_bytes, Fault::NONE);
        assert_eq!(scene.run(workers).await, 3);
        assert_eq!(essence(&history(&scene.store).await), essence(&history(&direct).await));
        assert_eq!(scene.network.streams(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_anywhere_is_made_good() {
    let scene = Scene::new(64, Fault::NONE);
    scene.run(2).await;
    let traffic = scene.network.traffic();
    let (mut cuts, mut repeats) = (0, 0);
    for is_silent in [false, true] {
        let sent = (0..traffic.sent.len()).map(|sent_max| Fault { sent_max, is_silent, ..Fault::NONE });
        let received = (0..traffic.received.len()).map(|received_max| Fault { received_max, is_silent, ..Fault::NONE });
        // The other conversation is cut at every byte; this one has more calls at once.
        for fault in sent.chain(received).step_by(17) {
            let scene = Scene::new(64, fault);
            let effects = scene.run(2).await;
            assert!((3..=5).contains(&effects), "{effects} effects after {fault:?}");
            repeats += effects - 3;
            cuts += 1;
        }
    }
    assert!(cuts > 200 && repeats > 20, "{repeats} repeats after {cuts} cuts");
}

#[tokio::test(start_paused = true)]
async fn a_lost_acknowledgment_is_unknown_and_is_read_back() {
    let scene = Scene::new(64, Fault::NONE);
    scene.run(1).await;
    let received = scene.network.traffic().received;
    let text = String::from_utf8_lossy(&received).into_owned();
    // The stream breaks right before the acknowledgment of the last decision.
    let at = String::from_utf8_lossy(&received[..]).rfind(r#""acknowledged""#).unwrap();
    let before = received.len() - text[at..].len();
    let scene = Scene::new(64, Fault { received_max: before, ..Fault::NONE });
    assert_eq!(scene.run(1).await, 3);
    assert_eq!(history(&scene.store).await.activations[1].attempts, 1);
    assert_eq!(output(&scene.store).await[1], json!("ship#3"));
    assert_eq!(scene.network.streams(), 2);
}
