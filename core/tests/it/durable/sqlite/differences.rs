//! Whatever is done to a store in a file does what it does to the one in memory.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::{Claimed, Commit, Decision, Fence, JournalStore, StoreError};

use crate::durable::ground::{Ground, checkpoint, record};

/// A fixed sequence of numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What is done to both.
#[derive(Clone, Debug)]
enum Act {
    Start(String, u64),
    Claim(u64),
    Extend(Fence, u64),
    Record(Fence, String, u64),
    Decide(Fence, Decision),
    Retry(Fence, u64, bool),
    Deliver(String, String, u64),
}

fn draw_decision(draw: &mut Draw) -> Decision {
    let (key, state) = (format!("k{}", draw.below(3)), json!(draw.below(2)));
    let wait = Duration::from_secs(draw.below(4));
    match draw.below(8) {
        0..=2 => Decision::continue_("start", state),
        3 => Decision::sleep(&key, wait, "start", state),
        4 | 5 => Decision::wait_event(&key, Some(wait), "start", state),
        6 => Decision::wait_event(&key, None, "start", state),
        _ => Decision::complete(state),
    }
    .unwrap()
}

fn draw_act(draw: &mut Draw, fences: &[Fence]) -> Act {
    // Mostly a late one, which is open.
    let back = draw.below(3) * draw.below(3);
    let fence = fences.iter().rev().nth(back as usize).cloned().unwrap_or_else(|| Fence {
        workflow_id: "w0".into(),
        activation_id: "activation-1".into(),
        attempt: 1,
    });
    let id = format!("w{}", draw.below(4));
    match draw.below(12) {
        0 => Act::Start(id, draw.below(2)),
        1..=3 => Act::Claim(draw.below(4)),
        4 => Act::Extend(fence, draw.below(4)),
        5..=7 => Act::Record(fence, format!("r{}", draw.below(3)), draw.below(2)),
        8 | 9 => Act::Decide(fence, draw_decision(draw)),
        10 => Act::Retry(fence, draw.below(3), draw.below(2) == 0),
        _ => Act::Deliver(id, format!("k{}", draw.below(3)), draw.below(2)),
    }
}

async fn act(store: &Arc<dyn JournalStore>, act: Act) -> Value {
    fn shown<T: serde::Serialize>(result: Result<T, StoreError>) -> Value {
        json!(result.unwrap())
    }
    let committed = |commit: Commit| json!(commit);
    let seconds = Duration::from_secs;
    match act {
        Act::Start(id, state) => shown(store.start(&id, "test", checkpoint(state)).await),
        Act::Claim(lease) => shown(store.claim(&["test".into()], seconds(lease)).await),
        Act::Extend(fence, lease) => committed(store.extend(&fence, seconds(lease)).await),
        Act::Record(fence, key, output) => committed(store.commit_record(&fence, record(&key, json!(output))).await),
        Act::Decide(fence, decision) => committed(store.commit_decision(&fence, decision).await),
        Act::Retry(fence, after, is_failure) => committed(store.retry(&fence, seconds(after), is_failure).await),
        Act::Deliver(id, key, payload) => shown(store.deliver(&id, &key, json!(payload)).await),
    }
}

async fn check(seed: u64) {
    let (memory, file) = (Ground::memory(), Ground::file());
    let (in_memory, mut in_file) = (memory.store().await, file.store().await);
    let (mut draw, mut fences, mut now) = (Draw(seed), Vec::new(), Duration::ZERO);
    for step in 0..150 {
        now += Duration::from_millis(500) * u32::try_from(draw.below(3)).unwrap();
        memory.clock.set(now);
        file.clock.set(now);
        if draw.below(20) == 0 {
            in_file = file.store().await;
        }
        let drawn = draw_act(&mut draw, &fences);
        let (one, other) = (act(&in_memory, drawn.clone()).await, act(&in_file, drawn.clone()).await);
        assert_eq!(one, other, "seed {seed}, step {step}: {drawn:?}");
        if let (Act::Claim(_), Ok(Claimed::Activation(claim))) = (drawn, serde_json::from_value(one)) {
            fences.push(claim.fence);
        }
    }
    let ids = in_memory.workflow_ids().await.unwrap();
    assert_eq!(in_file.workflow_ids().await.unwrap(), ids);
    for id in ids {
        assert_eq!(in_file.read(&id).await.unwrap(), in_memory.read(&id).await.unwrap(), "seed {seed}, {id}");
    }
}

#[tokio::test]
async fn a_store_in_a_file_does_what_the_one_in_memory_does() {
    for seed in 0..24 {
        check(seed).await;
    }
}
