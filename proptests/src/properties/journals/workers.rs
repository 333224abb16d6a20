//! Workers in a world where everything goes wrong for a while.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::cases::{LifeCase, LifeEnd, WorkerCase, event_key};
use crate::played::{FaultyStore, played_workflow, played_workflow_start};
use crate::{EffectLine, EffectLog};
use futures_util::future::{self, Either};
use proptest::test_runner::TestCaseError;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{
    ActivationRetry, Checkpoint, Decision, Delivery, JournalStore, MemoryStore, OrderCheck, Worker, WorkflowHistory,
};
use windtunnel_core::env::Env;
use windtunnel_sim::{Reaction, Run, World, WorldHandle};

/// What is left when everything has come to its end.
#[derive(Debug)]
pub struct Ended {
    /// One of each workflow, in their order.
    pub histories: Vec<WorkflowHistory>,
    /// What was written of them, in order.
    pub effects: Vec<EffectLine>,
    /// The deliveries, in their order.
    pub delivered: Vec<Delivered>,
}

/// A delivery, and what it came to.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// To which workflow.
    pub workflow_id: String,
    /// Under which key.
    pub key: String,
    /// What is delivered.
    pub payload: u64,
    /// When.
    pub at: Duration,
    /// What it came to.
    pub delivery: Delivery,
}

/// How many attempts of an activation may fail: one more than operations of it that fail once.
pub(super) const FAILURES_MAX: u32 = 5;

/// When everything must have come to its end, whatever happened.
const END: Duration = Duration::from_secs(3600);

pub(super) fn workflow_id(place: usize) -> String {
    format!("workflow-{place}")
}

/// Plays a case twice, and compares.
pub(super) fn run_twice<S: JournalStore + Clone + 'static>(
    case: &WorkerCase,
    open: impl Fn(Env) -> BoxFuture<'static, S> + Sync,
) -> Result<Run<Ended>, TestCaseError> {
    let [first, second] = [(); 2].map(|()| run(case, &open));
    let [told, again] = [&first, &second].map(|run| {
        let ended = run.outcome.as_ref().map(|ended| (&ended.histories, &ended.effects, &ended.delivered));
        format!("{ended:?} {} {:?}", run.digest(), run.elapsed)
    });
    if told == again { Ok(first) } else { Err(TestCaseError::fail("the same case is played in two ways")) }
}

/// Plays a case in a world, on the store that `open` opens.
pub fn run<S: JournalStore + Clone + 'static>(
    case: &WorkerCase,
    open: impl Fn(Env) -> BoxFuture<'static, S> + Sync,
) -> Run<Ended> {
    let delays = case.delays.clone();
    let world = World::new(0).on_event(move |event| {
        delays.get(event.sequence as usize).map_or(Reaction::Continue, |delay| Reaction::Delay(*delay))
    });
    let open = &open;
    world.run(|world| async move {
        let store = open(world.env()).await;
        play(case.clone(), world, store).await
    })
}

/// The store in memory, opened.
pub fn memory(env: Env) -> BoxFuture<'static, MemoryStore> {
    Box::pin(async { MemoryStore::new(env) })
}

