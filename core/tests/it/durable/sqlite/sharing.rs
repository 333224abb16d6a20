//! Several handles on one file.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::durable::sqlite::SqliteStore;
use windtunnel_core::durable::{Claimed, Commit, Decision, Fence, JournalStore, Refusal};
use windtunnel_core::env::Env;

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
        let by = Arc::clone(read.activations[0].records[0].output());
        assert_eq!(read.outcome(), Some(&Decision::Complete(by)));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "the file, its log, and what handles share");
}
