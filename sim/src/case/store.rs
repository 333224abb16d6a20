//! Where a run of a case keeps its journal, and what becomes of its commits.

use std::collections::VecDeque;
use std::fmt;
#[cfg(feature = "sqlite")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
#[cfg(feature = "sqlite")]
use windtunnel_core::durable::sqlite::SqliteStore;
use windtunnel_core::durable::{
    Acknowledgment, Checkpoint, Claimed, Commit, Decision, Delivery, Fence, JournalStore, MemoryStore, Record, Refusal,
    Started, StoreError, WorkflowHistory,
};
use windtunnel_core::env::Env;
use windtunnel_core::{BoxError, BoxFuture};

/// Where a run keeps its journal.
#[derive(Clone, Debug)]
pub(super) enum Keeping {
    /// In memory, which is gone with the run.
    InMemory,
    /// In a new file.
    #[cfg(feature = "sqlite")]
    InFile(PathBuf),
}

/// A store on a world's clock, whose acknowledgments follow a script. Clones share what they hold.
#[derive(Clone)]
pub(super) struct CaseStore {
    kept: Kept,
    records: Script,
    decisions: Script,
}

#[derive(Clone)]
enum Kept {
    InMemory(MemoryStore),
    #[cfg(feature = "sqlite")]
    InFile(SqliteStore),
}

/// What happens to the next commits; after the last one all is well.
type Script = Arc<Mutex<VecDeque<Acknowledgment>>>;

impl Keeping {
    pub(super) async fn open(&self, env: Env) -> Result<CaseStore, BoxError> {
        let kept = match self {
            Self::InMemory => Kept::InMemory(MemoryStore::new(env)),
            #[cfg(feature = "sqlite")]
            Self::InFile(path) => Kept::InFile(SqliteStore::create_new(path, env).await?),
        };
        Ok(CaseStore { kept, records: Script::default(), decisions: Script::default() })
    }
}

impl CaseStore {
    /// Says what happens to the next commits of records, after those said before.
    pub(super) fn script_records(&self, acknowledgments: impl IntoIterator<Item = Acknowledgment>) {
        self.records.lock().extend(acknowledgments);
    }

    /// The same for commits of decisions.
    pub(super) fn script_decisions(&self, acknowledgments: impl IntoIterator<Item = Acknowledgment>) {
        self.decisions.lock().extend(acknowledgments);
    }

    /// Puts records where the first attempt finds them.
    pub(super) async fn seed(&self, workflow_id: &str, records: &[Arc<Record>]) -> Result<(), BoxError> {
        match &self.kept {
            Kept::InMemory(store) => Ok(store.seed(workflow_id, records.iter().cloned())?),
            #[cfg(feature = "sqlite")]
            Kept::InFile(store) => Ok(store.seed(workflow_id, records.to_vec()).await?),
        }
    }

    fn store(&self) -> &dyn JournalStore {
        match &self.kept {
            Kept::InMemory(store) => store,
            #[cfg(feature = "sqlite")]
            Kept::InFile(store) => store,
        }
    }
}

async fn scripted(script: &Script, commit: BoxFuture<'_, Commit>) -> Commit {
    let next = script.lock().pop_front();
    match next.unwrap_or(Acknowledgment::Ok) {
        Acknowledgment::Ok => commit.await,
        Acknowledgment::Rejected => Commit::Refused(Refusal::Rejected),
        Acknowledgment::Lost => {
            let _nobody_hears_it = commit.await;
            Commit::Unknown
        }
    }
}

impl JournalStore for CaseStore {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        self.store().start(workflow_id, workflow, checkpoint)
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        self.store().claim(workflows, lease)
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        self.store().extend(fence, lease)
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(scripted(&self.records, self.store().commit_record(fence, record)))
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(scripted(&self.decisions, self.store().commit_decision(fence, decision)))
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        self.store().retry(fence, after, is_failure)
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        self.store().deliver(workflow_id, key, payload)
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        self.store().read(workflow_id)
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        self.store().workflow_ids()
    }
}

impl fmt::Debug for CaseStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CaseStore").finish_non_exhaustive()
    }
}
