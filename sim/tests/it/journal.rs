//! A journal on one host, workers on others, and what happens to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::remote::{RemoteStore, serve};
use windtunnel_core::durable::{
    Decision, JournalStore, MemoryStore, OperationCall, OperationKind, Worker, Workflow, WorkflowContext,
};
use windtunnel_core::env::Env;
use windtunnel_sim::{EventPattern, Host, LinkSettings, Process, Run, Trigger, World, WorldHandle};

const ROUNDS: u64 = 4;

/// What happened outside: idempotency keys, and how often each came.
type Outside = Arc<Mutex<BTreeMap<Arc<str>, u32>>>;

/// The journal's server. What it holds is on its disk, and so survives it.
async fn serve_journal(process: Process, disk: MemoryStore) {
    let Ok(listener) = process.listen(5432).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let disk: Arc<dyn JournalStore> = Arc::new(disk.clone());
        let _connection = process.spawn(async move { serve(disk, stream).await.is_ok() });
    }
}

fn payments(outside: &Outside) -> Workflow {
    let outside = Arc::clone(outside);
    Workflow::new("payments").entry("round", move |context: WorkflowContext, round: u64| {
        let outside = Arc::clone(&outside);
        async move {
            let body = move |_: Value, call: OperationCall| async move {
                call.env.sleep(Duration::from_millis(20)).await;
                *outside.lock().entry(call.idempotency_key).or_default() += 1;
                call.env.sleep(Duration::from_millis(20)).await;
                Ok::<_, BoxError>(json!("paid"))
            };
            let _paid: Value = context.operation("pay", OperationKind::Tool, "bank:pay", "1", json!({}), body).await?;
            if round + 1 == ROUNDS {
                return Ok::<_, BoxError>(context.complete(&json!("all paid"))?);
            }
            Ok(context.continue_("round", &(round + 1))?)
        }
    })
}

/// A worker that runs for ever, on whatever it can reach of the journal.
async fn work(process: Process, outside: Outside) {
    let dialling = process.clone();
    let connect = move || {
        let process = dialling.clone();
        async move { process.connect("journal", 5432).await }
    };
    let store = RemoteStore::new(process.env(), connect).timeout(Duration::from_secs(2));
    let worker = Worker::new(store).env(process.env()).sink(process.trace()).lease(Duration::from_secs(5));
    worker.workflow(payments(&outside)).run().await;
}

struct Scene {
    journal: Host,
    workers: [Host; 2],
    disk: MemoryStore,
    outside: Outside,
}

impl Scene {
    fn new(world: &WorldHandle) -> Self {
        let journal = world.host("journal").unwrap();
        let workers = ["worker-1", "worker-2"].map(|name| world.host(name).unwrap());
        let (disk, outside) = (MemoryStore::new(world.env()), Outside::default());
        let kept = disk.clone();
        journal.start(move |process| serve_journal(process, kept.clone()));
        for worker in &workers {
            let outside = Arc::clone(&outside);
            worker.start(move |process| work(process, Arc::clone(&outside)));
        }
        Self { journal, workers, disk, outside }
    }

