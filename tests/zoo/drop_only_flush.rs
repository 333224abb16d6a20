//! A memory that is saved when it is dropped. What the user was told is remembered is lost if the process ends in any other way.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel::sim::{Process, WorldHandle};

use super::patience::insist;
use super::{Animal, Breaks, Twin, state_file};

const RULE: &str = "what the user was told is remembered";
const MEMORY: &str = "/memory";
const SESSIONS: u64 = 2;
const NOTES: u64 = 3;

pub(crate) const DROP_ONLY_FLUSH: Animal = Animal {
    name: "drop-only flush",
    after: "a classic",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

/// The notes of one session, and of those before.
struct Memory {
    process: Process,
    notes: String,
    twin: Twin,
}

impl Memory {
    async fn open(process: &Process, twin: Twin) -> Self {
        let disk = process.disk();
        let notes = insist(&process.env(), || state_file::read(&disk, MEMORY)).await;
        Self { process: process.clone(), notes, twin }
    }

    async fn remember(&mut self, note: &str) {
        self.notes.push_str(note);
        self.notes.push('\n');
        if self.twin == Twin::Correct {
            let disk = self.process.disk();
            insist(&self.process.env(), || state_file::replace(&disk, MEMORY, &self.notes)).await;
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.twin == Twin::Faulty {
            let (env, disk, notes) = (self.process.env(), self.process.disk(), std::mem::take(&mut self.notes));
            let flush = async move { insist(&env, || state_file::replace(&disk, MEMORY, &notes)).await };
            let _running = self.process.spawn(flush);
        }
    }
}

async fn scenario(world: WorldHandle, twin: Twin) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let agent = world.host("agent").unwrap();
    agent.start(move |process| {
        let told = Arc::clone(&told);
        async move {
            converse(&process, &told, twin).await;
        }
    });
    agent.finished().await;
}

/// Sessions with pauses between them. `told` is what the user knows, whatever becomes of the agent.
async fn converse(process: &Process, told: &Mutex<Vec<String>>, twin: Twin) {
    let env = process.env();
    for session in 0..=SESSIONS {
        let mut memory = Memory::open(process, twin).await;
        let is_kept = told.lock().iter().all(|note| memory.notes.lines().any(|kept| kept == note));
        process.assertions().always(RULE, is_kept);
        for number in (0..NOTES).filter(|_| session < SESSIONS) {
            let note = format!("note {number} of session {session}");
            memory.remember(&note).await;
            told.lock().push(note);
            process.mark("told").await;
            env.sleep(Duration::from_secs(1)).await;
        }
        drop(memory);
        env.sleep(Duration::from_secs(10)).await;
    }
}
