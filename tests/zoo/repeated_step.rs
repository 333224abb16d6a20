//! A booking in three steps. Each is recorded when it is done: after a crash between the two it is done again.

use windtunnel::sim::{Process, WorldHandle};

use super::patience::insist;
use super::{Animal, Breaks, Twin, state_file};

const RULE: &str = "each step happens once";
const STEPS: [&str; 3] = ["reserve a seat", "charge the card", "send the ticket"];
const PROGRESS: &str = "/progress";

pub(crate) const REPEATED_STEP: Animal = Animal {
    name: "repeated step",
    after: "agent-framework#3938",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let agent = world.host("agent").unwrap();
    agent.start(move |process| async move {
        book(&process, twin).await;
    });
    agent.finished().await;
    let effects = world.effects();
    world.assertions().always(RULE, STEPS.iter().all(|step| effects.count(step) == 1));
}

async fn book(process: &Process, twin: Twin) {
    let (env, disk, effects) = (process.env(), process.disk(), process.effects());
    let mut progress = insist(&env, || state_file::read(&disk, PROGRESS)).await;
    for step in STEPS.iter().skip(progress.lines().count()) {
        match twin {
            Twin::Faulty => effects.happen(step, None).await,
            // Whoever carries the step out knows it again by its key.
            Twin::Correct => drop(effects.happen_once(step, "booking-7").await),
        }
        progress.push_str(step);
        progress.push('\n');
        insist(&env, || state_file::replace(&disk, PROGRESS, &progress)).await;
    }
}
