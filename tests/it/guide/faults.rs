//! The code of `docs/src/faults.md`: faults that are planned, drawn and swept, and what must hold.

use windtunnel::sim::fault::{FaultKind, FaultPlan};
use windtunnel::sim::{Campaign, Process, RandomFaults, World, explored, swept};

use super::agent::{SimulatedBank, refund_once};

// ANCHOR: planned
#[test]
fn a_lost_answer_is_asked_for_again() {
    let plan = r#"[{"when": {"event": "tool.body", "tool": "refund", "nth": 1}, "do": {"fault": "tool.lose_acknowledgment"}}]"#;
    let plan = FaultPlan::from_json(plan).unwrap();
    let run = World::new(7).faults(plan).run(|world| async move {
        let answer = refund_once(&SimulatedBank(world.clone()), 7).await.unwrap();
        (answer, world.effects().count("refund"))
    });
    assert_eq!(run.outcome.unwrap(), ("order 7 is refunded".to_owned(), 1));
    assert_eq!(run.faults.len(), 1);
}
// ANCHOR_END: planned

// ANCHOR: drawn
explored! {
    fn an_order_is_refunded_once_in_any_weather(
        world in Campaign::new().seeds(0..200).random_faults(RandomFaults::swarm())
    ) {
        let answer = refund_once(&SimulatedBank(world.clone()), 7).await;
        let (assertions, refunds) = (world.assertions(), world.effects().count("refund"));
        assertions.always("refunded at most once", refunds <= 1);
        assertions.always("who is told of a refund has it", answer.is_err() || refunds == 1);
        assertions.sometimes("the agent gave up", answer.is_err());
    }
}
// ANCHOR_END: drawn

// ANCHOR: hosts
/// An agent that begins again whenever its host does.
async fn refund_and_tell(process: Process) {
    let effects = process.effects();
    effects.happen_once("refund", "order-7").await;
    process.mark("refunded").await; // an event: a crash can come here
    effects.happen_once("mail", "order-7").await;
}

swept! {
    fn a_crash_repeats_and_loses_nothing(
        world in Campaign::new().kinds([FaultKind::HostCrash, FaultKind::HostPowerCut])
    ) {
        let host = world.host("agent").unwrap();
        host.start(refund_and_tell);
        host.finished().await;
        for effect in ["refund", "mail"] {
            world.assertions().always(&format!("one {effect}"), world.effects().count(effect) == 1);
        }
    }
}
// ANCHOR_END: hosts
