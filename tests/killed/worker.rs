//! A worker's process.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use windtunnel::BoxFuture;
use windtunnel::durable::sqlite::SqliteStore;
use windtunnel::durable::{
    Checkpoint, Claimed, Commit, Decision, Delivery, Fence, JournalStore, Record, Started, StoreError, Worker,
    WorkflowHistory,
};
use windtunnel::env::Env;

use crate::effects::Client;
use crate::points::{Point, Stops};
use crate::program::{Outside, Progress, WORKFLOWS, order, workflow_id};

pub(crate) const ROLE: &str = "worker";
/// Short, so that the next life need not wait for long.
const LEASE: Duration = Duration::from_millis(60);

/// `FILE PORT POINT NTH`. Ends with success when all workflows have ended.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let [file, port, point, nth] = arguments else { panic!("FILE PORT POINT NTH, and not {arguments:?}") };
    let stops = Stops::new(point, nth);
    let client = Arc::new(Mutex::new(Client::connect(port.parse().unwrap())));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let env = Env::system();
        let store =
            Stopping { inner: SqliteStore::open(Path::new(file), env.clone()).await.unwrap(), stops: stops.clone() };
        let worker = Worker::new(store).env(env).lease(LEASE).workflow(order(Outside { client, stops }));
        for index in 0..WORKFLOWS {
            worker.start(&workflow_id(index), "order", "round", &Progress::default()).await.unwrap();
        }
        worker.run_until_idle().await.unwrap();
    });
    ExitCode::SUCCESS
}

/// Stops around commits.
struct Stopping {
    inner: SqliteStore,
    stops: Stops,
}

impl JournalStore for Stopping {
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
        self.inner.extend(fence, lease)
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            self.stops.pass(Point::BeforeCommit);
            let commit = self.inner.commit_record(fence, record).await;
            self.stops.pass(Point::AfterCommit);
            commit
        })
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            self.stops.pass(Point::BeforeCheckpoint);
            let commit = self.inner.commit_decision(fence, decision).await;
            self.stops.pass(Point::AfterCheckpoint);
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
