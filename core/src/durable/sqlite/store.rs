//! The store of journals in a file.

use std::fmt;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;

use super::connection::{Opening, Shelf};
use super::error::SqliteError;
use super::fault::{Fault, Outcome};
use super::{claim, commit, event, history, workflow};
use crate::BoxFuture;
use crate::durable::checkpoint::Checkpoint;
use crate::durable::claim::{Claimed, Fence};
use crate::durable::commit::Commit;
use crate::durable::decision::Decision;
use crate::durable::history::WorkflowHistory;
use crate::durable::record::Record;
use crate::durable::rules::{check_event, check_start};
use crate::durable::store::{Delivery, JournalStore, Started, StoreError};
use crate::env::Env;

/// A store of journals in one file, which several processes of one machine may use at once. Clones share the file.
///
/// Each call is one transaction, synchronised with the disk before it is acknowledged, on a thread for blocking work
/// ([`Env::run_blocking`]). While another process writes, a call waits for up to 10 s. Times are the wall clock of the
/// environment in whole nanoseconds: where it is set back, leases and sleeps last longer by as much. Beside the file SQLite
/// keeps its write-ahead log, `FILE-wal`, which is part of it, and `FILE-shm`. A folder that is shared over a network does
/// not serve. On Unix, a process that has a store open must not open and close the file by other means, as to copy it: that takes
/// away the locks of the whole process.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::durable::sqlite::{SqliteStore, verify};
/// use windtunnel_core::durable::{Checkpoint, JournalStore, Started};
/// use windtunnel_core::env::Env;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("journals.db");
/// let store = SqliteStore::open(&path, Env::system()).await?;
/// let started = store.start("order-7", "refund", Checkpoint::new("start", json!({"order": 7}))?).await?;
/// assert_eq!(started, Started::New);
/// drop(store);
///
/// let again = SqliteStore::open_existing(&path, Env::system()).await?;
/// assert_eq!(again.workflow_ids().await?, ["order-7".into()]);
/// assert!(verify(&path)?.is_sound());
/// # Ok(())
/// # }
/// ```
///
/// # Failures
/// A [`StoreError`] has a [`SqliteError`] as its source. A commit that fails because something is damaged is
/// [`Commit::Refused`]; one that fails for another reason, such as a full disk, is [`Commit::Unknown`] even where it is
/// certainly not stored, so that a worker finds out and sends it again instead of counting a failure. What it was is told
/// to `tracing`. After a failure the store can be used on as soon as its cause is gone.
///
/// # Damage
/// A read of a damaged workflow is [`SqliteError::Damaged`]. A claim passes over a damaged activation, says so to `tracing`
/// once, and hands out the next one; [`JournalStore::workflow_ids`] leaves out, and tells, what it cannot read.
#[derive(Clone)]
pub struct SqliteStore {
    env: Env,
    shelf: Arc<Shelf>,
}

impl SqliteStore {
    /// Opens a file, which is made if it is absent. Its folder must be there.
    ///
    /// # Errors
    /// [`SqliteError`], after which the file is as it was: it holds something else or a newer format, it or its log is
    /// damaged, or it cannot be opened or made. An empty file is refused too, since a cut-off one looks so.
    pub async fn open(path: impl AsRef<Path>, env: Env) -> Result<Self, SqliteError> {
        Self::open_as(path.as_ref().to_owned(), env, Opening::Any).await
    }

    /// Opens a file that must be there, as a tool does that reads what others wrote.
    ///
    /// # Errors
    /// [`SqliteError::Absent`], if it is not there, and as for [`SqliteStore::open`].
    pub async fn open_existing(path: impl AsRef<Path>, env: Env) -> Result<Self, SqliteError> {
        Self::open_as(path.as_ref().to_owned(), env, Opening::Existing).await
    }

    /// Makes a file that must not be there.
    ///
    /// # Errors
    /// [`SqliteError::Exists`], if there is anything under its name, and as for [`SqliteStore::open`].
    pub async fn create_new(path: impl AsRef<Path>, env: Env) -> Result<Self, SqliteError> {
        Self::open_as(path.as_ref().to_owned(), env, Opening::New).await
    }

