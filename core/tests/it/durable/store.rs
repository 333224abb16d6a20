//! What a store promises, asked of each. What is stored in a file is read anew now and then.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::durable::{
    Checkpoint, Claim, Claimed, Commit, Decision, Delivery, Fence, JOURNAL_BYTES_MAX, JournalStore, RECORDS_MAX,
    Refusal, Started, Wake, Worker, WorkflowContext,
};

use super::ground::{Ground, checkpoint, record};
use super::stage::{Effects, effect, env, workflow};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

macro_rules! promises {
    ($($name:ident)*) => {
        mod memory {
            use crate::durable::ground::Ground;
            $(#[tokio::test] async fn $name() { super::$name(Ground::memory()).await; })*
        }
        #[cfg(feature = "sqlite")]
        mod file {
            use crate::durable::ground::Ground;
            $(#[tokio::test] async fn $name() { super::$name(Ground::file()).await; })*
        }
    };
}

promises! {
    a_lease_holds_until_it_is_over_and_a_new_claim_has_a_higher_fence
    a_repeat_is_acknowledged_and_another_content_refused
    what_nobody_claimed_takes_no_commit
    bounds_hold_in_the_store_too
    a_claim_that_is_given_up_is_due_again_after_its_time
    a_claim_that_is_given_up_twice_has_failed_once
    a_repeat_has_the_same_numbers
    what_is_due_for_longest_comes_first
    names_and_payloads_that_cannot_be_stored_are_refused
    a_workflow_is_started_once
    members_keep_their_order
    a_sleep_is_over_by_the_clock
    an_event_is_kept_for_the_wait_to_come
    an_event_wakes_the_wait_and_comes_too_late_at_its_timeout
    a_workflow_waits_once_for_a_key
    what_has_ended_takes_no_event
    a_worker_runs_a_workflow_to_its_end
}

async fn claimed(store: &Arc<dyn JournalStore>) -> Result<Claim, Option<Duration>> {
    match store.claim(&["other".into(), "test".into()], MINUTE).await.unwrap() {
        Claimed::Activation(claim) => Ok(*claim),
        Claimed::Nothing { next } => Err(next),
    }
}

async fn claim(store: &Arc<dyn JournalStore>) -> Claim {
    claimed(store).await.unwrap_or_else(|next| panic!("nothing is due before {next:?}"))
}

fn refused(refusal: Refusal) -> Commit {
    Commit::Refused(refusal)
}

async fn a_lease_holds_until_it_is_over_and_a_new_claim_has_a_higher_fence(ground: Ground) {
    let first = claim(&ground.begun().await).await;
    assert_eq!((first.fence.attempt, first.wake.clone()), (1, Wake::Started));
    ground.clock.set(59 * SECOND);
    let store = ground.store().await;
    assert_eq!(claimed(&store).await.unwrap_err(), Some(SECOND));
    ground.clock.set(MINUTE);
    // A lease that is over refuses nothing by itself.
    assert_eq!(store.commit_record(&first.fence, record("a", json!(1))).await, Commit::Acknowledged);
    let second = claim(&store).await;
    assert_eq!((second.fence.attempt, second.records.len()), (2, 1));
    let store = ground.store().await;
    assert_eq!(store.commit_record(&first.fence, record("b", json!(1))).await, refused(Refusal::Superseded));
    assert_eq!(store.extend(&first.fence, MINUTE).await, refused(Refusal::Superseded));
    assert_eq!(store.retry(&first.fence, MINUTE, true).await, refused(Refusal::Superseded));
    let done = Decision::complete(json!(1)).unwrap();
    assert_eq!(store.commit_decision(&first.fence, done.clone()).await, refused(Refusal::Superseded));
    assert_eq!(store.extend(&second.fence, 2 * MINUTE).await, Commit::Acknowledged);
    assert_eq!(claimed(&store).await.unwrap_err(), Some(2 * MINUTE));
    assert_eq!(store.commit_decision(&second.fence, done).await, Commit::Acknowledged);
    assert_eq!(claimed(&ground.store().await).await.unwrap_err(), None);
}

async fn a_repeat_is_acknowledged_and_another_content_refused(ground: Ground) {
    let fence = claim(&ground.begun().await).await.fence;
    for _ in 0..2 {
        let store = ground.store().await;
        assert_eq!(store.commit_record(&fence, record("a", json!({"x": 1, "y": 2}))).await, Commit::Acknowledged);
    }
    let store = ground.store().await;
    // The order of members is not part of what is stored.
    assert_eq!(store.commit_record(&fence, record("a", json!({"y": 2, "x": 1}))).await, Commit::Acknowledged);
    assert_eq!(store.commit_record(&fence, record("a", json!({"y": 2, "x": 1.0}))).await, refused(Refusal::Conflict));
    let next = |state: u64| Decision::continue_("start", json!(state)).unwrap();
    for _ in 0..2 {
        let store = ground.store().await;
        assert_eq!(store.commit_decision(&fence, next(1)).await, Commit::Acknowledged);
    }
    assert_eq!(store.commit_decision(&fence, next(2)).await, refused(Refusal::Closed));
    assert_eq!(store.commit_record(&fence, record("a", json!({"x": 1, "y": 2}))).await, refused(Refusal::Closed));
    assert_eq!(store.retry(&fence, MINUTE, true).await, refused(Refusal::Closed));
    assert_eq!(store.read("w").await.unwrap().unwrap().activations.len(), 2);
}

async fn what_nobody_claimed_takes_no_commit(ground: Ground) {
    let store = ground.begun().await;
    let fence = |workflow_id: &str, activation_id: &str, attempt| Fence {
        workflow_id: workflow_id.into(),
        activation_id: activation_id.into(),
        attempt,
    };
    for fence in [
        fence("x", "activation-1", 1),
        fence("w", "activation-2", 1),
        fence("w", "activation-01", 0),
        fence("w", "activation-0", 0),
        fence("w", "activation--1", 0),
        fence("w", "start", 0),
        fence("w", "activation-1", 1),
        fence("w", "activation-1", u64::MAX),
    ] {
        let commit = store.commit_record(&fence, record("a", json!(1))).await;
        assert_eq!(commit, refused(Refusal::NoActivation), "{fence:?}");
    }
}

async fn bounds_hold_in_the_store_too(ground: Ground) {
    let store = ground.begun().await;
    let fence = claim(&store).await.fence;
    for number in 0..RECORDS_MAX {
        assert_eq!(store.commit_record(&fence, record(&number.to_string(), json!(1))).await, Commit::Acknowledged);
    }
    let store = ground.store().await;
    assert_eq!(store.commit_record(&fence, record("more", json!(1))).await, refused(Refusal::OverBound));
    assert_eq!(store.commit_record(&fence, record("7", json!(1))).await, Commit::Acknowledged);
    let next = Decision::continue_("start", json!(1)).unwrap();
    assert_eq!(store.commit_decision(&fence, next).await, Commit::Acknowledged);
    let fence = claim(&store).await.fence;
    let overhead = record("a", json!("")).bytes();
    let half = |key: &str, bytes: usize| record(key, json!("y".repeat(JOURNAL_BYTES_MAX / 2 - overhead - bytes)));
    assert_eq!(store.commit_record(&fence, half("a", 0)).await, Commit::Acknowledged);
    assert_eq!(store.commit_record(&fence, half("b", 2)).await, refused(Refusal::OverBound));
    assert_eq!(store.commit_record(&fence, half("b", 3)).await, Commit::Acknowledged);
    let read = ground.store().await.read("w").await.unwrap().unwrap();
    assert_eq!((read.activations[0].records.len(), read.activations[1].records.len()), (RECORDS_MAX, 2));
}

async fn a_claim_that_is_given_up_is_due_again_after_its_time(ground: Ground) {
    let store = ground.begun().await;
    let first = claim(&store).await;
    assert_eq!(store.retry(&first.fence, 5 * SECOND, true).await, Commit::Acknowledged);
    assert_eq!(claimed(&store).await.unwrap_err(), Some(5 * SECOND));
    ground.clock.set(5 * SECOND);
    let store = ground.store().await;
    let second = claim(&store).await;
    assert_eq!((second.fence.attempt, second.failures), (2, 1));
    assert_eq!(store.retry(&second.fence, Duration::ZERO, false).await, Commit::Acknowledged);
    assert_eq!(claim(&store).await.failures, 1);
}

async fn a_claim_that_is_given_up_twice_has_failed_once(ground: Ground) {
    let store = ground.begun().await;
    let fence = claim(&store).await.fence;
    for _ in 0..2 {
        assert_eq!(store.retry(&fence, Duration::ZERO, true).await, Commit::Acknowledged);
    }
    let store = ground.store().await;
    let second = claim(&store).await;
    assert_eq!((second.fence.attempt, second.failures), (2, 1));
    assert_eq!(store.retry(&second.fence, Duration::ZERO, true).await, Commit::Acknowledged);
    assert_eq!(claim(&store).await.failures, 2);
}

async fn a_repeat_has_the_same_numbers(ground: Ground) {
    let store = ground.begun().await;
    let checkpoint = |state: f64| Checkpoint::new("start", json!(state)).unwrap();
    for (state, started) in [(0.0, Started::New), (-0.0, Started::Conflict), (0.0, Started::Already)] {
        assert_eq!(store.start("v", "other", checkpoint(state)).await.unwrap(), started);
    }
    let fence = claim(&store).await.fence;
    let done = |output: f64| Decision::complete(json!(output)).unwrap();
    assert_eq!(store.commit_decision(&fence, done(0.0)).await, Commit::Acknowledged);
    assert_eq!(store.commit_decision(&fence, done(-0.0)).await, refused(Refusal::Closed));
    assert_eq!(store.commit_decision(&fence, done(0.0)).await, Commit::Acknowledged);
}

async fn what_is_due_for_longest_comes_first(ground: Ground) {
    let store = ground.begun().await;
    for (id, name) in [("v", "other"), ("u", "test"), ("nobody's", "third")] {
        store.start(id, name, checkpoint(1)).await.unwrap();
    }
    // Those that are due at one time in the order of their starts, across names.
    let store = ground.store().await;
    let mut claims = Vec::new();
    for _ in 0..3 {
        claims.push(claim(&store).await.fence);
    }
    let ids = |fences: &[Fence]| fences.iter().map(|fence| fence.workflow_id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&claims), ["w", "v", "u"]);
    // And those that are due at different times in that order.
    for (fence, after) in claims.iter().zip([3, 1, 2]) {
        assert_eq!(store.retry(fence, after * SECOND, false).await, Commit::Acknowledged);
    }
    ground.clock.set(3 * SECOND);
    let store = ground.store().await;
    let mut claims = Vec::new();
    for _ in 0..3 {
        claims.push(claim(&store).await.fence);
    }
    assert_eq!(ids(&claims), ["v", "u", "w"]);
    assert_eq!(store.workflow_ids().await.unwrap(), ["w", "v", "u", "nobody's"].map(Arc::from));
}

async fn names_and_payloads_that_cannot_be_stored_are_refused(ground: Ground) {
    let store = ground.begun().await;
    assert!(store.start("a\nb", "test", checkpoint(1)).await.is_err());
    assert!(store.start("a", "", checkpoint(1)).await.is_err());
    assert!(store.deliver("w", "", json!(1)).await.is_err());
    assert!(store.deliver("w", "k", json!("p".repeat(64 * 1024 - 2))).await.is_ok());
    assert!(store.deliver("w", "l", json!("p".repeat(64 * 1024 - 1))).await.is_err());
}

async fn a_workflow_is_started_once(ground: Ground) {
    let store = ground.begun().await;
    assert_eq!(store.start("w", "test", checkpoint(1)).await.unwrap(), Started::Already);
    let store = ground.store().await;
    assert_eq!(store.start("w", "test", checkpoint(2)).await.unwrap(), Started::Conflict);
    assert_eq!(store.start("w", "other", checkpoint(1)).await.unwrap(), Started::Conflict);
    assert_eq!(store.start("v", "test", checkpoint(1)).await.unwrap(), Started::New);
    assert!(store.read("x").await.unwrap().is_none());
    assert_eq!(store.workflow_ids().await.unwrap(), ["w", "v"].map(Arc::from));
}

async fn members_keep_their_order(ground: Ground) {
    let store = ground.begun().await;
    let fence = claim(&store).await.fence;
    let value = json!({"z": 1.0, "a": [i64::MIN, 1e-7, -0.0, "\u{0}é\u{10FFFF}"], "m": {"y": null, "x": {}}});
    assert_eq!(store.commit_record(&fence, record("a", value.clone())).await, Commit::Acknowledged);
    store.deliver("w", "k", value.clone()).await.unwrap();
    let wait = Decision::wait_event("k", None, "start", value.clone()).unwrap();
    assert_eq!(store.commit_decision(&fence, wait).await, Commit::Acknowledged);
    let store = ground.store().await;
    let (claim, read) = (claim(&store).await, store.read("w").await.unwrap().unwrap());
    let Wake::Event { payload, .. } = &claim.wake else { panic!("{:?}", claim.wake) };
    let output = read.activations[0].records[0].record.output();
    for read in [output, payload, claim.checkpoint.state()] {
        assert_eq!(read.to_string(), value.to_string());
    }
}

async fn a_sleep_is_over_by_the_clock(ground: Ground) {
    let store = ground.begun().await;
    let fence = claim(&store).await.fence;
    let sleep = Decision::sleep("nap", MINUTE, "start", json!(2)).unwrap();
    assert_eq!(store.commit_decision(&fence, sleep).await, Commit::Acknowledged);
    ground.clock.set(MINUTE - Duration::from_nanos(1));
    let store = ground.store().await;
    assert_eq!(claimed(&store).await.unwrap_err(), Some(Duration::from_nanos(1)));
    ground.clock.set(MINUTE);
    let second = claim(&store).await;
    assert_eq!((&*second.fence.activation_id, second.wake), ("activation-2", Wake::Timer { key: "nap".into() }));
}

fn wait(timeout: Option<Duration>) -> Decision {
    Decision::wait_event("k", timeout, "start", json!(2)).unwrap()
}

async fn an_event_is_kept_for_the_wait_to_come(ground: Ground) {
    let store = ground.begun().await;
    assert_eq!(store.deliver("w", "k", json!(7)).await.unwrap(), Delivery::Accepted);
    let store = ground.store().await;
    assert_eq!(store.deliver("w", "k", json!(7)).await.unwrap(), Delivery::Already);
    assert_eq!(store.deliver("w", "k", json!(7.0)).await.unwrap(), Delivery::Conflict);
    assert_eq!(store.deliver("x", "k", json!(7)).await.unwrap(), Delivery::NoWorkflow);
    let fence = claim(&store).await.fence;
    assert_eq!(store.commit_decision(&fence, wait(Some(MINUTE))).await, Commit::Acknowledged);
    let second = claim(&ground.store().await).await;
    assert_eq!(second.wake, Wake::Event { key: "k".into(), payload: json!(7).into() });
}

async fn an_event_wakes_the_wait_and_comes_too_late_at_its_timeout(ground: Ground) {
    let store = ground.begun().await;
    store.start("v", "test", checkpoint(1)).await.unwrap();
    for _ in 0..2 {
        let fence = claim(&store).await.fence;
        assert_eq!(store.commit_decision(&fence, wait(Some(SECOND))).await, Commit::Acknowledged);
    }
    let store = ground.store().await;
    assert!(store.read("w").await.unwrap().unwrap().activations[1].wake.is_none());
    assert_eq!(claimed(&store).await.unwrap_err(), Some(SECOND));
    ground.clock.set(SECOND / 2);
    assert_eq!(store.deliver("w", "k", json!(7)).await.unwrap(), Delivery::Accepted);
    let woken = claim(&ground.store().await).await;
    assert_eq!(woken.wake, Wake::Event { key: "k".into(), payload: json!(7).into() });
    ground.clock.set(SECOND);
    let store = ground.store().await;
    assert_eq!(store.deliver("v", "k", json!(7)).await.unwrap(), Delivery::TooLate);
    let late = claim(&store).await;
    assert_eq!((&*late.fence.workflow_id, late.wake), ("v", Wake::Timeout { key: "k".into() }));
    assert_eq!(store.deliver("v", "k", json!(7)).await.unwrap(), Delivery::TooLate);
    assert_eq!(store.deliver("w", "k", json!(7)).await.unwrap(), Delivery::Already);
}

async fn a_workflow_waits_once_for_a_key(ground: Ground) {
    let store = ground.begun().await;
    store.deliver("w", "k", json!(7)).await.unwrap();
    let fence = claim(&store).await.fence;
    assert_eq!(store.commit_decision(&fence, wait(None)).await, Commit::Acknowledged);
    let store = ground.store().await;
    let second = claim(&store).await.fence;
    assert_eq!(store.commit_decision(&second, wait(None)).await, refused(Refusal::EventKeyUsed));
    // The refused one has changed nothing.
    let done = Decision::complete(json!(1)).unwrap();
    assert_eq!(store.commit_decision(&second, done).await, Commit::Acknowledged);
    assert_eq!(store.commit_decision(&fence, wait(None)).await, Commit::Acknowledged);
}

async fn what_has_ended_takes_no_event(ground: Ground) {
    let store = ground.begun().await;
    let fence = claim(&store).await.fence;
    let failed = Decision::fail("refused", "no").unwrap();
    assert_eq!(store.commit_decision(&fence, failed.clone()).await, Commit::Acknowledged);
    let store = ground.store().await;
    assert_eq!(store.deliver("w", "k", json!(7)).await.unwrap(), Delivery::NoWorkflow);
    assert_eq!(store.read("w").await.unwrap().unwrap().outcome(), Some(&failed));
}

async fn a_worker_runs_a_workflow_to_its_end(ground: Ground) {
    let effects = Effects::default();
    let seen = effects.clone();
    let entry = move |context: WorkflowContext| {
        let effects = seen.clone();
        async move {
            effect(&context, &effects, "first").await?;
            if context.attempt() == 1 {
                return Err("lost".into());
            }
            let second = effect(&context, &effects, "second").await?;
            Ok(context.complete(&second)?)
        }
    };
    let worker = Worker::new(ground.store().await).env(env()).workflow(workflow(entry));
    worker.start("w", "test", "start", &json!(null)).await.unwrap();
    worker.turn().await.unwrap();
    ground.clock.set(MINUTE);
    worker.turn().await.unwrap();
    assert_eq!(effects.names(), ["first", "second"]);
    let read = ground.store().await.read("w").await.unwrap().unwrap();
    let done = Decision::complete(json!("second#2")).unwrap();
    assert_eq!((read.outcome(), read.activations[0].failures), (Some(&done), 1));
}
