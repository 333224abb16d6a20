//! Thousands of conversations with a side that has lost its mind.

use serde_json::{Value, json};
use windtunnel_core::durable::remote::RemoteStore;
use windtunnel_core::durable::{Commit, JournalStore, MemoryStore};

use super::network::{Network, TIMEOUT};
use super::talk::{Talk, checkpoint, essence, record};
use super::wire::{frame, response, scripted, texts, told};
use crate::durable::stage::env;

/// The same numbers in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }

    /// Changes, removes, repeats or adds some bytes.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(2) {
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(9)).min(bytes.len());
            match self.below(5) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = *br#"{}[]",:0-e\"#.get(self.below(11)).unwrap(),
                2 => drop(bytes.drain(at..end)),
                3 => {
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                _ => bytes.truncate(at.max(1)),
            }
        }
    }
}

/// All frames of a conversation, both ways.
async fn conversation() -> (Vec<u8>, Vec<u8>, Value) {
    let kept = MemoryStore::new(env());
    let network = Network::new(kept.clone(), 1 << 16);
    let client = network.client();
    let history = network.run(Talk::new(&client, &kept).whole()).await;
    let traffic = network.traffic();
    (traffic.sent, traffic.received, essence(&history))
}

#[tokio::test(start_paused = true)]
async fn a_server_does_nothing_that_a_damaged_stream_asks_for() {
    let (sent, _, whole) = conversation().await;
    let whole = whole.to_string();
    let mut draw = Draw(1);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut bytes = sent.clone();
        draw.mutate(&mut bytes);
        let store = MemoryStore::new(env());
        let (_, end) = told(store.clone(), &bytes).await;
        refused += usize::from(end.is_err());
        // What is there is from a whole request.
        for activation in store.read("w").await.unwrap().into_iter().flat_map(|history| history.activations) {
            assert!(whole.contains(&json!(activation.checkpoint).to_string()));
            let is_whole = |record| whole.contains(&json!(record).to_string());
            assert!(activation.records.iter().all(|committed| is_whole(&committed.record)));
        }
    }
    assert!(refused > 2900, "{refused} were refused");
}

#[tokio::test(start_paused = true)]
async fn a_server_survives_every_text() {
    let (sent, _, _) = conversation().await;
    let texts = texts(&sent);
    let mut draw = Draw(2);
    let mut ends = [0, 0];
    for _ in 0..3000 {
        let mut frames: Vec<Vec<u8>> = texts.iter().map(|text| text.clone().into_bytes()).collect();
        let changed = draw.below(frames.len());
        draw.mutate(&mut frames[changed]);
        let bytes: Vec<u8> = frames.iter().flat_map(frame).collect();
        let (_, end) = told(MemoryStore::new(env()), &bytes).await;
        ends[usize::from(end.is_ok())] += 1;
    }
    assert!(ends[0] > 1000 && ends[1] > 200, "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_survives_every_text() {
    let store = MemoryStore::new(env());
    store.start("w", "test", checkpoint()).await.unwrap();
    let history = json!(store.read("w").await.unwrap().unwrap());
    let page =
        json!({"workflow_id": "w", "workflow": "test", "activations": history["activations"], "has_more": false});
    let mut draw = Draw(3);
    let mut failed = 0;
    for _ in 0..3000 {
        let talk = |remote: RemoteStore| async move {
            let fence = windtunnel_core::durable::Fence {
                workflow_id: "w".into(),
                activation_id: "activation-1".into(),
                attempt: 1,
            };
            let commit = remote.commit_record(&fence, record("a", json!(1))).await;
            let read = remote.read("w").await;
            usize::from(commit == Commit::Unknown) + usize::from(read.is_err())
        };
        let script = |request: Value| {
            let result = match request["method"].as_str() {
                Some("hello") => json!({"version": 1}),
                Some("read") => page.clone(),
                _ => json!("acknowledged"),
            };
            let whole = response(&request["id"], &result);
            let mut text = whole[8..].to_vec();
            draw.mutate(&mut text);
            // Of one in four the frame is damaged too.
            let mut bytes = frame(text);
            if draw.below(4) == 0 {
                draw.mutate(&mut bytes);
            }
            Some(bytes)
        };
        let begun = env();
        failed += scripted(talk, script).await;
        assert!(begun.now() <= TIMEOUT * 3);
    }
    assert!(failed > 5000, "{failed} calls failed");
}
