//! Campaigns: what they find, how small they make it, and what they refuse to call tested.

use std::time::Duration;

use windtunnel_core::BoxError;
use windtunnel_sim::fault::{FaultKind, RandomFaults};
use windtunnel_sim::{Campaign, ExploreError, Recipe, Schedule, World, WorldHandle, explore};

/// Pays through a function that takes faults, and again if that failed.
async fn pay_and_retry(world: WorldHandle) {
    let pay = || async {
        world.effects().happen("payment", None).await;
        Ok::<_, BoxError>(())
    };
    for _ in 0..3 {
        if world.faults().call("pay", pay).await.is_ok() {
            break;
        }
        world.env().sleep(Duration::from_secs(1)).await;
    }
    world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
}

fn failure(error: ExploreError) -> windtunnel_sim::Failure {
    let failed = match error {
        ExploreError::Failed(failure) => Ok(*failure),
        other => Err(other),
    };
    failed.unwrap()
}

#[test]
fn a_failure_is_found_by_random_faults_and_made_small_and_repeats() {
    let campaign =
        Campaign::new().random_faults(RandomFaults::swarm().without([FaultKind::ToolHang]).rate(0.3).faults_max(8));
    let found = failure(campaign.run(pay_and_retry).unwrap_err());
    let minimal = found.minimal.as_ref().expect("there is a smaller one");
    assert_eq!(minimal.faults.len(), 1);
    let kind = minimal.faults[0].fault.action.kind().name();
    assert!(["tool.duplicate", "tool.lose_acknowledgment", "tool.malformed_result"].contains(&kind), "{kind}");
    let again = Recipe::from_json(&minimal.recipe.to_json()).unwrap().world(World::new).run(pay_and_retry);
    assert_eq!(again.trace, minimal.trace);
    assert_eq!(again.outcome.unwrap_err().to_string(), r#"the assertion "paid at most once" does not hold"#);
}

#[test]
fn a_sweep_tells_each_way_to_fail_once_with_its_coverage() {
    let swept = Campaign::new().sweep(pay_and_retry).unwrap_err();
    insta::assert_snapshot!(swept.to_string());
}

#[test]
fn a_sweep_that_finds_nothing_says_what_it_tried() {
    let patient = |world: WorldHandle| async move {
        let pay = || async {
            world.effects().happen_once("payment", "refund-7").await;
            Ok::<_, BoxError>(())
        };
        while world.env().timeout(Duration::from_secs(60), world.faults().call("pay", pay)).await.is_err() {}
        world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
    };
    let report = Campaign::new().sweep(patient).unwrap();
    assert_eq!(report.failing, 0);
    let of_tools: Vec<_> = report.coverage.keys().map(|kind| kind.name()).collect();
    assert!(of_tools.len() == 7 && of_tools.iter().all(|name| name.starts_with("tool.")), "{of_tools:?}");
    assert!(report.never_applicable.contains(&FaultKind::HostCrash));
}

#[test]
fn inputs_are_made_small() {
    let found = explore(0..100, |world| async move {
        let (amount, _other) = (world.input("amount", 1000), world.input("other", 1000));
        assert!(amount < 137, "{amount}");
    });
    let found = failure(found.unwrap_err());
    assert_eq!(found.smallest().inputs["amount"], [137]);
    assert_eq!(found.smallest().inputs["other"], [0]);
}

/// Two tasks that read, wait and write; a third and a fourth that have nothing to do with it.
async fn lose_an_update(world: WorldHandle) {
    let host = world.host("agent").unwrap();
    let balance = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let (balance, env) = (std::sync::Arc::clone(&balance), host.env());
            host.spawn(async move {
                env.pause().await;
                if number < 2 {
                    let read = balance.load(std::sync::atomic::Ordering::Relaxed);
                    if number == 1 {
                        env.pause().await;
                    }
                    balance.store(read + 1, std::sync::atomic::Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let balance = balance.load(std::sync::atomic::Ordering::Relaxed);
    world.assertions().always("no update is lost", balance == 2);
}

#[test]
fn an_order_of_tasks_is_made_plain() {
    let found = failure(explore(0..100, lose_an_update).unwrap_err());
    match found.smallest().schedule.clone() {
        Some(Schedule::Arrival) => {}
        Some(Schedule::Chosen(chosen)) => assert!(chosen.len() <= 2, "{chosen:?}"),
        other => assert!(other.is_none(), "{other:?}"),
    }
    let run = found.smallest().world(World::new).run(lose_an_update);
    assert!(run.outcome.is_err());
}

#[test]
fn a_recorded_order_gives_the_same_run() {
    for seed in 0..50 {
        for schedule in [Schedule::Fair, Schedule::Ranked { changes: 2, steps: 20 }] {
            let first = World::new(seed).schedule(schedule).keep_choices().run(lose_an_update);
            let chosen = (1..).zip(first.choices.iter().copied()).collect();
            let again = World::new(seed).schedule(Schedule::Chosen(std::sync::Arc::new(chosen)));
            let again = again.keep_choices().run(lose_an_update);
            assert_eq!((first.trace, first.choices), (again.trace, again.choices));
        }
    }
}

#[test]
fn what_must_be_seen_and_never_is_fails_a_campaign() {
    let seen = |name: &'static str, holds: bool| {
        let campaign = Campaign::new().seeds(0..5).expect_assertions(["never evaluated"]);
        let found = campaign.run(move |world| async move {
            world.assertions().sometimes(name, holds);
            world.assertions().always("always", true);
        });
        found.unwrap_err().to_string()
    };
    insta::assert_snapshot!(seen("a retry", false), @r#"
    never seen in any run: a retry, never evaluated
    5 runs, 0 events
      sometimes "a retry": held 0 times, failed 5
      always "always": held 5 times, failed 0
    "#);
    assert!(seen("a retry", true).starts_with("never seen in any run: never evaluated\n"));
}

#[test]
fn random_faults_that_never_come_fail_a_campaign() {
    let campaign = Campaign::new().seeds(0..5).random_faults(RandomFaults::of([FaultKind::HostCrash]));
    let found = campaign.run(|world| async move { world.env().sleep(Duration::from_secs(1)).await });
    assert!(matches!(found, Err(ExploreError::NoFaultDelivered { .. })), "{found:?}");
}

#[test]
fn a_campaign_finds_the_lowest_seed_whatever_the_number_of_threads() {
    let lowest = |jobs| {
        let campaign = Campaign::new().jobs(std::num::NonZeroUsize::new(jobs).unwrap()).shrink_runs_max(0);
        failure(campaign.run(|world| async move { assert!(world.seed() % 17 != 16) }).unwrap_err()).recipe.seed
    };
    assert_eq!([1, 2, 5].map(lowest), [16; 3]);
}

#[test]
fn what_never_ends_after_its_faults_is_a_failure() {
    let campaign = Campaign::new().kinds([FaultKind::ToolHang]);
    let swept = campaign.sweep(|world| async move {
        let _never = world.faults().call("ask", || async { Ok::<_, BoxError>(()) }).await;
    });
    let story = swept.unwrap_err().to_string();
    assert!(story.contains("nothing is left to happen"), "{story}");
}

#[test]
fn runs_are_the_same_in_a_fresh_process_too() {
    let campaign = Campaign::new().seeds(0..20).random_faults(RandomFaults::swarm().rate(0.2));
    campaign.check_determinism(pay_and_retry).unwrap();
}

#[test]
fn what_differs_in_a_fresh_process_is_told() {
    let campaign = Campaign::new().seeds(0..3);
    let differs = campaign.check_determinism(|world| async move {
        world.assertions().sometimes("never", world.seed() > u64::from(std::process::id()));
        if world.seed() == 1 {
            world.effects().happen(&format!("process {}", std::process::id()), None).await;
        }
    });
    // The fresh process itself ends well: it only writes.
    if std::env::var_os("WINDTUNNEL_TRACES_FILE").is_none() {
        let told = differs.unwrap_err().to_string();
        assert!(told.starts_with("seed 1 runs otherwise in a fresh process, from event 0 on"), "{told}");
        assert!(told.contains(&format!("process {}", std::process::id())), "{told}");
    }
}

windtunnel_sim::explored! {
    fn a_macro_declares_a_test_over_seeds(world in Campaign::new().seeds(0..10)) {
        world.env().sleep(Duration::from_secs(1)).await;
        assert_eq!(world.env().now(), Duration::from_secs(1));
    }
}

windtunnel_sim::swept! {
    /// The same without a fault being survived would be found: see the sweeps above.
    fn a_macro_declares_a_sweep(world in Campaign::new().pairs_max(10)) {
        let pay = || async {
            world.effects().happen_once("payment", "refund-7").await;
            Ok::<_, BoxError>(())
        };
        while !matches!(world.env().timeout(Duration::from_secs(60), world.faults().call("pay", pay)).await, Ok(Ok(()))) {}
        assert_eq!(world.effects().count("payment"), 1);
    }
}
