//! Several handles on one file.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::sqlite::SqliteStore;
use windtunnel_core::durable::{Claimed, Commit, Decision, Fence, JournalStore, Refusal, WorkflowHistory};
use windtunnel_core::env::{Blocking, Env};

use crate::durable::ground::{HandClock, checkpoint, record};

const MINUTE: Duration = Duration::from_secs(60);

async fn claim(store: &SqliteStore) -> Option<Fence> {
    match store.claim(&["test".into()], MINUTE).await.unwrap() {
        Claimed::Activation(claim) => Some(claim.fence),
        Claimed::Nothing { .. } => None,
    }
}

#[tokio::test]
async fn two_handles_fence_each_other() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), HandClock::default());
    let path = folder.path().join("journals.db");
    let one = SqliteStore::open(&path, clock.env()).await.unwrap();
    let other = SqliteStore::open(&path, clock.env()).await.unwrap();
    one.start("w", "test", checkpoint(1)).await.unwrap();
    let first = claim(&one).await.unwrap();
    assert!(claim(&other).await.is_none());
    clock.set(MINUTE);
    let second = claim(&other).await.unwrap();
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert_eq!(one.commit_record(&first, record("a", json!(1))).await, Commit::Refused(Refusal::Superseded));
    assert_eq!(one.commit_record(&second, record("a", json!(1))).await, Commit::Acknowledged);
    assert_eq!(other.commit_record(&second, record("a", json!(1))).await, Commit::Acknowledged);
    let read = one.read("w").await.unwrap().unwrap();
    assert_eq!(read.activations[0].records.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_that_open_claim_and_commit_at_once_lose_nothing() {
    const WORKFLOWS: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journals.db");
    let run = |number: usize| {
        let path = path.clone();
        async move {
            let store = SqliteStore::open(&path, Env::system()).await.unwrap();
            for id in 0..WORKFLOWS {
                store.start(&format!("w{id}"), "test", checkpoint(1)).await.unwrap();
            }
            let mut done = 0;
            while let Some(fence) = claim(&store).await {
                let by = record("by", json!(number));
                assert_eq!(store.commit_record(&fence, by).await, Commit::Acknowledged);
                let end = Decision::complete(json!(number)).unwrap();
                assert_eq!(store.commit_decision(&fence, end).await, Commit::Acknowledged);
                done += 1;
            }
            done
        }
    };
    let done = futures_util::future::join_all((0..4).map(|number| {
        let handle = tokio::runtime::Handle::current();
        let run = run(number);
        Env::system().run_blocking(move || handle.block_on(run))
    }))
    .await;
    assert_eq!(done.into_iter().map(Result::unwrap).sum::<usize>(), WORKFLOWS);
    let store = SqliteStore::open_existing(&path, Env::system()).await.unwrap();
    assert_eq!(store.workflow_ids().await.unwrap().len(), WORKFLOWS);
    for id in store.workflow_ids().await.unwrap() {
        let read = store.read(&id).await.unwrap().unwrap();
        let by = Arc::clone(read.activations[0].records[0].record.output());
        assert_eq!(read.outcome(), Some(&Decision::Complete(by)));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "the file, its log, and what handles share");
}

/// Keeps blocking work until it is let go, so that commits wait for each other.
#[derive(Clone, Default)]
struct Held {
    is_open: Arc<AtomicBool>,
}

impl Blocking for Held {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        let (is_open, mut work) = (Arc::clone(&self.is_open), Some(work));
        Box::pin(poll_fn(move |context| {
            if !is_open.load(Ordering::Relaxed) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            work.take().into_iter().for_each(|work| work());
            Poll::Ready(())
        }))
    }
}

#[tokio::test]
async fn commits_that_wait_together_are_made_together_and_each_for_itself() {
    let (folder, clock, held) = (tempfile::tempdir().unwrap(), HandClock::default(), Held::default());
    let path = folder.path().join("journals.db");
    held.is_open.store(true, Ordering::Relaxed);
    let store = SqliteStore::open(&path, clock.env().with_blocking(held.clone())).await.unwrap();
    for id in ["v", "w"] {
        store.start(id, "test", checkpoint(1)).await.unwrap();
    }
    let (v, w) = (claim(&store).await.unwrap(), claim(&store).await.unwrap());
    let stale = Fence { attempt: 2, ..v.clone() };
    assert_eq!(store.commit_record(&v, record("taken", json!(0))).await, Commit::Acknowledged);
    held.is_open.store(false, Ordering::Relaxed);
    let (end, let_go) = (Decision::complete(json!(1)).unwrap(), async {
        for _ in 0..3 {
            clock.env().pause().await;
        }
        held.is_open.store(true, Ordering::Relaxed);
    });
    let commits = join_all([
        store.commit_record(&v, record("a", json!(1))),
        store.commit_record(&stale, record("b", json!(2))),
        store.commit_record(&v, record("taken", json!(3))),
        store.commit_decision(&w, end),
        store.commit_record(&w, record("late", json!(4))),
        store.commit_record(&v, record("c", json!(5))),
    ]);
    let (commits, ()) = join(commits, let_go).await;
    let refused = Commit::Refused;
    assert_eq!(
        commits,
        [
            Commit::Acknowledged,
            refused(Refusal::NoActivation),
            refused(Refusal::Conflict),
            Commit::Acknowledged,
            refused(Refusal::Closed),
            Commit::Acknowledged,
        ]
    );
    drop(store);
    let store = SqliteStore::open(&path, clock.env()).await.unwrap();
    let keys = |read: &WorkflowHistory| {
        read.activations[0].records.iter().map(|record| record.record.key().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&store.read("v").await.unwrap().unwrap()), ["taken", "a", "c"]);
    let ended = store.read("w").await.unwrap().unwrap();
    assert!(keys(&ended).is_empty() && ended.outcome().is_some());
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_acknowledged_in_a_file_that_is_gone() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), HandClock::default());
    let path = folder.path().join("journals.db");
    let store = SqliteStore::open(&path, clock.env()).await.unwrap();
    store.start("w", "test", checkpoint(1)).await.unwrap();
    let fence = claim(&store).await.unwrap();
    std::fs::rename(&path, folder.path().join("elsewhere.db")).unwrap();
    assert_eq!(store.commit_record(&fence, record("a", json!(1))).await, Commit::Refused(Refusal::Rejected));
    assert!(store.start("v", "test", checkpoint(1)).await.is_err());
    std::fs::rename(folder.path().join("elsewhere.db"), &path).unwrap();
    assert_eq!(store.commit_record(&fence, record("a", json!(1))).await, Commit::Acknowledged);
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_at_once() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), HandClock::default());
    let error = SqliteStore::open(folder.path(), clock.env()).await.unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}
