//! A store of which requests and answers are lost.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::Shared;
use parking_lot::Mutex;
use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{
    Checkpoint, Claimed, Commit, Decision, Delivery, Fence, JournalStore, Record, Refusal, Started, StoreError,
    WorkflowHistory,
};
use windtunnel_core::env::Env;

use crate::cases::{FaultEnding, StoreFault};
use crate::{Effect, EffectLog};

/// A store over another one, to whose first requests a list of faults happens, and that writes down what is really stored and
/// what is heard of it. Each request waits a little before and after it is made, so that it can be dropped there. Starts,
/// deliveries and readings of all identifiers go through as they are. Clones share the list.
///
/// Commits that nobody waits for any more, and are done nevertheless, are done inside [`FaultyStore::work`].
#[derive(Clone)]
pub struct FaultyStore<S> {
    inner: S,
    env: Env,
    faults: Arc<Mutex<VecDeque<StoreFault>>>,
    effects: EffectLog,
    underway: Arc<Mutex<Underway>>,
}

/// Commits on their way.
#[derive(Default)]
struct Underway {
    commits: Vec<BoxFuture<'static, ()>>,
    waker: Option<Waker>,
}

impl Underway {
    fn send(&mut self, commit: BoxFuture<'static, ()>) {
        self.commits.push(commit);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl<S: JournalStore + Clone + 'static> FaultyStore<S> {
    /// A store with these faults, on the environment's clock.
    pub fn new(inner: S, env: Env, faults: impl IntoIterator<Item = StoreFault>, effects: EffectLog) -> Self {
        let faults = Arc::new(Mutex::new(faults.into_iter().collect()));
        Self { inner, env, faults, effects, underway: Arc::default() }
    }

    /// Does what is on its way to the store, whether anybody waits for it or not. To be polled beside those who use the store.
    pub async fn work(&self) -> Infallible {
        poll_fn(|context| self.poll_work(context)).await
    }

    fn poll_work(&self, context: &mut Context<'_>) -> Poll<Infallible> {
        let mut commits = {
            let mut underway = self.underway.lock();
            underway.waker = Some(context.waker().clone());
            std::mem::take(&mut underway.commits)
        };
        commits.retain_mut(|commit| commit.as_mut().poll(context).is_pending());
        let mut underway = self.underway.lock();
        let sent_meanwhile = std::mem::take(&mut underway.commits);
        underway.commits = commits;
        underway.commits.extend(sent_meanwhile);
        Poll::Pending
    }

    /// How many requests still have their faults before them.
    pub fn faults_left(&self) -> usize {
        self.faults.lock().len()
    }

    async fn wait(&self, duration: Duration) {
        self.env.pause().await;
        if !duration.is_zero() {
            self.env.until(self.env.now().saturating_add(duration)).await;
        }
    }

    fn next_fault(&self) -> StoreFault {
        self.faults.lock().pop_front().unwrap_or(StoreFault::NONE)
    }

    /// What is heard of a request, or how it is lost.
    async fn through<T>(&self, fault: StoreFault, act: impl Future<Output = T>) -> Result<T, FaultEnding> {
        self.wait(fault.before).await;
        let answer = match fault.ending {
            FaultEnding::Well | FaultEnding::Unattended => Ok(act.await),
            FaultEnding::AnswerLost => {
                let _nobody_hears_it = act.await;
                Err(FaultEnding::AnswerLost)
            }
            lost => Err(lost),
        };
        self.wait(fault.after).await;
        answer
    }

    async fn commit<F: Future<Output = Commit> + Send + 'static>(&self, act: impl FnOnce(Self) -> F) -> Commit {
        let (fault, acting) = (self.next_fault(), act(self.clone()));
        let heard = match fault.ending {
            FaultEnding::Unattended => {
                let sent = self.send(fault.before, acting).await;
                self.wait(fault.after).await;
                Ok(sent)
            }
            FaultEnding::Overdue => {
                // It is late by both times, and its answer comes after one.
                let sent = self.send(fault.before.saturating_add(fault.after), acting);
                self.wait(fault.before).await;
                drop(sent);
                Err(FaultEnding::Overdue)
            }
            _ => self.through(fault, acting).await,
        };
        heard.unwrap_or_else(|lost| match lost {
            FaultEnding::Rejected => Commit::Refused(Refusal::Rejected),
            _ => Commit::Unknown,
        })
    }

