//! The refund agent of the examples: once paid, whatever goes wrong, if it is built as it should be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use windtunnel_sim::fault::{EventPattern, Fault, FaultAction, FaultPlan};
use windtunnel_sim::{Run, World, WorldError};

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

#[test]
fn both_agents_pay_once_in_a_calm_world_and_each_seed_is_one_trace() {
    for variant in [Variant::Correct, Variant::Naive] {
        let mut traces = BTreeSet::new();
        for seed in 0..50 {
            let scenario = |world| async move { refund(world, variant).await.unwrap() };
            let run = World::new(seed).check_determinism(scenario).unwrap();
            traces.insert(run.digest());
            assert_eq!(run.assertions["the payment was tried again"].held, 0);
            assert_eq!(run.outcome.unwrap(), paid_once(), "{variant:?}, seed {seed}");
        }
        assert_eq!(traces.len(), 50, "what the seed draws matters");
    }
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

/// Every event of a clean run that is of a host, as what it is counted by.
fn events_of_a_clean_run(seed: u64) -> Vec<EventPattern> {
    let clean = run(&World::new(seed), Variant::Correct);
    assert_eq!(clean.outcome.unwrap(), paid_once());
    let mut seen: BTreeMap<(&str, Arc<str>), u64> = BTreeMap::new();
    let mut patterns = Vec::new();
    for event in &clean.trace {
        let Some(host) = &event.host else { continue };
        let nth = seen.entry((event.kind.name(), Arc::clone(host))).or_default();
        *nth += 1;
        patterns.push(EventPattern::named(event.kind.name()).on_host(&**host).nth(*nth));
    }
    patterns
}

#[test]
fn the_correct_agent_survives_any_fault_of_a_host_at_every_single_event() {
    let actions = [
        FaultAction::HostCrash { host: None, restart_after_s: None },
        FaultAction::HostPowerCut { host: None, restart_after_s: None },
        FaultAction::HostPause { host: None, resume_after_s: None },
        FaultAction::HostRestart { host: None },
        FaultAction::NetworkReset { host: None, peer: None },
    ];
    let patterns = events_of_a_clean_run(7);
    assert!(patterns.len() > 100, "only {} events", patterns.len());
    let mut again = 0;
    for action in &actions {
        for pattern in &patterns {
            let plan = FaultPlan::new([Fault::new(pattern.clone(), action.clone())]);
            let run = run(&World::new(7).faults(plan.clone()).heal_after(HEALED), Variant::Correct);
            assert_eq!(run.faults.len(), 1, "{}", plan.to_json());
            again += run.assertions["the payment was tried again"].held;
            assert_eq!(run.outcome.unwrap(), paid_once(), "{}", plan.to_json());
        }
    }
    assert!(again > 10, "the payment was tried again {again} times only");
}
