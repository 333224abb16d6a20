//! How much a client and a server take on.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::remote::{CALLS_WAITING_MAX, FRAME_BYTES_MAX, REQUESTS_IN_FLIGHT_MAX, serve};
use windtunnel_core::durable::{Commit, Delivery, Fence, JournalLayer, JournalStore, MemoryStore, Refusal, StoreError};

use super::network::{Network, TIMEOUT};
use super::talk::record;
use super::wire::{hello, request, source, told};
use crate::durable::stage::{Crash, env, poll_once};

/// A store whose signs of life take their time, and whose events fail.
#[derive(Clone)]
struct Slow {
    inner: MemoryStore,
    duration: Duration,
    /// How many run, and how many ever did at once.
    running: Arc<Mutex<(usize, usize)>>,
}

impl Slow {
    fn new(duration: Duration) -> Self {
        Self { inner: MemoryStore::new(env()), duration, running: Arc::default() }
    }
}

impl JournalLayer for Slow {
    fn inner(&self) -> &dyn JournalStore {
        &self.inner
    }

    fn extend<'s>(&'s self, _fence: &'s Fence, _lease: Duration) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            {
                let (running, most) = &mut *self.running.lock();
                *running += 1;
                *most = (*most).max(*running);
            }
            env().until(env().now() + self.duration).await;
            self.running.lock().0 -= 1;
            Commit::Acknowledged
        })
    }

    fn deliver<'s>(
        &'s self,
        _workflow_id: &'s str,
        _key: &'s str,
        _payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        Box::pin(async { Err(StoreError("password=hunter2".into())) })
    }
}

fn fence() -> Fence {
    Fence { workflow_id: "w".into(), activation_id: "activation-1".into(), attempt: 1 }
}

#[tokio::test(start_paused = true)]
async fn a_client_has_so_many_requests_in_flight_and_the_others_wait_for_their_turn() {
    let store = Slow::new(Duration::from_secs(1));
    let network = Network::new(store.clone(), 64);
    let (remote, clock) = (network.client(), env());
    let fence = fence();
    let commits = network.run(join_all((0..200).map(|_| remote.extend(&fence, TIMEOUT)))).await;
    assert!(commits.iter().all(|commit| *commit == Commit::Acknowledged));
    assert_eq!(*store.running.lock(), (0, REQUESTS_IN_FLIGHT_MAX));
    // 64 in each of four seconds.
    assert_eq!(clock.now(), Duration::from_secs(4));
    assert_eq!(network.run(remote.extend(&fence, TIMEOUT)).await, Commit::Acknowledged);
}

