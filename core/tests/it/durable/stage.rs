//! A store, a world of effects, and what tests need to look at both.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    ActivationHistory, Claimed, Commit, Decision, DurableError, Fence, JournalLayer, JournalStore, MemoryStore,
    OperationCall, OperationKind, Record, StoreError, Worker, Workflow, WorkflowContext, WorkflowHistory,
};
use windtunnel_core::env::{CountingIds, Env};
use windtunnel_core::event::{Event, Gate};
use windtunnel_core::{BoxError, BoxFuture};

/// Time is tokio's, which the tests pause.
pub(crate) fn env() -> Env {
    Env::system().with_ids(CountingIds::default()).with_rng(|| 0.0)
}

/// As [`env`], but every event is a point where a world could act, so that a future can be dropped there.
pub(crate) fn pausing_env() -> Env {
    env().with_gate(Pausing)
}

struct Pausing;

impl Gate for Pausing {
    fn pass(&self, _event: &Event) -> Option<BoxFuture<'static, ()>> {
        Some(env().pause())
    }
}

/// The operation and its idempotency key.
type Happened = (String, Arc<str>);

/// The activation and the key of an operation.
type Place = (Arc<str>, Arc<str>);

/// The outside world: what happened there, and how often.
#[derive(Clone, Default)]
pub(crate) struct Effects {
    /// In order.
    happened: Arc<Mutex<Vec<Happened>>>,
    /// The idempotency keys of the operations that are committed.
    committed: Arc<Mutex<BTreeSet<Arc<str>>>>,
}

impl Effects {
    /// Something happens. What it answers is never the same twice.
    pub(crate) fn happen(&self, name: &str, idempotency_key: &Arc<str>) -> String {
        assert!(!self.committed.lock().contains(idempotency_key), "{name} was committed, and ran again");
        let mut happened = self.happened.lock();
        happened.push((name.to_owned(), Arc::clone(idempotency_key)));
        format!("{name}#{}", happened.len())
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.happened.lock().iter().map(|(name, _)| name.clone()).collect()
    }

    /// How often each happened, after a check that repeats carry one key, and different operations different ones (D6).
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        let (mut counts, mut keys) = (BTreeMap::new(), BTreeMap::new());
        for (name, key) in self.happened.lock().iter() {
            *counts.entry(name.clone()).or_default() += 1;
            assert_eq!(keys.entry(name.clone()).or_insert_with(|| Arc::clone(key)), key, "another key for {name}");
        }
        assert_eq!(keys.values().collect::<BTreeSet<_>>().len(), keys.len(), "two operations share a key");
        counts
    }
}

/// Waits before and after everything, so that a future can be dropped there, and remembers what it acknowledged.
#[derive(Clone)]
pub(crate) struct Pauses {
    pub(crate) inner: MemoryStore,
    pub(crate) effects: Effects,
    pub(crate) acknowledged: Arc<Mutex<BTreeMap<Place, Arc<Record>>>>,
}

impl Pauses {
    pub(crate) fn new(inner: MemoryStore, effects: Effects) -> Self {
        Self { inner, effects, acknowledged: Arc::default() }
    }

    /// Whether all that was acknowledged is read back unchanged (D3).
    pub(crate) fn check_read_back(&self, history: &WorkflowHistory) {
        for ((activation_id, key), record) in &*self.acknowledged.lock() {
            let activation = history.activation(activation_id).unwrap();
            let stored =
                activation.records.iter().map(|committed| &committed.record).find(|stored| stored.key() == key);
            assert_eq!(stored, Some(record), "{key} of {activation_id} was acknowledged");
        }
    }
}

impl JournalLayer for Pauses {
    fn inner(&self) -> &dyn JournalStore {
        &self.inner
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        Box::pin(async move {
            env().pause().await;
            let claimed = self.inner.claim(workflows, lease).await;
            env().pause().await;
            claimed
        })
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            env().pause().await;
            let commit = self.inner.commit_record(fence, Arc::clone(&record)).await;
            if commit == Commit::Acknowledged {
                self.effects.committed.lock().insert(fence.idempotency_key(record.key()));
            }
            env().pause().await;
            if commit == Commit::Acknowledged {
                let key = (Arc::clone(&fence.activation_id), Arc::clone(record.key()));
                self.acknowledged.lock().insert(key, record);
            }
            commit
        })
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            env().pause().await;
            let commit = self.inner.commit_decision(fence, decision).await;
            env().pause().await;
            commit
        })
    }
}

/// Drops its future after so many polls.
pub(crate) struct Crash<F> {
    future: Option<Pin<Box<F>>>,
    polls_left: usize,
}

impl<F> Crash<F> {
    pub(crate) fn new(future: F, polls: usize) -> Self {
        Self { future: Some(Box::pin(future)), polls_left: polls }
    }
}

impl<F: Future> Future for Crash<F> {
    /// Nothing, if it came to the crash.
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls_left == 0 {
            self.future = None;
            return Poll::Ready(None);
        }
        self.polls_left -= 1;
        match &mut self.future {
            Some(future) => future.as_mut().poll(context).map(Some),
            None => Poll::Ready(None),
        }
    }
}

/// An operation with an effect, and with a wait before and after it.
pub(crate) async fn effect(context: &WorkflowContext, effects: &Effects, name: &str) -> Result<String, DurableError> {
    let effects = effects.clone();
    let arguments = json!({"name": name});
    let body = move |arguments: Value, call: OperationCall| async move {
        call.env.pause().await;
        let answer = effects.happen(arguments["name"].as_str().unwrap(), &call.idempotency_key);
        call.env.pause().await;
        Ok::<_, BoxError>(answer)
    };
    context.operation(name, OperationKind::Tool, "world:effect", "1", arguments, body).await
}

/// A workflow with one entry, `start`, that takes nothing.
pub(crate) fn workflow<F, Fut>(entry: F) -> Workflow
where
    F: Fn(WorkflowContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Decision, BoxError>> + Send + 'static,
{
    Workflow::new("test").entry("start", move |context, _: Value| entry(context))
}

/// A worker on the store, with that workflow started as `w`.
pub(crate) async fn started(store: impl JournalStore + 'static, env: Env, workflow: Workflow) -> Worker {
    let worker = Worker::new(store).env(env).workflow(workflow);
    worker.start("w", "test", "start", &json!(null)).await.unwrap();
    worker
}

pub(crate) async fn history(store: &impl JournalStore) -> WorkflowHistory {
    store.read("w").await.unwrap().unwrap()
}

pub(crate) fn keys(activation: &ActivationHistory) -> Vec<&str> {
    activation.records.iter().map(|committed| &**committed.record.key()).collect()
}

/// What the workflow completed with.
pub(crate) async fn output(store: &impl JournalStore) -> Value {
    match history(store).await.outcome() {
        Some(Decision::Complete(output)) => (**output).clone(),
        other => panic!("{other:?} instead of an output"),
    }
}

/// Polls a future once.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context))).await
}
