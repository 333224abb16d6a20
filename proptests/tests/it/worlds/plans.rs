//! Random plans of faults.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::BoxError;
use windtunnel_proptests::cases::FaultScope;
use windtunnel_proptests::strategies::{fault_plans, refused_fault_plans};
use windtunnel_sim::fault::{Fault, FaultAction, FaultKind, FaultPlan};
use windtunnel_sim::{EventPattern, Process, World, WorldError};

use crate::distribution::{check, some_cases};
use crate::settings::family;

fn scope() -> FaultScope {
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    FaultScope { tools: names(["pay", "look"]), keys: names(["a", "b"]), ..FaultScope::of_hosts(["one", "two"]) }
}

proptest! {
    #![proptest_config(family!("fault-plans"))]

    #[test]
    fn a_plan_can_be_carried_out_and_is_read_as_it_was_written(plan in fault_plans(&scope())) {
        plan.check().unwrap();
        prop_assert_eq!(FaultPlan::from_json(&plan.to_json()).unwrap(), plan);
    }

    #[test]
    fn a_broken_plan_is_refused(plan in refused_fault_plans(&scope())) {
        prop_assert!(plan.check().is_err(), "{:?}", plan);
    }

    #[test]
    fn a_world_comes_to_the_same_end_by_any_plan(plan in fault_plans(&scope())) {
        let world = World::new(7).faults(plan);
        let [first, second] = [run(&world), run(&world)];
        prop_assert!(["it ended", "no fault came"].contains(&&*first.0), "{}", first.0);
        prop_assert_eq!(first, second);
    }
}

/// Two hosts that speak to each other, write, and use tools, until the world heals: how it ends, and the digest of its events.
fn run(world: &World) -> (String, String) {
    let run = world.clone().heal_after(Duration::from_secs(600)).run(|world| async move {
        world.host("one").unwrap().start(serve);
        world.host("two").unwrap().start(ask);
        world.env().sleep(Duration::from_secs(1200)).await;
    });
    let end = match &run.outcome {
        Ok(()) => "it ended".to_owned(),
        Err(WorldError::NoFaultDelivered { .. }) => "no fault came".to_owned(),
        Err(error) => error.to_string(),
    };
    (end, run.digest())
}

async fn serve(process: Process) {
    let Ok(listener) = process.listen(80).await else { return };
    while let Ok((mut stream, _)) = listener.accept().await {
        let _nobody_listens = stream.write_all(b"hello").await;
    }
}

async fn ask(process: Process) {
    loop {
        for tool in ["pay", "look"] {
            let body = || async {
                process.effects().happen(tool, Some("a")).await;
                Ok::<_, BoxError>(())
            };
            let _answer = process.env().timeout(Duration::from_secs(5), process.faults().call(tool, body)).await;
        }
        let _written = write(&process).await;
        let _heard = process.env().timeout(Duration::from_secs(5), hear(&process)).await;
        process.env().sleep(Duration::from_secs(20)).await;
    }
}

async fn write(process: &Process) -> std::io::Result<()> {
    let mut log = process.disk().options().append(true).create(true).open("/log").await?;
    log.write_all(b"line").await?;
    log.sync_all().await
}

async fn hear(process: &Process) -> std::io::Result<String> {
    let mut text = String::new();
    process.connect("one", 80).await?.read_to_string(&mut text).await?;
    Ok(text)
}

#[test]
fn plans_have_every_kind_of_fault_and_name_what_there_is() {
    let plans = some_cases(fault_plans(&FaultScope::default()), 1_000);
    check(&plans, "have no fault", 10, |plan| plan.faults.is_empty());
    check(&plans, "have several faults", 60, |plan| plan.faults.len() > 1);
    for (family, at_least_percent) in
        [("tool", 30), ("model", 30), ("network", 20), ("host", 20), ("disk", 20), ("journal", 10), ("clock", 10)]
    {
        check(&plans, family, at_least_percent, |plan| {
            plan.faults.iter().any(|fault| fault.action.kind().name().starts_with(family))
        });
    }
    for kind in FaultKind::ALL {
        assert!(plans.iter().flat_map(|plan| &plan.faults).any(|fault| fault.action.kind() == kind), "{kind:?}");
    }
    let faults: Vec<_> = some_cases(fault_plans(&scope()), 1_000).into_iter().flat_map(|plan| plan.faults).collect();
    let faults: Vec<Value> = faults.iter().map(|fault| serde_json::to_value(fault).unwrap()).collect();
    check(&faults, "name their event", 75, |fault| fault["when"].get("event").is_some());
    check(&faults, "come at a later event", 45, |fault| fault["when"].get("nth").is_some());
    check(&faults, "name a host", 20, |fault| fault["when"].get("host").is_some() || fault["do"].get("host").is_some());
    check(&faults, "name a tool or a key", 20, |fault| {
        fault["when"].get("tool").is_some() || fault["when"].get("key").is_some()
    });
}

#[test]
fn a_plan_shrinks_to_one_fault_at_the_first_event_for_no_time() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let is_delayed = |plan: &FaultPlan| {
        plan.faults.iter().any(|fault| matches!(fault.action, FaultAction::ToolDelay { delay_s } if delay_s >= 0.5))
    };
    let found = runner.run(
        &fault_plans(&FaultScope { kinds: vec![FaultKind::ToolHang, FaultKind::ToolDelay], ..scope() }),
        |plan| {
            prop_assert!(!is_delayed(&plan));
            Ok(())
        },
    );
    let Err(proptest::test_runner::TestError::Fail(_, smallest)) = found else { panic!("no plan delays a tool") };
    let delay = Fault::new(EventPattern::named("tool.body"), FaultAction::ToolDelay { delay_s: 0.5 });
    assert_eq!(smallest, FaultPlan::new([delay]));
}