#[tokio::test(start_paused = true)]
async fn requests_of_dropped_calls_count_until_they_are_answered() {
    let store = Slow::new(Duration::from_secs(1));
    let network = Network::new(store.clone(), 1 << 16);
    let (remote, fence) = (network.client(), fence());
    let dropped = join_all((0..200).map(|_| Crash::new(remote.extend(&fence, TIMEOUT), 4)));
    assert!(network.run(dropped).await.iter().filter(|commit| commit.is_none()).count() > 50);
    assert_eq!(network.run(remote.extend(&fence, TIMEOUT)).await, Commit::Acknowledged);
    assert_eq!(store.running.lock().1, REQUESTS_IN_FLIGHT_MAX);
    assert_eq!(network.streams(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_wait_than_may() {
    let store = Slow::new(Duration::from_secs(1));
    let network = Network::new(store, 1 << 16);
    let (remote, fence) = (network.client(), fence());
    let mut calls: Vec<_> =
        (0..REQUESTS_IN_FLIGHT_MAX + CALLS_WAITING_MAX).map(|_| remote.extend(&fence, TIMEOUT)).collect();
    for call in &mut calls {
        assert!(poll_once(call).await.is_pending());
    }
    let error = remote.read("w").await.unwrap_err();
    assert_eq!(source(&error), "1024 calls wait for their turn already, and no more may; make fewer calls at once");
    drop(calls);
    assert_eq!(network.run(remote.read("w")).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_server_runs_no_more_and_reads_no_further() {
    let store = Slow::new(Duration::from_secs(1));
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let mut server = Box::pin(serve(Arc::new(store.clone()), far));
    near.write_all(&hello()).await.unwrap();
    let extend = |id| request(id, "extend", json!({"fence": fence(), "lease_ns": 1}));
    for id in 1..200 {
        near.write_all(&extend(id)).await.unwrap();
    }
    for _ in 0..20 {
        env().pause().await;
        assert!(poll_once(&mut server).await.is_pending());
    }
    assert_eq!(*store.running.lock(), (REQUESTS_IN_FLIGHT_MAX, REQUESTS_IN_FLIGHT_MAX));
    // With answers that nobody reads it is the same: they are kept, and nothing is begun.
    let (mut near, far) = tokio::io::duplex(100);
    let store = MemoryStore::new(env());
    let mut server = Box::pin(serve(Arc::new(store.clone()), far));
    let write = async {
        near.write_all(&hello()).await.unwrap();
        for id in 1..200 {
            let start = json!({"workflow_id": format!("w{id}"), "workflow": "t",
                "checkpoint": {"entry": "a", "state": 1}});
            near.write_all(&request(id, "start", start)).await.unwrap();
        }
    };
    let mut write = Box::pin(write);
    for _ in 0..10_000 {
        env().pause().await;
        assert!(poll_once(&mut write).await.is_pending());
        assert!(poll_once(&mut server).await.is_pending());
    }
    let started = store.workflow_ids().await.unwrap().len();
    assert!((60..=66).contains(&started), "{started}");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_into_a_frame_is_not_sent() {
    let network = Network::new(MemoryStore::new(env()), 64);
    let remote = network.client();
    let fence = Fence { workflow_id: "w".repeat(FRAME_BYTES_MAX).into(), ..fence() };
    assert_eq!(remote.commit_record(&fence, record("a", json!(1))).await, Commit::Refused(Refusal::OverBound));
    let error = remote.read(&fence.workflow_id).await.unwrap_err();
    let message = "the request has 1048653 bytes, more than the 1048576 allowed, and was not sent";
    assert_eq!((source(&error).as_str(), network.streams()), (message, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stores_error_crosses_without_its_cause() {
    let deliver = request(1, "deliver", json!({"workflow_id": "w", "key": "e", "payload": 1}));
    let (answers, end) = told(Slow::new(TIMEOUT), &[hello(), deliver].concat()).await;
    end.unwrap();
    let message = "the journal store failed; the cause is in the server's log";
    assert_eq!(answers[1], format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32000,"message":"{message}"}}}}"#));
    let network = Network::new(Slow::new(TIMEOUT), 64);
    let error = network.run(network.client().deliver("w", "e", json!(1))).await.unwrap_err();
    assert_eq!(source(&error), format!("the server answered with error -32000: {message}"));
}

#[tokio::test(start_paused = true)]
async fn what_runs_when_the_client_closes_is_finished() {
    let store = Slow::new(Duration::from_secs(1));
    let extend = request(7, "extend", json!({"fence": fence(), "lease_ns": 1}));
    let (answers, end) = told(store.clone(), &[hello(), extend.clone()].concat()).await;
    end.unwrap();
    assert_eq!(answers[1], r#"{"jsonrpc":"2.0","id":7,"result":"acknowledged"}"#);
    // What runs when the client breaks the protocol is dropped.
    let (answers, end) = told(store.clone(), &[hello(), extend.clone(), extend].concat()).await;
    assert_eq!(end.unwrap_err().to_string(), "a request came with the identifier of one that is in flight");
    assert_eq!(answers.len(), 2);
    assert_eq!(*store.running.lock(), (1, 1));
}