    async fn open_as(path: PathBuf, env: Env, opening: Opening) -> Result<Self, SqliteError> {
        let (opened, opened_env) = (path.clone(), env.clone());
        let shelf = env.run_blocking(move || Shelf::open(opened, opened_env, opening)).await;
        let shelf = shelf.map_err(|source| SqliteError::Lost { path, source })??;
        Ok(Self { env, shelf: Arc::new(shelf) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.shelf.path
    }

    /// Puts records into the last activation of a workflow, as if an attempt had committed them; all or none. For tests and
    /// worlds, as [`MemoryStore::seed`](crate::durable::MemoryStore::seed).
    ///
    /// # Errors
    /// [`StoreError`], if the journal cannot hold them, or the file fails.
    pub async fn seed(&self, workflow_id: &str, records: Vec<Arc<Record>>) -> Result<(), StoreError> {
        let id = workflow_id.to_owned();
        let seed = move |connection: &Connection, _| {
            records.iter().try_for_each(|record| commit::seed(connection, &id, record))
        };
        self.ask(move |shelf| shelf.write(seed)).await
    }

    async fn on_shelf<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelf) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        let shelf = Arc::clone(&self.shelf);
        self.env.run_blocking(move || work(&shelf)).await.unwrap_or_else(|lost| Err(Fault::Lost(lost)))
    }

    fn commit<'s>(
        &'s self,
        work: impl FnOnce(&Connection, Duration) -> Outcome<()> + Send + 'static,
    ) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let (joined, lead) = self.shelf.group.join(Box::new(work));
            let mut leading = lead.map(|lead| {
                let shelf = Arc::clone(&self.shelf);
                self.env.run_blocking(move || shelf.lead(lead))
            });
            // Whoever leads goes on for the others when its own commit is made.
            let mut outcome = pin!(joined.outcome());
            let outcome = poll_fn(|context| {
                if leading.as_mut().is_some_and(|leading| leading.as_mut().poll(context).is_ready()) {
                    leading = None;
                }
                outcome.as_mut().poll(context)
            });
            match outcome.await {
                Ok(()) => Commit::Acknowledged,
                Err(fault) => fault.into_commit(self.path()),
            }
        })
    }

    fn ask<'s, T: Send + 'static>(
        &'s self,
        work: impl FnOnce(&Shelf) -> Outcome<T> + Send + 'static,
    ) -> BoxFuture<'s, Result<T, StoreError>> {
        Box::pin(async move { self.on_shelf(work).await.map_err(|fault| fault.into_store_error(self.path())) })
    }

    /// Says what is damaged, without what is stored.
    fn tell(shelf: &Shelf, fault: Fault) {
        let error = fault.into_error(&shelf.path);
        tracing::warn!(
            cause = crate::causes::text(&error),
            "a part of a file of journals is damaged; it is passed over"
        );
    }
}

impl JournalStore for SqliteStore {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        let (id, name) = (workflow_id.to_owned(), workflow.to_owned());
        self.ask(move |shelf| {
            check_start(&id, &name).map_err(Fault::Invalid)?;
            shelf.write(|connection, now| commit::start(connection, &id, &name, &checkpoint, now))
        })
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        let names = workflows.to_vec();
        self.ask(move |shelf| {
            let damaged = shelf.damaged.lock().clone();
            let claiming = shelf.write(|connection, now| claim::claim(connection, &names, lease, &damaged, now))?;
            for (spot, fault) in claiming.passed {
                if shelf.damaged.lock().insert(spot) {
                    Self::tell(shelf, fault);
                }
            }
            Ok(claiming.claimed)
        })
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        let fence = fence.clone();
        self.commit(move |connection, now| commit::extend(connection, &fence, now.saturating_add(lease)))
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        let fence = fence.clone();
        self.commit(move |connection, _| commit::record(connection, &fence, &record))
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        let fence = fence.clone();
        self.commit(move |connection, now| commit::decision(connection, &fence, &decision, now))
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        let fence = fence.clone();
        self.commit(move |connection, now| commit::retry(connection, &fence, now.saturating_add(after), is_failure))
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        let (id, key) = (workflow_id.to_owned(), key.to_owned());
        self.ask(move |shelf| {
            check_event(&key, &payload).map_err(Fault::Invalid)?;
            shelf.write(|connection, now| event::deliver(connection, &id, &key, Arc::new(payload), now))
        })
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        let id = workflow_id.to_owned();
        self.ask(move |shelf| shelf.read(|connection| history::workflow(connection, &id)))
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        self.ask(|shelf| {
            let (ids, faults) = shelf.read(workflow::ids)?;
            faults.into_iter().for_each(|fault| Self::tell(shelf, fault));
            Ok(ids)
        })
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SqliteStore").field("path", &self.path()).finish_non_exhaustive()
    }
}
