//! A first test in a simulated world: an agent pays for an order, whatever goes wrong on the way to the bank.
//!
//! ```sh
//! cargo test --test windtunnel
//! ```
//!
//! Every fault is tried at every place where it can come, then pairs of them: answers that are lost, late, malformed or
//! given twice. The test passes. To see a bug found, let the bank forget the keys of payments: write
//! `happen("payment", Some(ORDER))` for `happen_once("payment", ORDER)`. The test then tells the smallest fault with
//! which the agent pays twice, and the line that repeats exactly that run.

use std::time::Duration;

use windtunnel::BoxError;
use windtunnel::sim::{Campaign, WorldHandle, swept};

const ORDER: &str = "order-7";
const PATIENCE: Duration = Duration::from_secs(60);

/// Your agent comes here. This one asks until it knows that the order is paid: no answer and an error both leave it open.
async fn agent(world: &WorldHandle) {
    while !matches!(world.env().timeout(PATIENCE, pay(world)).await, Ok(Ok(()))) {}
}

/// A tool of the agent, which takes faults, and the bank behind it.
async fn pay(world: &WorldHandle) -> Result<(), BoxError> {
    let bank = || async {
        world.effects().happen_once("payment", ORDER).await;
        Ok(())
    };
    world.faults().call("pay", bank).await
}

swept! {
    fn an_order_is_paid_once(world in Campaign::new()) {
        agent(&world).await;
        world.assertions().always("paid exactly once", world.effects().count("payment") == 1);
    }
}
