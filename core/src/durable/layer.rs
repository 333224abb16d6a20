//! A store over another one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::checkpoint::Checkpoint;
use super::claim::{Claimed, Fence};
use super::commit::Commit;
use super::decision::Decision;
use super::history::WorkflowHistory;
use super::record::Record;
use super::store::{Delivery, JournalStore, Started, StoreError};
use crate::BoxFuture;

/// A store over another one, which does something of its own at some calls and leaves the others to it.
///
/// A store that counts commits:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use windtunnel_core::BoxFuture;
/// use windtunnel_core::durable::{Commit, Fence, JournalLayer, JournalStore, Record};
///
/// struct Counting<S> {
///     inner: S,
///     commits: AtomicU64,
/// }
///
/// impl<S: JournalStore> JournalLayer for Counting<S> {
///     fn inner(&self) -> &dyn JournalStore {
///         &self.inner
///     }
///
///     fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
///         self.commits.fetch_add(1, Ordering::Relaxed);
///         self.inner.commit_record(fence, record)
///     }
/// }
/// ```
pub trait JournalLayer: Send + Sync {
    /// The store below.
    fn inner(&self) -> &dyn JournalStore;

    /// As [`JournalStore::start`].
    ///
    /// # Errors
    /// As there.
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        self.inner().start(workflow_id, workflow, checkpoint)
    }

    /// As [`JournalStore::claim`].
    ///
    /// # Errors
    /// As there.
    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        self.inner().claim(workflows, lease)
    }

    /// As [`JournalStore::extend`].
    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        self.inner().extend(fence, lease)
    }

    /// As [`JournalStore::commit_record`].
    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        self.inner().commit_record(fence, record)
    }

    /// As [`JournalStore::commit_decision`].
    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        self.inner().commit_decision(fence, decision)
    }

    /// As [`JournalStore::retry`].
    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        self.inner().retry(fence, after, is_failure)
    }

    /// As [`JournalStore::deliver`].
    ///
    /// # Errors
    /// As there.
    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        self.inner().deliver(workflow_id, key, payload)
    }

    /// As [`JournalStore::read`].
    ///
    /// # Errors
    /// As there.
    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        self.inner().read(workflow_id)
    }

    /// As [`JournalStore::workflow_ids`].
    ///
    /// # Errors
    /// As there.
    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        self.inner().workflow_ids()
    }
}

impl<L: JournalLayer> JournalStore for L {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        JournalLayer::start(self, workflow_id, workflow, checkpoint)
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        JournalLayer::claim(self, workflows, lease)
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        JournalLayer::extend(self, fence, lease)
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        JournalLayer::commit_record(self, fence, record)
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        JournalLayer::commit_decision(self, fence, decision)
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        JournalLayer::retry(self, fence, after, is_failure)
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        JournalLayer::deliver(self, workflow_id, key, payload)
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        JournalLayer::read(self, workflow_id)
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        JournalLayer::workflow_ids(self)
    }
}