async fn play(case: WorkerCase, world: WorldHandle, inner: impl JournalStore + Clone + 'static) -> Ended {
    let (env, effects) = (world.env(), EffectLog::new());
    let (entry, state) = played_workflow_start();
    for place in 0..case.workflows.len() {
        let checkpoint = Checkpoint::new(entry, state.clone()).unwrap();
        inner.start(&workflow_id(place), &format!("flow-{place}"), checkpoint).await.unwrap();
    }
    let store = FaultyStore::new(inner.clone(), env.clone(), case.faults.iter().copied(), effects.clone());
    let worker = worker(&case, &world, store.clone(), &effects);
    let workers = case.workers.iter().map(|lives| live(worker.clone(), lives, &env));
    let running = future::select(Box::pin(future::join_all(workers)), Box::pin(store.work()));
    let deliveries = case.deliveries.iter().map(|delivery| async {
        env.until(delivery.at).await;
        let id = workflow_id(delivery.workflow % case.workflows.len());
        let (key, payload) = (event_key(delivery.key), delivery.payload);
        let delivery = inner.deliver(&id, &key, payload.into()).await.unwrap();
        Delivered { workflow_id: id, key, payload, at: env.now(), delivery }
    });
    let ending = async {
        let delivered = future::join_all(deliveries).await;
        while !all_at_rest(&inner, case.workflows.len()).await {
            assert!(env.now() < END, "the workflows come to no end: {:?}", histories(&inner, 2).await);
            env.until(env.now() + Duration::from_secs(1)).await;
        }
        // Whoever has been overtaken may still be at work.
        env.until(env.now() + Duration::from_secs(60)).await;
        delivered
    };
    let Either::Left((delivered, _)) = future::select(Box::pin(ending), running).await else {
        panic!("workers live for ever")
    };
    Ended { histories: histories(&inner, case.workflows.len()).await, effects: effects.lines(), delivered }
}

fn worker(case: &WorkerCase, world: &WorldHandle, store: impl JournalStore + 'static, effects: &EffectLog) -> Worker {
    let env = world.env();
    let retry = ActivationRetry { failures_max: NonZeroU32::new(FAILURES_MAX).unwrap(), ..ActivationRetry::default() };
    let worker = Worker::new(store).env(env.clone()).sink(world.trace()).lease(case.lease).retry(retry);
    let worker = if case.replay.is_strict { worker.order(OrderCheck::Strict) } else { worker };
    let worker = if case.replay.is_constant { worker.always_replay() } else { worker };
    case.workflows.iter().enumerate().fold(worker, |worker, (place, workflow)| {
        worker.workflow(played_workflow(&format!("flow-{place}"), workflow, &env, effects))
    })
}

async fn live(worker: Worker, lives: &[LifeCase], env: &Env) {
    for life in lives {
        live_once(&worker, *life, env).await;
    }
    match worker.run().await {}
}

/// Lets a worker live once, and rests as long as the case says.
pub async fn live_once(worker: &Worker, life: LifeCase, env: &Env) {
    match life.ends {
        LifeEnd::Polls(polls_left) => Crash { future: Some(Box::pin(worker.run())), polls_left }.await,
        LifeEnd::After(duration) => drop(env.timeout(duration, worker.run()).await),
    }
    env.until(env.now() + life.rest).await;
}

/// Drops its future after so many polls.
struct Crash<F> {
    future: Option<Pin<Box<F>>>,
    polls_left: usize,
}

impl<F: Future> Future for Crash<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.polls_left.checked_sub(1) else {
            self.future = None;
            return Poll::Ready(());
        };
        self.polls_left = left;
        match &mut self.future {
            Some(future) => future.as_mut().poll(context).map(drop),
            None => Poll::Ready(()),
        }
    }
}

async fn histories(store: &impl JournalStore, count: usize) -> Vec<WorkflowHistory> {
    let reads = (0..count).map(|place| async move { store.read(&workflow_id(place)).await.unwrap() });
    future::join_all(reads).await.into_iter().flatten().collect()
}

/// Whether each workflow has ended, or waits for an event that does not come any more.
async fn all_at_rest(store: &impl JournalStore, count: usize) -> bool {
    let histories = histories(store, count).await;
    histories.iter().all(|history| {
        let last = history.activations.iter().rev().take(2).collect::<Vec<_>>();
        match last[..] {
            _ if history.outcome().is_some() => true,
            [last, before] if last.wake.is_none() => {
                matches!(before.decision, Some((Decision::WaitEvent { timeout: None, .. }, _)))
            }
            _ => false,
        }
    })
}

/// The records, as they stand in the order of their commits, are shared by everybody.
pub(super) fn activations(
    ended: &Ended,
) -> impl Iterator<Item = (Arc<str>, &windtunnel_core::durable::ActivationHistory)> {
    ended
        .histories
        .iter()
        .flat_map(|history| history.activations.iter().map(|activation| (Arc::clone(&history.workflow_id), activation)))
}
