//! A state file that is written beside the old one and renamed over it. Nothing of that is synced.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use windtunnel::sim::{Disk, Process, WorldHandle};

use super::patience::insist;
use super::{Animal, Breaks, Twin, state_file};

const RULE: &str = "an acknowledged state is there after a restart";
const STATE: &str = "/state";
const UPDATES: usize = 5;

pub(crate) const UNSYNCED_RENAME: Animal = Animal {
    name: "unsynced rename",
    after: "ext4, launchpad#317781",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let agent = world.host("agent").unwrap();
    agent.start(move |process| {
        let acknowledged = Arc::clone(&acknowledged);
        async move {
            run(&process, &acknowledged, twin).await;
        }
    });
    agent.finished().await;
}

async fn run(process: &Process, acknowledged: &AtomicUsize, twin: Twin) {
    let (env, disk) = (process.env(), process.disk());
    let text = insist(&env, || state_file::read(&disk, STATE)).await;
    let updates = version(&text).unwrap_or_default();
    process.assertions().always(RULE, updates >= acknowledged.load(Ordering::Relaxed));
    for update in updates + 1..=UPDATES {
        let state = state(update);
        insist(&env, || save(&disk, &state, twin)).await;
        acknowledged.store(update, Ordering::Relaxed);
        process.mark("acknowledged").await;
        env.sleep(Duration::from_secs(1)).await;
    }
}

async fn save(disk: &Disk, state: &str, twin: Twin) -> io::Result<()> {
    match twin {
        Twin::Faulty => {
            disk.write("/state.new", state).await?;
            disk.rename("/state.new", STATE).await
        }
        Twin::Correct => state_file::replace(disk, STATE, state).await,
    }
}

/// The state after so many updates: some sectors of it.
fn state(updates: usize) -> String {
    format!("{updates} updates: ").repeat(100)
}

/// After how many updates the state is, if it is whole.
fn version(text: &str) -> Option<usize> {
    let updates = text.split(' ').next()?.parse().ok()?;
    (text == state(updates)).then_some(updates)
}
