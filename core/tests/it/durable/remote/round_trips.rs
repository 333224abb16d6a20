//! A remote store answers as the store itself.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    Checkpoint, Claimed, Commit, Decision, JournalStore, MemoryStore, OUTPUT_BYTES_MAX, RECORD_BYTES_MAX,
    STATE_BYTES_MAX,
};

use super::network::{Network, TIMEOUT};
use super::talk::{Talk, checkpoint, essence, record};
use crate::durable::stage::{env, history};

#[tokio::test(start_paused = true)]
async fn every_method_answers_as_the_store_itself() {
    let direct = MemoryStore::new(env());
    let expected = Talk::new(&direct, &direct).whole().await;
    for buffer_bytes in [1, 2, 3, 7, 8, 9, 64, 1000, 1 << 16] {
        let kept = MemoryStore::new(env());
        let network = Network::new(kept.clone(), buffer_bytes);
        let client = network.client();
        let mut talk = Talk::new(&client, &kept);
        let history = network.run(talk.whole()).await;
        assert_eq!((history, talk.failures), (expected.clone(), 0), "{buffer_bytes}");
        // The client closes, and the server ends well.
        drop(client);
        network.run(env().pause()).await;
        assert!(matches!(network.ended()[..], [Ok(())]), "{:?}", network.ended());
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_and_conflicts_come_through() {
    let answers = async |store: &dyn JournalStore| -> Vec<String> {
        let workflows = [Arc::from("test")];
        let mut answers = Vec::new();
        let nothing = store.claim(&workflows, TIMEOUT).await;
        answers.push(format!("{nothing:?}"));
        store.start("w", "test", checkpoint()).await.unwrap();
        answers.push(format!("{:?}", store.start("w", "test", checkpoint()).await));
        answers.push(format!("{:?}", store.start("w", "other", checkpoint()).await));
        let Claimed::Activation(claim) = store.claim(&workflows, TIMEOUT).await.unwrap() else { panic!("not due") };
        let fence = &claim.fence;
        let late = store.claim(&workflows, TIMEOUT).await;
        answers.push(format!("{late:?}"));
        let commit = async |key, output| format!("{:?}", store.commit_record(fence, record(key, output)).await);
        answers.extend([commit("a", json!(1)).await, commit("a", json!(1)).await, commit("a", json!(2)).await]);
        answers.push(format!("{:?}", store.deliver("x", "e", json!(1)).await));
        store.deliver("w", "e", json!(1)).await.unwrap();
        answers.push(format!("{:?}", store.deliver("w", "e", json!(1.0)).await));
        let decided = store.commit_decision(fence, Decision::fail("refused", "no").unwrap()).await;
        answers.push(format!("{decided:?}"));
        answers.extend([commit("b", json!(1)).await, format!("{:?}", store.extend(fence, TIMEOUT).await)]);
        answers.push(format!("{:?}", store.retry(fence, TIMEOUT, false).await));
        answers
    };
    let expected = answers(&MemoryStore::new(env())).await;
    let network = Network::new(MemoryStore::new(env()), 64);
    assert_eq!(network.run(answers(&network.client())).await, expected);
}

#[tokio::test(start_paused = true)]
async fn the_largest_of_everything_fits() {
    let store = MemoryStore::new(env());
    let network = Network::new(store.clone(), 1 << 16);
    let remote = network.client();
    let talk = async {
        // What is written with an escape counts as it is written.
        let text = |bytes: usize| json!("\u{1}".repeat((bytes - 2) / 6));
        remote.start("w", "test", Checkpoint::new("start", text(STATE_BYTES_MAX)).unwrap()).await.unwrap();
        remote.deliver("w", "e", text(STATE_BYTES_MAX)).await.unwrap();
        let mut activations = 0;
        let mut claim = async || {
            activations += 1;
            match remote.claim(&["test".into()], TIMEOUT).await.unwrap() {
                Claimed::Activation(claim) => claim,
                Claimed::Nothing { .. } => panic!("nothing is due"),
            }
        };
        let wait = Decision::wait_event("e", None, "next", text(STATE_BYTES_MAX)).unwrap();
        assert_eq!(remote.commit_decision(&claim().await.fence, wait).await, Commit::Acknowledged);
        let fence = claim().await.fence;
        for key in ["a", "b"] {
            let record = record(key, text(RECORD_BYTES_MAX - 300));
            assert_eq!(remote.commit_record(&fence, record).await, Commit::Acknowledged);
        }
        let done = Decision::complete(text(OUTPUT_BYTES_MAX)).unwrap();
        assert_eq!(remote.commit_decision(&fence, done).await, Commit::Acknowledged);
        remote.read("w").await.unwrap().unwrap()
    };
    assert_eq!(network.run(talk).await, history(&store).await);
    assert!(network.traffic().received.len() > 640 * 1024 - 1000);
}

#[tokio::test(start_paused = true)]
async fn a_history_longer_than_a_frame_is_read_in_pages() {
    let store = MemoryStore::new(env());
    store.start("w", "test", checkpoint()).await.unwrap();
    for _ in 0..12 {
        let Claimed::Activation(claim) = store.claim(&["test".into()], TIMEOUT).await.unwrap() else {
            panic!("not due")
        };
        let record = record("a", json!("x".repeat(RECORD_BYTES_MAX - 300)));
        assert_eq!(store.commit_record(&claim.fence, record).await, Commit::Acknowledged);
        let next = Decision::continue_("start", json!(1)).unwrap();
        assert_eq!(store.commit_decision(&claim.fence, next).await, Commit::Acknowledged);
    }
    let network = Network::new(store.clone(), 1 << 16);
    assert_eq!(network.run(network.client().read("w")).await.unwrap().unwrap(), history(&store).await);
    assert!(network.traffic().received.len() > 3 << 19);
}

#[tokio::test(start_paused = true)]
async fn many_identifiers_are_read_in_pages() {
    let store = MemoryStore::new(env());
    for number in 0..8000 {
        store.start(&format!("{number:0128}"), "test", checkpoint()).await.unwrap();
    }
    let network = Network::new(store.clone(), 1 << 16);
    let ids = network.run(network.client().workflow_ids()).await.unwrap();
    assert_eq!(ids, store.workflow_ids().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn many_calls_share_one_stream() {
    for (buffer_bytes, calls) in [(1, 20), (100, 80), (1 << 16, 200)] {
        let store = MemoryStore::new(env());
        let network = Network::new(store.clone(), buffer_bytes);
        let remote = network.client();
        let start = async |number: usize| {
            let id = format!("w{number}");
            remote.start(&id, "test", Checkpoint::new("start", json!(number)).unwrap()).await.unwrap();
            remote.read(&id).await.unwrap().unwrap()
        };
        let histories = network.run(join_all((0..calls).map(start))).await;
        for (number, history) in histories.iter().enumerate() {
            assert_eq!(**history.activations[0].checkpoint.state(), json!(number));
        }
        assert_eq!((network.streams(), store.workflow_ids().await.unwrap().len()), (1, calls));
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_conversation_has_the_same_bytes() {
    let bytes = async || {
        let kept = MemoryStore::new(env());
        let network = Network::new(kept.clone(), 50);
        let client = network.client();
        let history = network.run(Talk::new(&client, &kept).whole()).await;
        let traffic = network.traffic();
        (essence(&history), traffic.sent, traffic.received)
    };
    assert_eq!(bytes().await, bytes().await);
    let _: Value = bytes().await.0;
}
