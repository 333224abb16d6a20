//! The refund agent of the examples: once paid, whatever goes wrong, if it is built as it should be.

use std::ops::Range;
use std::time::Duration;

use windtunnel_sim::fault::{FaultKind, FaultPlan, RandomFaults};
use windtunnel_sim::{Campaign, ExploreError, Run, World, WorldError, WorldHandle};

use self::scenario::{Refund, Variant, refund};

#[path = "../../examples/refund/scenario.rs"]
mod scenario;

/// When all faults are over.
const HEALED: Duration = Duration::from_secs(600);

fn run(world: &World, variant: Variant) -> Run<Refund> {
    world.run(|world| async move { refund(world, variant).await.unwrap() })
}

fn paid_once() -> Refund {
    Refund { answer: "Ada has her 5 euros back.".to_owned(), payments: 1 }
}

/// How many seeds are run: `WINDTUNNEL_SEEDS`, if it is set.
fn seeds(default: u64) -> Range<u64> {
    let count = std::env::var("WINDTUNNEL_SEEDS").ok().and_then(|count| count.parse().ok());
    0..count.unwrap_or(default)
}

#[test]
fn both_agents_pay_once_in_a_calm_world() {
    for variant in [Variant::Correct, Variant::Naive] {
        let campaign = Campaign::new().seeds(0..25);
        let unseen = campaign.run(|world| scenario_of(world, variant)).unwrap_err();
        assert!(unseen.to_string().starts_with("never seen in any run: the payment was tried again\n"), "{unseen}");
    }
}

#[test]
fn every_seed_is_one_trace_with_faults_too_and_in_a_fresh_process() {
    let campaign = Campaign::new().seeds(seeds(25)).random_faults(RandomFaults::swarm());
    campaign.check_determinism(|world| scenario_of(world, Variant::Correct)).unwrap();
}

#[test]
fn the_traces_are_the_same_on_every_machine_and_however_it_is_compiled() {
    let traces = (0..10).map(|seed| {
        let world = World::new(seed).heal_after(HEALED).random_faults(RandomFaults::swarm());
        world.run(|world| scenario_of(world, Variant::Correct)).digest()
    });
    insta::assert_snapshot!(traces.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_single_fault_makes_the_naive_agent_pay_twice_and_the_correct_one_not() {
    let plans = [
        r#"[{"when": {"event": "tool.body", "tool": "pay"}, "do": {"fault": "tool.lose_acknowledgment"}}]"#,
        r#"[{"when": {"event": "tool.body", "tool": "pay"}, "do": {"fault": "tool.duplicate"}}]"#,
        r#"[{"when": {"event": "effect.happened"}, "do": {"fault": "host.crash", "host": "agent", "restart_after_s": 1}}]"#,
        r#"[{"when": {"event": "effect.happened"}, "do": {"fault": "host.crash", "restart_after_s": 1}}]"#,
        r#"[{"when": {"event": "effect.happened"}, "do": {"fault": "network.reset"}}]"#,
    ];
    for plan in plans {
        let world = World::new(7).faults(FaultPlan::from_json(plan).unwrap()).heal_after(HEALED);
        let correct = run(&world, Variant::Correct);
        assert!(correct.assertions["the payment was tried again"].held > 0, "{plan}");
        assert_eq!(correct.outcome.unwrap(), paid_once(), "{plan}");
        let naive = run(&world, Variant::Naive).outcome.unwrap_err();
        let twice = matches!(&naive, WorldError::AssertionFailed { assertion } if assertion == "paid at most once");
        assert!(twice, "{plan}: {naive}");
    }
}

async fn scenario_of(world: WorldHandle, variant: Variant) {
    let refunded = refund(world, variant).await;
    assert_eq!(refunded.unwrap(), paid_once());
}

#[test]
fn the_correct_agent_survives_every_fault_at_every_event_and_pairs_of_them() {
    let campaign = Campaign::new().seeds(7..8).pairs_max(100);
    let report = campaign.sweep(|world| scenario_of(world, Variant::Correct)).unwrap();
    assert!(report.campaign.assertions["the payment was tried again"].held > 10, "{report}");
    let never: Vec<_> = report.never_applicable.iter().map(|kind| kind.name()).collect();
    assert!(never.iter().all(|name| name.starts_with("disk.")), "{never:?}");
}

#[test]
fn a_sweep_finds_the_naive_agent_paying_twice_for_at_most_two_faults() {
    let kinds = [FaultKind::HostCrash, FaultKind::NetworkReset, FaultKind::ToolLoseAcknowledgment];
    let campaign = Campaign::new().seeds(7..8).kinds(kinds).pairs_max(0);
    let swept = campaign.sweep(|world| scenario_of(world, Variant::Naive)).unwrap_err();
    let ExploreError::Swept(report) = swept else { panic!("{swept}") };
    let paid_twice = report.failures.iter().find(|failure| failure.error.to_string().contains("paid at most once"));
    let minimal = paid_twice.expect("it pays twice").smallest();
    assert!(minimal.faults.faults.len() <= 2, "{}", minimal.to_json());
    let again = minimal.world(World::new).run(|world| scenario_of(world, Variant::Naive));
    assert!(matches!(again.outcome, Err(WorldError::AssertionFailed { .. })), "{:?}", again.outcome);
}

#[test]
fn random_faults_find_the_naive_agent_and_not_the_correct_one() {
    let campaign = Campaign::new().seeds(0..100).random_faults(RandomFaults::swarm());
    campaign.clone().seeds(seeds(60)).run(|world| scenario_of(world, Variant::Correct)).unwrap();
    let found = campaign.run(|world| scenario_of(world, Variant::Naive)).unwrap_err();
    let ExploreError::Failed(failure) = found else { panic!("{found}") };
    assert!(failure.smallest().faults.faults.len() <= 2, "{failure}");
}