    /// Sends a commit on a way of its own. What is given is what becomes of it.
    fn send(
        &self,
        before: Duration,
        acting: impl Future<Output = Commit> + Send + 'static,
    ) -> Shared<BoxFuture<'static, Commit>> {
        let store = self.clone();
        let sent = async move {
            store.wait(before).await;
            acting.await
        };
        let sent = sent.boxed().shared();
        self.underway.lock().send(Box::pin(sent.clone().map(drop)));
        sent
    }

    async fn request<T>(&self, act: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let heard = self.through(self.next_fault(), act).await;
        heard.unwrap_or_else(|_lost| Err(StoreError("the request was lost on purpose".into())))
    }

    fn write(&self, fence: &Fence, effect: Effect) {
        self.effects.write(self.env.now(), fence, effect);
    }
}

impl<S: JournalStore + Clone + 'static> JournalStore for FaultyStore<S> {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        self.inner.start(workflow_id, workflow, checkpoint)
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        Box::pin(self.request(async move {
            let claimed = self.inner.claim(workflows, lease).await;
            if let Ok(Claimed::Activation(claim)) = &claimed {
                self.write(&claim.fence, Effect::Claimed(claim.records.clone()));
            }
            claimed
        }))
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let extended = fence.clone();
            let extending = |store: Self| async move { store.inner.extend(&extended, lease).await };
            let commit = self.commit(extending).await;
            self.write(fence, Effect::ExtensionAnswered(commit.clone()));
            commit
        })
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            self.write(fence, Effect::RecordSent(Arc::clone(&record)));
            let mut awaited = Awaited { store: self, fence, record: Some(Arc::clone(&record)) };
            let (sent_by, sent) = (fence.clone(), Arc::clone(&record));
            let acting = |store: Self| async move {
                let commit = store.inner.commit_record(&sent_by, Arc::clone(&sent)).await;
                if commit == Commit::Acknowledged {
                    store.write(&sent_by, Effect::RecordStored(sent));
                }
                commit
            };
            let commit = self.commit(acting).await;
            awaited.record = None;
            self.write(fence, Effect::RecordAnswered(Arc::clone(&record), commit.clone()));
            commit
        })
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            self.write(fence, Effect::DecisionSent(decision.clone()));
            let sent_by = fence.clone();
            let acting = |store: Self| async move {
                let commit = store.inner.commit_decision(&sent_by, decision.clone()).await;
                if commit == Commit::Acknowledged {
                    store.write(&sent_by, Effect::DecisionStored(decision));
                }
                commit
            };
            self.commit(acting).await
        })
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let given_up = fence.clone();
            self.commit(|store: Self| async move { store.inner.retry(&given_up, after, is_failure).await }).await
        })
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        self.inner.deliver(workflow_id, key, payload)
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        Box::pin(self.request(self.inner.read(workflow_id)))
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        self.inner.workflow_ids()
    }
}

/// Says so if a commit is dropped before its answer.
struct Awaited<'a, S: JournalStore + Clone + 'static> {
    store: &'a FaultyStore<S>,
    fence: &'a Fence,
    record: Option<Arc<Record>>,
}

impl<S: JournalStore + Clone + 'static> Drop for Awaited<'_, S> {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            self.store.write(self.fence, Effect::RecordDropped(record));
        }
    }
}

impl<S> fmt::Debug for FaultyStore<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FaultyStore").field("faults", &self.faults).finish_non_exhaustive()
    }
}