    /// Waits for the end, and gives how often each payment was made.
    async fn end(&self, env: &Env) -> Vec<u32> {
        loop {
            let history = self.disk.read("w").await.unwrap().unwrap();
            if let Some(outcome) = history.outcome() {
                assert_eq!(outcome, &Decision::complete(json!("all paid")).unwrap());
                return self.outside.lock().values().copied().collect();
            }
            env.sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn begin(world: &WorldHandle) -> Scene {
    let scene = Scene::new(world);
    let worker = Worker::new(scene.disk.clone()).env(world.env()).workflow(payments(&scene.outside));
    worker.start("w", "payments", "round", &0).await.unwrap();
    scene
}

fn check(run: Run<Vec<u32>>) -> u32 {
    let payments = run.outcome.unwrap();
    assert_eq!(payments.len() as u64, ROUNDS, "each round has one idempotency key");
    payments.into_iter().sum::<u32>() - ROUNDS as u32
}

#[test]
fn a_calm_network_pays_once_and_events_say_where_they_happen() {
    let run = World::new(7).run(|world| async move { begin(&world).await.end(&world.env()).await });
    let of_worker = run.trace.iter().filter(|event| event.kind.name().starts_with("operation."));
    let hosts: BTreeSet<_> = of_worker.filter_map(|event| event.host.as_deref()).collect();
    assert!(!hosts.is_empty() && hosts.iter().all(|host| host.starts_with("worker-")), "{hosts:?}");
    assert_eq!(check(run), 0);
}

/// What goes wrong, at a time that is drawn.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    WorkerCrash,
    WorkerPowerCut,
    JournalCrash,
    JournalPowerCut,
    Partition,
    OneWay,
    Reset,
    Pause,
    Loss,
}

const TROUBLES: [Trouble; 9] = [
    Trouble::WorkerCrash,
    Trouble::WorkerPowerCut,
    Trouble::JournalCrash,
    Trouble::JournalPowerCut,
    Trouble::Partition,
    Trouble::OneWay,
    Trouble::Reset,
    Trouble::Pause,
    Trouble::Loss,
];

async fn make_trouble(world: &WorldHandle, scene: &Scene, trouble: Trouble) {
    let env = world.env();
    for _ in 0..6 {
        env.sleep(Duration::from_millis(env.random_u64("test/when") % 150)).await;
        let [worker, _] = &scene.workers;
        let heal = Duration::from_millis(500 + env.random_u64("test/heal") % 4_000);
        match trouble {
            Trouble::WorkerCrash => worker.crash(),
            Trouble::WorkerPowerCut => worker.power_cut(),
            Trouble::JournalCrash => scene.journal.crash(),
            Trouble::JournalPowerCut => scene.journal.power_cut(),
            Trouble::Partition => worker.partition(&scene.journal),
            Trouble::OneWay => scene.journal.partition_towards(worker),
            Trouble::Reset => worker.reset_connections(&scene.journal),
            Trouble::Pause => worker.pause(),
            Trouble::Loss => world.set_links(LinkSettings { loss: 0.3, ..LinkSettings::default() }),
        }
        env.sleep(heal).await;
        match trouble {
            Trouble::WorkerCrash | Trouble::WorkerPowerCut => worker.restart(),
            Trouble::JournalCrash | Trouble::JournalPowerCut => scene.journal.restart(),
            Trouble::Partition | Trouble::OneWay => worker.reconnect(&scene.journal),
            Trouble::Pause => worker.resume(),
            Trouble::Reset => {}
            Trouble::Loss => world.set_links(LinkSettings::default()),
        }
    }
}

#[test]
fn whatever_goes_wrong_each_payment_is_made_under_one_key_and_the_work_is_done() {
    let mut repeats = BTreeMap::new();
    for trouble in TROUBLES {
        for seed in 0..25 {
            let run = World::new(seed).run(|world| async move {
                let scene = begin(&world).await;
                make_trouble(&world, &scene, trouble).await;
                scene.end(&world.env()).await
            });
            *repeats.entry(format!("{trouble:?}")).or_insert(0) += check(run);
        }
    }
    for lost in ["WorkerCrash", "WorkerPowerCut", "Partition", "JournalPowerCut"] {
        assert!(repeats[lost] > 0, "the window of {lost} was never hit: {repeats:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_with_faults_too() {
    for trouble in TROUBLES {
        let scenario = |world: WorldHandle| async move {
            let scene = begin(&world).await;
            make_trouble(&world, &scene, trouble).await;
            scene.end(&world.env()).await
        };
        let run = World::new(3).check_determinism(scenario).unwrap();
        assert!(run.trace.len() > 20);
    }
}

/// Ends the worker where an event happens, or the journal, exactly there, and starts it again a little later.
fn end_at(world: &WorldHandle, scene: &Scene, nth: u64, how: fn(&Host), whom: Whom) -> Trigger {
    let (journal, workers) = (scene.journal.clone(), scene.workers.clone());
    let (healer, env) = (world.host("healer").unwrap(), world.env());
    world.at(EventPattern::any().nth(nth), move |event| {
        let [first, second] = workers;
        let host = match whom {
            Whom::Journal => journal,
            Whom::Worker if event.host.as_ref() == Some(first.name()) => first,
            Whom::Worker => second,
        };
        how(&host);
        let _healing = healer.spawn(async move {
            env.sleep(Duration::from_secs(1)).await;
            host.restart();
        });
    })
}

#[derive(Clone, Copy)]
enum Whom {
    Worker,
    Journal,
}

#[test]
fn an_end_at_every_single_event_is_made_good() {
    let (mut ends, mut repeats) = (0, 0);
    for whom in [Whom::Worker, Whom::Journal] {
        for how in [Host::crash as fn(&Host), Host::power_cut] {
            for nth in 1.. {
                let run = World::new(11).run(|world| async move {
                    let scene = begin(&world).await;
                    let trigger = end_at(&world, &scene, nth, how, whom);
                    let payments = scene.end(&world.env()).await;
                    (payments, trigger.was_reached())
                });
                let (payments, was_reached) = run.outcome.unwrap();
                assert_eq!(payments.len() as u64, ROUNDS, "event {nth}: each round has one idempotency key");
                if !was_reached {
                    break;
                }
                repeats += payments.into_iter().sum::<u32>() - ROUNDS as u32;
                ends += 1;
            }
        }
    }
    assert!(ends > 60, "only {ends} events");
    assert!(repeats > 4, "the window between effect and commit was hit {repeats} times only");
}
