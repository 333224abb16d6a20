//! The way of one process to the store, with the points before and after it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{
    Checkpoint, Claimed, Commit, Decision, Delivery, Fence, JournalStore, Record, Started, StoreError, WorkflowHistory,
};

use super::crashes::{CrashPoint, Place};
use super::process::Process;
use crate::case::store::CaseStore;

/// A process can go down before what it commits reaches the store, and before it hears of it.
pub(super) struct ProcessStore {
    inner: CaseStore,
    process: Process,
}

impl ProcessStore {
    pub(super) fn new(process: Process) -> Self {
        Self { inner: process.scene.store.clone(), process }
    }

    fn place(&self, fence: &Fence, operation: Option<&Arc<str>>) -> Place {
        Place { activation: self.process.scene.activation(&fence.activation_id), operation: operation.cloned() }
    }
}

impl JournalStore for ProcessStore {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        self.inner.start(workflow_id, workflow, checkpoint)
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        self.inner.claim(workflows, lease)
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        self.process.scene.sign_of_life();
        self.inner.extend(fence, lease)
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let place = self.place(fence, Some(record.key()));
            self.process.pass(CrashPoint::BeforeCommit, &place).await;
            let commit = self.inner.commit_record(fence, record).await;
            self.process.pass(CrashPoint::AfterCommit, &place).await;
            commit
        })
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let place = self.place(fence, None);
            self.process.pass(CrashPoint::BeforeDecision, &place).await;
            let commit = self.inner.commit_decision(fence, decision).await;
            self.process.pass(CrashPoint::AfterDecision, &place).await;
            commit
        })
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        self.inner.retry(fence, after, is_failure)
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
        self.inner.read(workflow_id)
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        self.inner.workflow_ids()
    }
}
