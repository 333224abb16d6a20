//! Where journals are kept.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::Checkpoint;
use super::claim::{Claimed, Fence};
use super::commit::Commit;
use super::decision::Decision;
use super::history::WorkflowHistory;
use super::record::Record;
use crate::{BoxError, BoxFuture};

/// A store of workflows, their activations and their journals. Object safe, and used by many workers at once.
///
/// # What a store guarantees
/// - **Durability.** What it acknowledges is read back unchanged, by everybody, after any crash. What it refuses is not
///   stored. Only of [`Commit::Unknown`] may either be true.
/// - **Order.** Each call happens at one instant between its beginning and its end; a dropped call happens or does not. The
///   records of an activation are read back in the order in which they were stored.
/// - **Fencing.** Each claim of an activation gives a higher `attempt` than all before, and from that instant on refuses
///   every commit of a lower one ([`Refusal::Superseded`](super::Refusal::Superseded)), for ever. A lease that is over does
///   not by itself refuse anything.
/// - **Leases.** A claimed activation is not claimed again until its lease is over, on the store's own clock, or was given
///   up by [`JournalStore::retry`]. So a worker that is gone holds nothing up for longer than its lease.
/// - **One decision.** An activation has at most one decision. With it, in the same instant, the workflow ends or its next
///   activation is there, with an empty journal. After it every commit is refused
///   ([`Refusal::Closed`](super::Refusal::Closed)).
/// - **Repeats.** A commit that is repeated with the same fence and the same content is acknowledged again and changes
///   nothing. Another record under a key that is taken is refused.
/// - **Bounds.** What is over a bound (D4) is refused whole, and nothing is trimmed.
///
/// A store over another one, which changes only some of its calls, is a [`JournalLayer`](super::JournalLayer).
pub trait JournalStore: Send + Sync {
    /// Starts a workflow, whose first activation is due at once. Repeated with the same content it changes nothing.
    ///
    /// # Errors
    /// [`StoreError`], after which the workflow may be started or not.
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>>;

    /// Claims the activation of one of these workflows that is due for longest.
    ///
    /// # Errors
    /// [`StoreError`], after which an activation may be claimed or not: then its lease passes.
    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>>;

    /// Lets the lease of a claim begin anew.
    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit>;

    /// Commits a completed operation.
    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit>;

    /// Commits how the activation ends, and with it what comes next.
    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit>;

    /// Gives the claim up: the activation is due again `after` a time. An attempt that failed is counted.
    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit>;

    /// Delivers an event, which is kept until the workflow waits for it. Repeated with the same content it changes nothing.
    ///
    /// # Errors
    /// [`StoreError`], after which the event may be delivered or not.
    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>>;

    /// All that is stored of a workflow.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>>;

    /// The identifiers of all workflows, in the order in which they were started.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>>;
}

/// What starting a workflow comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Started {
    /// It is started.
    New,
    /// It was started before, in the same way.
    Already,
    /// There is another workflow with that identifier, and it stays as it is.
    Conflict,
}

/// What delivering an event comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It is stored; if the workflow waits for it, the next activation is due.
    Accepted,
    /// It was delivered before, with the same payload.
    Already,
    /// Another event was delivered under its key, and stays.
    Conflict,
    /// The workflow waited for it until it was too late, and does not hear of it.
    TooLate,
    /// There is no such workflow, or it has ended.
    NoWorkflow,
}

/// A store could not do what it was asked, or cannot say whether it did.
#[derive(Debug, thiserror::Error)]
#[error("the journal store failed; see the cause")]
pub struct StoreError(#[source] pub BoxError);

/// A shared store.
impl<S: JournalStore + ?Sized> JournalStore for Arc<S> {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        (**self).start(workflow_id, workflow, checkpoint)
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        (**self).claim(workflows, lease)
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        (**self).extend(fence, lease)
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        (**self).commit_record(fence, record)
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        (**self).commit_decision(fence, decision)
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        (**self).retry(fence, after, is_failure)
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        (**self).deliver(workflow_id, key, payload)
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        (**self).read(workflow_id)
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        (**self).workflow_ids()
    }
}
