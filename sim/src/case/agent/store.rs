//! The way of one process to the store, with the points before and after it.

use std::sync::Arc;
use std::time::Duration;

use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{Commit, Decision, Fence, JournalLayer, JournalStore, Record};

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

impl JournalLayer for ProcessStore {
    fn inner(&self) -> &dyn JournalStore {
        &self.inner
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
}
