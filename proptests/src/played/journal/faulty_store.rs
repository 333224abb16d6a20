//! A store of which requests and answers are lost.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

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
#[derive(Clone)]
pub struct FaultyStore<S> {
    inner: S,
    env: Env,
    faults: Arc<Mutex<VecDeque<StoreFault>>>,
    effects: EffectLog,
}

impl<S: JournalStore> FaultyStore<S> {
    /// A store with these faults, on the environment's clock.
    pub fn new(inner: S, env: Env, faults: impl IntoIterator<Item = StoreFault>, effects: EffectLog) -> Self {
        Self { inner, env, faults: Arc::new(Mutex::new(faults.into_iter().collect())), effects }
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

    /// What is heard of a request, or how it is lost.
    async fn through<T>(&self, act: impl Future<Output = T>) -> Result<T, FaultEnding> {
        let fault = self.faults.lock().pop_front().unwrap_or(StoreFault::NONE);
        self.wait(fault.before).await;
        let answer = match fault.ending {
            FaultEnding::Well => Ok(act.await),
            FaultEnding::AnswerLost => {
                let _nobody_hears_it = act.await;
                Err(FaultEnding::AnswerLost)
            }
            lost => Err(lost),
        };
        self.wait(fault.after).await;
        answer
    }

    async fn commit(&self, act: impl Future<Output = Commit>) -> Commit {
        self.through(act).await.unwrap_or_else(|lost| match lost {
            FaultEnding::Rejected => Commit::Refused(Refusal::Rejected),
            _ => Commit::Unknown,
        })
    }

    async fn request<T>(&self, act: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        self.through(act).await.unwrap_or_else(|_lost| Err(StoreError("the request was lost on purpose".into())))
    }

    fn write(&self, fence: &Fence, effect: Effect) {
        self.effects.write(self.env.now(), fence, effect);
    }
}

impl<S: JournalStore> JournalStore for FaultyStore<S> {
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
            let commit = self.commit(self.inner.extend(fence, lease)).await;
            self.write(fence, Effect::ExtensionAnswered(commit.clone()));
            commit
        })
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            self.write(fence, Effect::RecordSent(Arc::clone(&record)));
            let mut awaited = Awaited { store: self, fence, record: Some(Arc::clone(&record)) };
            let acting = async {
                let commit = self.inner.commit_record(fence, Arc::clone(&record)).await;
                if commit == Commit::Acknowledged {
                    self.write(fence, Effect::RecordStored(Arc::clone(&record)));
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
            let acting = async {
                let commit = self.inner.commit_decision(fence, decision.clone()).await;
                if commit == Commit::Acknowledged {
                    self.write(fence, Effect::DecisionStored(decision.clone()));
                }
                commit
            };
            self.commit(acting).await
        })
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit(self.inner.retry(fence, after, is_failure)))
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
struct Awaited<'a, S: JournalStore> {
    store: &'a FaultyStore<S>,
    fence: &'a Fence,
    record: Option<Arc<Record>>,
}

impl<S: JournalStore> Drop for Awaited<'_, S> {
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
