//! Sweeps: that they try what a plan means, and say what came of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use windtunnel_core::BoxError;
use windtunnel_core::executor::{Executor, ToolCall};
use windtunnel_core::tool::{FunctionTool, Registry};
use windtunnel_sim::fault::{FaultKind, RandomFaults};
use windtunnel_sim::{Campaign, ExploreError, PairCoverage, Recipe, SweepReport, World, WorldHandle, explore};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn swept(found: Result<SweepReport, ExploreError>) -> SweepReport {
    match found {
        Err(ExploreError::Swept(report)) => Ok(*report),
        other => Err(other),
    }
    .unwrap()
}

/// Calls a tool by an executor that nobody listens to, then by one with a trace.
async fn call_twice(world: WorldHandle) {
    let agent = world.host("agent").unwrap();
    for has_sink in [false, true] {
        let mut registry = Registry::new();
        let schema = json!({"type": "object"});
        registry
            .register(FunctionTool::json("pay", "Pays.", schema, |_, _| async { Ok::<_, BoxError>(json!(7)) }))
            .unwrap();
        let builder = Executor::builder(registry).env(agent.env());
        let executor = if has_sink { builder.sink(world.trace()).build() } else { builder.build() };
        executor.run_call(ToolCall::new("pay", json!({}))).await.unwrap();
    }
}

#[test]
fn events_are_points_whether_or_not_anybody_records_them() {
    let report = Campaign::new().kinds([FaultKind::ClockSkew]).pairs_max(0).sweep(call_twice).unwrap();
    let of_attempts = &report.coverage[&FaultKind::ClockSkew]["tool.attempt"];
    assert_eq!((of_attempts.points(), of_attempts.passed), (2, 2));
}

#[test]
fn a_pair_of_which_only_one_came_is_not_one_that_was_tried() {
    let report = Campaign::new().kinds([FaultKind::ToolError]).sweep(|world| async move {
        for tool in ["find", "pay"] {
            if world.faults().call(tool, || async { Ok::<_, BoxError>(()) }).await.is_err() {
                return;
            }
        }
    });
    let report = report.unwrap();
    assert_eq!(report.pairs, PairCoverage { only_one_came: 1, ..PairCoverage::default() });
    assert!(
        report.to_string().contains("1 pairs of faults, 0 passed, 0 failed, 1 skipped (only one came)"),
        "{report}"
    );
}

#[test]
fn a_failure_says_which_point_it_was_and_the_one_with_the_fewest_faults_is_told() {
    let report = swept(Campaign::new().kinds([FaultKind::ToolError, FaultKind::ToolHang]).sweep(|world| async move {
        let mut failed = 0;
        for tool in ["find", "pay"] {
            failed += usize::from(world.faults().call(tool, || async { Ok::<_, BoxError>(()) }).await.is_err());
        }
        world.assertions().always("one may fail", failed < 2);
    }));
    let told: Vec<_> = report.failures.iter().map(|failure| failure.to_string()).collect();
    assert!(told[0].starts_with("seed 0 fails at pair 1 of 1: the assertion \"one may fail\""), "{}", told[0]);
    assert!(told[1].starts_with("seed 0 fails at point 2 of 4: nothing is left to happen"), "{}", told[1]);
    assert_eq!((report.failing, report.pairs.failed), (3, 1));
}

#[test]
fn one_name_for_two_kinds_of_assertion_is_a_failure() {
    let found = explore(0..1, |world| async move {
        world.assertions().sometimes("paid", false);
        world.assertions().always("paid", true);
    });
    let told = found.unwrap_err().to_string();
    assert!(told.contains(r#"the assertion "paid" is of two kinds, sometimes and always: give each a name"#), "{told}");
    let found = explore(0..2, |world| async move {
        match world.seed() {
            0 => world.assertions().always("paid", true),
            _ => world.assertions().reachable("paid"),
        }
    });
    let told = found.unwrap_err().to_string();
    assert!(told.contains(r#"the assertion "paid" is of two kinds in different runs, always and reachable"#), "{told}");
}

#[test]
fn a_campaign_that_may_not_shrink_runs_nothing_more() {
    let runs = AtomicUsize::new(0);
    let found = Campaign::new().seeds(0..1).shrink_runs_max(0).run(|world| {
        runs.fetch_add(1, Ordering::Relaxed);
        let agent = world.host("agent").unwrap();
        let _tasks: Vec<_> = (0..4).map(|_| agent.spawn(async {})).collect();
        async move {
            world.env().pause().await;
            world.assertions().always("nothing", false);
        }
    });
    assert!(found.is_err());
    assert_eq!(runs.into_inner(), 1);
}

#[test]
fn a_world_that_ends_early_does_so_in_a_campaign_with_faults() {
    let campaign = Campaign::in_worlds(|seed| World::new(seed).time_limit(HOUR)).seeds(0..1);
    let campaign = campaign.random_faults(RandomFaults::of([FaultKind::ToolError]).rate(1.0)).shrink_runs_max(0);
    let found = campaign.run(|world| async move {
        // Without a fault it comes to its end.
        if world.faults().call("pay", || async { Ok::<_, BoxError>(()) }).await.is_err() {
            loop {
                world.env().sleep(Duration::from_secs(60)).await;
            }
        }
    });
    let told = found.unwrap_err().to_string();
    assert!(told.contains("the world's time ran out after 3600s: something waits or retries without end"), "{told}");
    assert!(told.contains("went on most often: the scenario (60 times)"), "{told}");
}

#[test]
fn a_recipe_may_say_that_a_world_lasts_longer_than_a_year() {
    let recipe = Recipe { time_limit_s: Some(1e8), ..Recipe::new(7) };
    let slow = |world: WorldHandle| async move { world.env().sleep(Duration::from_secs(90_000_000)).await };
    assert!(recipe.world(World::new).run(slow).outcome.is_ok());
    assert!(recipe.world(|seed| World::new(seed).time_limit(HOUR)).run(slow).outcome.is_err());
}

#[test]
fn a_world_with_too_many_events_says_which() {
    let run = World::new(7).events_max(100).run(|world| async move {
        let agent = world.host("agent").unwrap();
        agent.start(|process| async move {
            loop {
                process.mark("again").await;
                process.env().sleep(Duration::from_secs(1)).await;
            }
        });
        agent.finished().await;
    });
    let told = run.outcome.unwrap_err().to_string();
    assert!(
        told.starts_with("over 100 events: something goes on without end\n  went on most often: agent: program"),
        "{told}"
    );
    assert!(told.contains("most frequent of the last events: mark on agent (100 times)"), "{told}");
}
