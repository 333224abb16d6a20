//! What `windtunnel init` gives a crate: its test runs here as it stands, and finds its bug once it is broken as it says.

use std::time::Duration;

use windtunnel::BoxError;
use windtunnel::sim::Campaign;

#[path = "../../cli/templates/windtunnel.rs"]
mod given;

const GIVEN: &str = include_str!("../../cli/templates/windtunnel.rs");
const BANK: &str = r#"happen_once("payment", ORDER)"#;
const BROKEN: &str = r#"happen("payment", Some(ORDER))"#;

#[test]
fn the_first_test_finds_a_bug_once_its_bank_forgets_keys() {
    let code = GIVEN.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    assert!(code.contains(BANK) && !code.contains(BROKEN) && GIVEN.contains(BROKEN), "the test says something else");
    let swept = Campaign::new().sweep(|world| async move {
        let bank = || async {
            world.effects().happen("payment", Some("order-7")).await;
            Ok::<_, BoxError>(())
        };
        let minute = Duration::from_secs(60);
        let pay = || async { world.env().timeout(minute, world.faults().call("pay", bank)).await };
        while !matches!(pay().await, Ok(Ok(()))) {}
        world.assertions().always("paid exactly once", world.effects().count("payment") == 1);
    });
    let story = swept.unwrap_err().to_string();
    assert!(story.contains("paid exactly once") && story.contains("repeat it: WINDTUNNEL_REPEAT="), "{story}");
}
