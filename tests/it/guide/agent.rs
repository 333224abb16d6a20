//! The code of `docs/src/first-bug.md`: an agent on plain tokio, and the bank that it asks.
#![expect(clippy::disallowed_methods, reason = "users of tokio wait by tokio")]

// ANCHOR: agent
use std::time::Duration;

use windtunnel::BoxError;

/// Whom the agent asks. In production this is a client of a service; in a test it is what the test makes of it.
pub(crate) trait Bank {
    async fn refund(&self, order: u32, idempotency_key: &str) -> Result<String, BoxError>;
}

/// Asks for a refund, and again if no answer comes.
pub(crate) async fn refund(bank: &impl Bank, order: u32) -> Result<String, BoxError> {
    for attempt in 0..3 {
        let key = format!("refund-{order}-{attempt}");
        match tokio::time::timeout(Duration::from_secs(1), bank.refund(order, &key)).await {
            Ok(Ok(receipt)) => return Ok(receipt),
            Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(200 << attempt)).await,
        }
    }
    Err("the bank does not answer".into())
}
// ANCHOR_END: agent

// ANCHOR: correct
/// The same under one key, whichever attempt it is: the bank knows it again.
pub(crate) async fn refund_once(bank: &impl Bank, order: u32) -> Result<String, BoxError> {
    let key = format!("refund-{order}");
    for attempt in 0..3 {
        match tokio::time::timeout(Duration::from_secs(1), bank.refund(order, &key)).await {
            Ok(Ok(receipt)) => return Ok(receipt),
            Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(200 << attempt)).await,
        }
    }
    Err("the bank does not answer".into())
}
// ANCHOR_END: correct

// ANCHOR: bank
use windtunnel::sim::WorldHandle;

/// The bank of a world. It takes up to 1.2 seconds, and faults come to it.
pub(crate) struct SimulatedBank(pub(crate) WorldHandle);

impl Bank for SimulatedBank {
    async fn refund(&self, order: u32, idempotency_key: &str) -> Result<String, BoxError> {
        let world = &self.0;
        let pay = || async {
            world.effects().happen_once("refund", idempotency_key).await; // what really happens outside
            let latency_s = 1.2 * world.env().unit("bank");
            world.env().sleep(Duration::from_secs_f64(latency_s)).await;
            Ok(format!("order {order} is refunded"))
        };
        world.faults().call("refund", pay).await
    }
}
// ANCHOR_END: bank

// ANCHOR: scenario
async fn scenario(world: WorldHandle) {
    let _answer = refund(&SimulatedBank(world.clone()), 7).await;
    world.assertions().always("refunded at most once", world.effects().count("refund") <= 1);
}
// ANCHOR_END: scenario

use windtunnel::sim::{Campaign, explore, swept};

use super::markdown::assert_shown;

#[test]
fn seeds_find_the_second_refund() {
    let story = explore(0..100, scenario).unwrap_err().to_string();
    assert_shown("first-bug.md", &story.replace("guide::agent::seeds_find_the_second_refund", "refunded_once"));
}

#[test]
fn a_sweep_finds_every_fault_that_refunds_twice() {
    let story = Campaign::new().sweep(scenario).unwrap_err().to_string();
    assert!(story.contains("tool.lose_acknowledgment"), "{story}");
    let name = "guide::agent::a_sweep_finds_every_fault_that_refunds_twice";
    assert_shown("failures.md", &story.replace(name, "refunded_once"));
}

// ANCHOR: swept
swept! {
    /// Every fault at every event where it can come, then pairs of them.
    fn an_order_is_refunded_once(world in Campaign::new()) {
        let _answer = refund_once(&SimulatedBank(world.clone()), 7).await;
        world.assertions().always("refunded at most once", world.effects().count("refund") <= 1);
    }
}
// ANCHOR_END: swept
