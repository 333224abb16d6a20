//! A worker's process.

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windtunnel::BoxFuture;
use windtunnel::durable::sqlite::SqliteStore;
use windtunnel::durable::{Commit, Decision, Fence, JournalLayer, JournalStore, Record, Worker};
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

impl JournalLayer for Stopping {
    fn inner(&self) -> &dyn JournalStore {
        &self.inner
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
}
