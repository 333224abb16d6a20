//! Requests to a store, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::durable::{
    Checkpoint, Claimed, Commit, Decision, Delivery, Fence, JournalStore, Record, Started, StoreError, WorkflowHistory,
};

/// One request, whole.
#[derive(Clone, Debug)]
pub enum StoreCall {
    /// [`JournalStore::start`].
    Start {
        /// The workflow's identifier.
        workflow_id: String,
        /// Its name.
        workflow: String,
        /// Where it begins.
        checkpoint: Checkpoint,
    },
    /// [`JournalStore::claim`].
    Claim {
        /// The names of workflows.
        workflows: Vec<Arc<str>>,
        /// The lease.
        lease: Duration,
    },
    /// [`JournalStore::extend`].
    Extend {
        /// The fence.
        fence: Fence,
        /// The lease.
        lease: Duration,
    },
    /// [`JournalStore::commit_record`].
    CommitRecord {
        /// The fence.
        fence: Fence,
        /// The record.
        record: Arc<Record>,
    },
    /// [`JournalStore::commit_decision`].
    CommitDecision {
        /// The fence.
        fence: Fence,
        /// The decision.
        decision: Decision,
    },
    /// [`JournalStore::retry`].
    Retry {
        /// The fence.
        fence: Fence,
        /// When the next attempt may be.
        after: Duration,
        /// Whether this one failed.
        is_failure: bool,
    },
    /// [`JournalStore::deliver`].
    Deliver {
        /// The workflow's identifier.
        workflow_id: String,
        /// The event's key.
        key: String,
        /// The event's payload.
        payload: Value,
    },
    /// [`JournalStore::read`].
    Read {
        /// The workflow's identifier.
        workflow_id: String,
    },
    /// [`JournalStore::workflow_ids`].
    WorkflowIds,
}

/// One answer.
#[derive(Debug)]
pub enum StoreAnswer {
    /// Of a start.
    Started(Started),
    /// Of a claim.
    Claimed(Claimed),
    /// Of a commit, an extension or a retry.
    Commit(Commit),
    /// Of a delivery.
    Delivery(Delivery),
    /// Of a reading.
    History(Option<WorkflowHistory>),
    /// Of a reading of all identifiers.
    WorkflowIds(Vec<Arc<str>>),
    /// Whatever was asked failed.
    Failed(StoreError),
}

impl StoreCall {
    /// The name of the method.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start { .. } => "start",
            Self::Claim { .. } => "claim",
            Self::Extend { .. } => "extend",
            Self::CommitRecord { .. } => "commit_record",
            Self::CommitDecision { .. } => "commit_decision",
            Self::Retry { .. } => "retry",
            Self::Deliver { .. } => "deliver",
            Self::Read { .. } => "read",
            Self::WorkflowIds => "workflow_ids",
        }
    }

    /// Asks a store.
    pub async fn make(&self, store: &impl JournalStore) -> StoreAnswer {
        let answer = match self {
            Self::Start { workflow_id, workflow, checkpoint } => {
                store.start(workflow_id, workflow, checkpoint.clone()).await.map(StoreAnswer::Started)
            }
            Self::Claim { workflows, lease } => store.claim(workflows, *lease).await.map(StoreAnswer::Claimed),
            Self::Extend { fence, lease } => Ok(StoreAnswer::Commit(store.extend(fence, *lease).await)),
            Self::CommitRecord { fence, record } => {
                Ok(StoreAnswer::Commit(store.commit_record(fence, Arc::clone(record)).await))
            }
            Self::CommitDecision { fence, decision } => {
                Ok(StoreAnswer::Commit(store.commit_decision(fence, decision.clone()).await))
            }
            Self::Retry { fence, after, is_failure } => {
                Ok(StoreAnswer::Commit(store.retry(fence, *after, *is_failure).await))
            }
            Self::Deliver { workflow_id, key, payload } => {
                store.deliver(workflow_id, key, payload.clone()).await.map(StoreAnswer::Delivery)
            }
            Self::Read { workflow_id } => store.read(workflow_id).await.map(StoreAnswer::History),
            Self::WorkflowIds => store.workflow_ids().await.map(StoreAnswer::WorkflowIds),
        };
        answer.unwrap_or_else(StoreAnswer::Failed)
    }
}
