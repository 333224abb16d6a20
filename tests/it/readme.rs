//! The README's test finds its bug, and tells the story that the README shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel::BoxError;
use windtunnel::executor::{Executor, ToolContext};
use windtunnel::sim::{WorldHandle, explore};
use windtunnel::tool::{FunctionTool, Registry};

/// A bank that pays at once and answers after up to 1.2 seconds, behind a tool that is given one second.
fn agent(world: &WorldHandle, paid: &Arc<AtomicU32>) -> Executor {
    let paid = Arc::clone(paid);
    let pay = move |_: Arc<Value>, context: ToolContext| {
        paid.fetch_add(1, Ordering::Relaxed);
        let latency = Duration::from_millis((context.env().unit("bank") * 1_200.0) as u64);
        async move {
            context.env().sleep(latency).await;
            Ok::<_, BoxError>("paid")
        }
    };
    let pay = FunctionTool::json("pay", "Pays.", json!({"type": "object"}), pay);
    let mut registry = Registry::new();
    registry.register(pay.retries(2).timeout(Duration::from_secs(1))).unwrap();
    Executor::builder(registry).env(world.env()).sink(world.trace()).build()
}

#[test]
fn the_test_of_the_readme_finds_its_bug() {
    let found = explore(0..100, |world| async move {
        let paid = Arc::new(AtomicU32::new(0));
        let executor = agent(&world, &paid);
        let _answer = executor.run("pay", json!({"amount": 5})).await;
        assert_eq!(paid.load(Ordering::Relaxed), 1, "paid more than once");
    });
    let story = found.unwrap_err().to_string();
    insta::assert_snapshot!(story, @"
    seed 1 fails: the scenario panicked: assertion `left == right` failed: paid more than once
      left: 2
     right: 1
       0.000000000  run-1/call-1       tool.started          tool=pay
       0.000000000  run-1/call-1       tool.attempt          tool=pay attempt=1
       1.000000000  run-1/call-1       tool.retry            tool=pay attempt=1 cause=timeout delay_s=0.5668658508573724
       1.566865851  run-1/call-1       tool.attempt          tool=pay attempt=2
       2.393865851  run-1/call-1       tool.finished         tool=pay status=ok attempts=2 cached=false duration_s=2.393865851
    repeat it: WINDTUNNEL_SEED=1 cargo test readme::the_test_of_the_readme_finds_its_bug
    ");
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    // There the test has a file of its own.
    let story = story.replace("readme::the_test_of_the_readme_finds_its_bug", "a_payment_is_made_once");
    assert!(readme.contains(&story), "the README shows another story");
}
