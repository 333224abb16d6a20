//! What a store promises, asked of the one in memory.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::{
    Binding, Checkpoint, Claim, Claimed, Commit, Decision, Fence, JOURNAL_BYTES_MAX, JournalStore, MemoryStore,
    OperationKind, RECORDS_MAX, Record, Refusal, Wake,
};
use windtunnel_core::env::Env;

use super::stage::{env, history};

const MINUTE: Duration = Duration::from_secs(60);

fn record(key: &str, output: Value) -> Arc<Record> {
    let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", json!({})).unwrap();
    Arc::new(Record::new(binding, output).unwrap())
}

async fn begun(clock: &Env) -> MemoryStore {
    let store = MemoryStore::new(clock.clone());
    store.start("w", "test", Checkpoint::new("start", json!(1)).unwrap()).await.unwrap();
    store
}

async fn claim(store: &MemoryStore) -> Claim {
    match store.claim(&["test".into()], MINUTE).await.unwrap() {
        Claimed::Activation(claim) => *claim,
        Claimed::Nothing { next } => panic!("nothing is due before {next:?}"),
    }
}

fn refused(refusal: Refusal) -> Commit {
    Commit::Refused(refusal)
}

#[tokio::test(start_paused = true)]
async fn a_lease_holds_until_it_is_over_and_a_new_claim_has_a_higher_fence() {
    let clock = env();
    let store = begun(&clock).await;
    let first = claim(&store).await;
    assert_eq!((first.fence.attempt, first.wake.clone()), (1, Wake::Started));
    clock.until(Duration::from_secs(59)).await;
    let Claimed::Nothing { next } = store.claim(&["test".into()], MINUTE).await.unwrap() else { panic!("claimed") };
    assert_eq!(next, Some(Duration::from_secs(1)));
    clock.until(MINUTE).await;
    // A lease that is over refuses nothing by itself.
    assert_eq!(store.commit_record(&first.fence, record("a", json!(1))).await, Commit::Acknowledged);
    let second = claim(&store).await;
    assert_eq!((second.fence.attempt, second.records.len()), (2, 1));
    assert_eq!(store.commit_record(&first.fence, record("b", json!(1))).await, refused(Refusal::Superseded));
    assert_eq!(store.extend(&first.fence, MINUTE).await, refused(Refusal::Superseded));
    assert_eq!(store.retry(&first.fence, MINUTE, true).await, refused(Refusal::Superseded));
    let done = Decision::complete(json!(1)).unwrap();
    assert_eq!(store.commit_decision(&first.fence, done.clone()).await, refused(Refusal::Superseded));
    assert_eq!(store.commit_decision(&second.fence, done).await, Commit::Acknowledged);
}

#[tokio::test(start_paused = true)]
async fn a_repeat_is_acknowledged_and_another_content_refused() {
    let store = begun(&env()).await;
    let fence = claim(&store).await.fence;
    for _ in 0..2 {
        assert_eq!(store.commit_record(&fence, record("a", json!(1))).await, Commit::Acknowledged);
    }
    assert_eq!(store.commit_record(&fence, record("a", json!(2))).await, refused(Refusal::Conflict));
    let next = |state: u64| Decision::continue_("start", json!(state)).unwrap();
    for _ in 0..2 {
        assert_eq!(store.commit_decision(&fence, next(1)).await, Commit::Acknowledged);
    }
    assert_eq!(store.commit_decision(&fence, next(2)).await, refused(Refusal::Closed));
    assert_eq!(store.commit_record(&fence, record("b", json!(1))).await, refused(Refusal::Closed));
    assert_eq!(store.retry(&fence, MINUTE, true).await, refused(Refusal::Closed));
    assert_eq!(history(&store).await.activations.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_claimed_takes_no_commit() {
    let store = begun(&env()).await;
    let fence = |workflow_id: &str, activation_id: &str, attempt| Fence {
        workflow_id: workflow_id.into(),
        activation_id: activation_id.into(),
        attempt,
    };
    for fence in [fence("x", "activation-1", 1), fence("w", "activation-2", 1), fence("w", "activation-1", 1)] {
        let commit = store.commit_record(&fence, record("a", json!(1))).await;
        assert_eq!(commit, refused(Refusal::NoActivation), "{fence:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn bounds_hold_in_the_store_too() {
    let store = begun(&env()).await;
    let fence = claim(&store).await.fence;
    for number in 0..RECORDS_MAX {
        assert_eq!(store.commit_record(&fence, record(&number.to_string(), json!(1))).await, Commit::Acknowledged);
    }
    assert_eq!(store.commit_record(&fence, record("more", json!(1))).await, refused(Refusal::OverBound));
    let next = Decision::continue_("start", json!(1)).unwrap();
    assert_eq!(store.commit_decision(&fence, next).await, Commit::Acknowledged);
    let fence = claim(&store).await.fence;
    let overhead = record("a", json!("")).bytes();
    let half = |key: &str, bytes: usize| record(key, json!("y".repeat(JOURNAL_BYTES_MAX / 2 - overhead - bytes)));
    assert_eq!(store.commit_record(&fence, half("a", 0)).await, Commit::Acknowledged);
    assert_eq!(store.commit_record(&fence, half("b", 2)).await, refused(Refusal::OverBound));
    assert_eq!(store.commit_record(&fence, half("b", 3)).await, Commit::Acknowledged);
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_is_given_up_is_due_again_after_its_time() {
    let clock = env();
    let store = begun(&clock).await;
    let first = claim(&store).await;
    assert_eq!(store.retry(&first.fence, Duration::from_secs(5), true).await, Commit::Acknowledged);
    clock.until(Duration::from_secs(5)).await;
    let second = claim(&store).await;
    assert_eq!((second.fence.attempt, second.failures), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn what_is_due_for_longest_comes_first() {
    let clock = env();
    let store = begun(&clock).await;
    for id in ["v", "u"] {
        store.start(id, "test", Checkpoint::new("start", json!(1)).unwrap()).await.unwrap();
    }
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(claim(&store).await.fence.workflow_id.to_string());
    }
    assert_eq!(order, ["w", "v", "u"]);
}

#[tokio::test(start_paused = true)]
async fn names_and_payloads_that_cannot_be_stored_are_refused() {
    let store = begun(&env()).await;
    let checkpoint = || Checkpoint::new("start", json!(1)).unwrap();
    assert!(store.start("a\nb", "test", checkpoint()).await.is_err());
    assert!(store.start("a", "", checkpoint()).await.is_err());
    assert!(store.deliver("w", "", json!(1)).await.is_err());
    assert!(store.deliver("w", "k", json!("p".repeat(64 * 1024 - 2))).await.is_ok());
    assert!(store.deliver("w", "l", json!("p".repeat(64 * 1024 - 1))).await.is_err());
}
