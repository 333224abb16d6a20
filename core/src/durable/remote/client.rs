//! A store that asks a server.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use super::call::{Call, Shared};
use super::error::RemoteError;
use super::page::{HistoryPage, HistoryPages, IdsPage, PAGES_MAX};
use super::request::Request;
use crate::durable::checkpoint::Checkpoint;
use crate::durable::claim::{Claimed, Fence};
use crate::durable::commit::{Commit, Refusal};
use crate::durable::decision::Decision;
use crate::durable::history::WorkflowHistory;
use crate::durable::record::Record;
use crate::durable::store::{Delivery, JournalStore, Started, StoreError};
use crate::env::Env;
use crate::{BoxError, BoxFuture};

const TIMEOUT: Duration = Duration::from_secs(10);

/// A store on the other side of a stream, where [`serve`](super::serve) answers. Clones share the stream.
///
/// Many calls may be under way at once, and each may be dropped at any time. Whoever waits for an answer drives the stream,
/// for the others too. The stream is connected by the first call, and again by the first call after it was lost.
///
/// # When there is no answer
/// A call without an answer fails: a commit is [`Commit::Unknown`], even where nothing was sent, and all else is a
/// [`StoreError`] whose source is a [`RemoteError`]. **No request is ever sent twice.** Only a commit that does not fit into
/// a frame, which is beyond every bound (D4), is refused at once, as [`Refusal::OverBound`]. Why a commit is unknown is in
/// the log at DEBUG.
///
/// A call waits no longer than its [timeout](RemoteStore::timeout). If nothing came on the stream since its request was
/// sent, the stream is given up, and with it the other calls in flight: a peer that is gone without a word holds nothing up for longer.
///
/// See [the module](super) for an example.
#[derive(Clone)]
pub struct RemoteStore {
    shared: Arc<Shared>,
    env: Env,
    timeout: Duration,
}

impl RemoteStore {
    /// A store on the streams that `connect` gives. Times follow `env`.
    pub fn new<F, Fut, S>(env: Env, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let connect = move || -> BoxFuture<'static, _> {
            let connecting = connect();
            Box::pin(async move { connecting.await.map(|stream| Box::pin(stream) as _) })
        };
        Self { shared: Arc::new(Shared::new(Box::new(connect))), env, timeout: TIMEOUT }
    }

    /// How long a call may take, with connecting and with all pages of its answer. Default: 10 s.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    fn deadline(&self) -> Duration {
        self.env.now().saturating_add(self.timeout)
    }

    /// The answer to one request, if it comes until the deadline.
    async fn ask<T: DeserializeOwned>(&self, request: Request, deadline: Duration) -> Result<T, RemoteError> {
        let mut call = Call::new(&self.shared, &request)?;
        // It is in the call's frame now.
        drop(request);
        let left = deadline.saturating_sub(self.env.now());
        let Ok(answer) = self.env.timeout(left, &mut call).await else {
            call.give_up();
            return Err(RemoteError::TimedOut { timeout: self.timeout });
        };
        // What serde says may hold values.
        serde_json::from_value(answer?).map_err(|_| RemoteError::Unintelligible)
    }

    async fn ask_once<T: DeserializeOwned>(&self, request: Request) -> Result<T, StoreError> {
        self.ask(request, self.deadline()).await.map_err(store_error)
    }

    async fn commit(&self, request: Request) -> Commit {
        match self.ask(request, self.deadline()).await {
            Ok(commit) => commit,
            Err(RemoteError::TooLong { .. }) => Commit::Refused(Refusal::OverBound),
            Err(error) => {
                tracing::debug!(cause = crate::causes::text(&error), "whether it is committed is unknown");
                Commit::Unknown
            }
        }
    }

    async fn read_pages(&self, workflow_id: &str) -> Result<Option<WorkflowHistory>, RemoteError> {
        let deadline = self.deadline();
        let mut pages = HistoryPages::new(workflow_id);
        for _ in 0..PAGES_MAX {
            let request = Request::Read { workflow_id: workflow_id.into(), from: pages.len() };
            let Some(page) = self.ask::<Option<HistoryPage>>(request, deadline).await? else {
                // A workflow that is there does not go away.
                return if pages.len() == 0 { Ok(None) } else { Err(RemoteError::Unintelligible) };
            };
            if !pages.take(page)? {
                return Ok(Some(pages.finish()));
            }
        }
        Err(RemoteError::TooManyPages { pages_max: PAGES_MAX })
    }

    async fn workflow_ids_pages(&self) -> Result<Vec<Arc<str>>, RemoteError> {
        let deadline = self.deadline();
        let mut ids = Vec::new();
        for _ in 0..PAGES_MAX {
            let page: IdsPage = self.ask(Request::WorkflowIds { from: ids.len() }, deadline).await?;
            if !page.append_to(&mut ids)? {
                return Ok(ids);
            }
        }
        Err(RemoteError::TooManyPages { pages_max: PAGES_MAX })
    }
}

fn store_error(error: RemoteError) -> StoreError {
    StoreError(BoxError::from(error))
}

impl JournalStore for RemoteStore {
    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        let (workflow_id, workflow) = (workflow_id.into(), workflow.into());
        Box::pin(self.ask_once(Request::Start { workflow_id, workflow, checkpoint }))
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        Box::pin(self.ask_once(Request::Claim { workflows: workflows.to_vec(), lease }))
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit(Request::Extend { fence: fence.clone(), lease }))
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit(Request::CommitRecord { fence: fence.clone(), record }))
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit(Request::CommitDecision { fence: fence.clone(), decision }))
    }

    fn retry<'s>(&'s self, fence: &'s Fence, after: Duration, is_failure: bool) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit(Request::Retry { fence: fence.clone(), after, is_failure }))
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        Box::pin(self.ask_once(Request::Deliver { workflow_id: workflow_id.into(), key: key.into(), payload }))
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        Box::pin(async move { self.read_pages(workflow_id).await.map_err(store_error) })
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        Box::pin(async move { self.workflow_ids_pages().await.map_err(store_error) })
    }
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RemoteStore").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
