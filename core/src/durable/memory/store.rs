//! All workflows in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::acknowledgment::{Acknowledgment, Script};
use super::stored_workflow::StoredWorkflow;
use crate::durable::checkpoint::Checkpoint;
use crate::durable::claim::{Claimed, Fence};
use crate::durable::commit::{Commit, Refusal};
use crate::durable::decision::Decision;
use crate::durable::error::DurableError;
use crate::durable::history::WorkflowHistory;
use crate::durable::record::Record;
use crate::durable::rules::{check_event, check_start};
use crate::durable::store::{Delivery, JournalStore, Started, StoreError};
use crate::env::Env;
use crate::{BoxError, BoxFuture};

/// A store that lives as long as its process, for tests and for worlds. Clones share what they hold; what is in it survives
/// the workers that use it, as a database would. Times follow the environment's monotonic clock.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::durable::{Acknowledgment, Checkpoint, JournalStore, MemoryStore, Started};
/// use windtunnel_core::env::Env;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new(Env::system());
/// store.script_records([Acknowledgment::Ok, Acknowledgment::Lost]);
/// let started = store.start("order-7", "refund", Checkpoint::new("start", json!({"order": 7}))?).await?;
/// assert_eq!(started, Started::New);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    env: Env,
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Default)]
struct Shelf {
    workflows: BTreeMap<Arc<str>, StoredWorkflow>,
    /// In the order of their starts.
    order: Vec<Arc<str>>,
    records: Script,
    decisions: Script,
}

impl MemoryStore {
    /// An empty store on the environment's clock.
    pub fn new(env: Env) -> Self {
        Self { env, shelf: Arc::default() }
    }

    /// Says what happens to the next commits of records, after those said before.
    pub fn script_records(&self, acknowledgments: impl IntoIterator<Item = Acknowledgment>) {
        self.shelf.lock().records.extend(acknowledgments);
    }

    /// Says what happens to the next commits of decisions, after those said before.
    pub fn script_decisions(&self, acknowledgments: impl IntoIterator<Item = Acknowledgment>) {
        self.shelf.lock().decisions.extend(acknowledgments);
    }

    /// Puts records into the open activation of a workflow, as if an attempt had committed them.
    ///
    /// # Errors
    /// [`DurableError`] if the journal cannot hold them.
    pub fn seed(&self, workflow_id: &str, records: impl IntoIterator<Item = Arc<Record>>) -> Result<(), DurableError> {
        match self.shelf.lock().workflows.get_mut(workflow_id) {
            Some(stored) => stored.seed(records),
            None => Ok(()),
        }
    }

    fn with_workflow(
        shelf: &mut Shelf,
        fence: &Fence,
        act: impl FnOnce(&mut StoredWorkflow) -> Result<(), Refusal>,
    ) -> Commit {
        shelf.workflows.get_mut(&fence.workflow_id).map_or(Err(Refusal::NoActivation), act).into()
    }
}

impl Shelf {
    /// Which workflow of these is due for longest, or when the first of them is.
    fn first_due(&self, workflows: &[Arc<str>]) -> Option<(Duration, Arc<str>)> {
        let due = self.order.iter().filter_map(|id| {
            let stored = self.workflows.get(id).filter(|stored| workflows.contains(stored.name()))?;
            Some((stored.due()?, id))
        });
        // Of those that are due at one time, the one that was started first.
        due.min_by_key(|(due, _)| *due).map(|(due, id)| (due, Arc::clone(id)))
    }
}

impl JournalStore for MemoryStore {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        Box::pin(async move {
            let now = self.env.now();
            check_start(workflow_id, workflow).map_err(store_error)?;
            let mut shelf = self.shelf.lock();
            if let Some(stored) = shelf.workflows.get(workflow_id) {
                let is_repeat = stored.began_with(workflow, &checkpoint);
                return Ok(if is_repeat { Started::Already } else { Started::Conflict });
            }
            shelf.order.push(workflow_id.into());
            shelf.workflows.insert(workflow_id.into(), StoredWorkflow::new(workflow_id, workflow, checkpoint, now));
            Ok(Started::New)
        })
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        Box::pin(async move {
            let now = self.env.now();
            let mut shelf = self.shelf.lock();
            let Some((due, id)) = shelf.first_due(workflows) else { return Ok(Claimed::Nothing { next: None }) };
            if due > now {
                return Ok(Claimed::Nothing { next: Some(due.saturating_sub(now)) });
            }
            let claim = shelf.workflows.get_mut(&id).and_then(|stored| stored.claim(now, lease));
            Ok(claim.map_or(Claimed::Nothing { next: None }, |claim| Claimed::Activation(Box::new(claim))))
        })
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let until = self.env.now().saturating_add(lease);
            Self::with_workflow(&mut self.shelf.lock(), fence, |stored| stored.extend(fence, until))
        })
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let mut shelf = self.shelf.lock();
            let mut script = std::mem::take(&mut shelf.records);
            let commit =
                script.play(|| Self::with_workflow(&mut shelf, fence, |stored| stored.commit_record(fence, record)));
            shelf.records = script;
            commit
        })
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let now = self.env.now();
            let mut shelf = self.shelf.lock();
            let mut script = std::mem::take(&mut shelf.decisions);
            let commit = script
                .play(|| Self::with_workflow(&mut shelf, fence, |stored| stored.commit_decision(fence, decision, now)));
            shelf.decisions = script;
            commit
        })
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let due = self.env.now().saturating_add(after);
            Self::with_workflow(&mut self.shelf.lock(), fence, |stored| stored.retry(fence, due, is_failure))
        })
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        Box::pin(async move {
            let now = self.env.now();
            check_event(key, &payload).map_err(store_error)?;
            let mut shelf = self.shelf.lock();
            let stored = shelf.workflows.get_mut(workflow_id);
            Ok(stored.map_or(Delivery::NoWorkflow, |stored| stored.deliver(key, Arc::new(payload), now)))
        })
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        Box::pin(async move { Ok(self.shelf.lock().workflows.get(workflow_id).map(StoredWorkflow::history)) })
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        Box::pin(async move { Ok(self.shelf.lock().order.clone()) })
    }
}

fn store_error(error: DurableError) -> StoreError {
    StoreError(BoxError::from(error))
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryStore").field("workflows", &self.shelf.lock().order.len()).finish_non_exhaustive()
    }
}
