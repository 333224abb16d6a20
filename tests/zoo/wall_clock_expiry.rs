//! An approval that ends after five minutes, by the wall clock. If that is put back meanwhile, it counts though it has ended.

use std::time::Duration;

use windtunnel::sim::{Process, WorldHandle};

use super::{Animal, Breaks, Twin};

const RULE: &str = "an approval counts only in its time";
const VALID: Duration = Duration::from_secs(300);
/// When the approver answers: too late.
const ANSWERED: Duration = Duration::from_secs(360);

pub(crate) const WALL_CLOCK_EXPIRY: Animal = Animal {
    name: "wall clock expiry",
    after: "a classic",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let agent = world.host("agent").unwrap();
    agent.start(move |process| async move {
        wait_for_approval(&process, twin).await;
    });
    agent.finished().await;
}

async fn wait_for_approval(process: &Process, twin: Twin) {
    let env = process.env();
    let (asked, asked_by_the_wall) = (env.now(), env.wall());
    loop {
        process.mark("looks into the inbox").await;
        let has_ended = match twin {
            Twin::Faulty => env.wall() >= asked_by_the_wall + VALID,
            Twin::Correct => env.now() >= asked + VALID,
        };
        if has_ended {
            return;
        }
        if env.now() >= asked + ANSWERED {
            process.assertions().always(RULE, env.now() < asked + VALID);
            return process.effects().happen("transfer", None).await;
        }
        env.sleep(Duration::from_secs(30)).await;
    }
}
