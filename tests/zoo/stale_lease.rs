//! Two workers, of which one holds a lease. One that stood still goes on as if it held it yet, and writes.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel::sim::{Process, WorldHandle};

use super::{Animal, Breaks, Twin};

const RULE: &str = "only who holds the lease writes";
const LEASE: Duration = Duration::from_secs(3);
const WORK: Duration = Duration::from_secs(2);
const PARTS: usize = 3;

pub(crate) const STALE_LEASE: Animal = Animal {
    name: "stale lease",
    after: "a classic",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

/// What is shared, and who may write it. It is outside of the workers, and survives them.
#[derive(Default)]
struct Store(Mutex<Lease>);

#[derive(Default)]
struct Lease {
    /// Who got it last: each gets a higher one.
    token: u64,
    ends: Duration,
}

impl Store {
    fn acquire(&self, now: Duration) -> Option<u64> {
        let mut lease = self.0.lock();
        if now < lease.ends {
            return None;
        }
        *lease = Lease { token: lease.token + 1, ends: now + LEASE };
        Some(lease.token)
    }

    fn release(&self, token: u64) {
        let mut lease = self.0.lock();
        if lease.token == token {
            lease.ends = Duration::ZERO;
        }
    }

    /// Whether it is written.
    fn write(&self, process: &Process, token: u64, twin: Twin) -> bool {
        let holder = self.0.lock().token;
        let is_written = match twin {
            Twin::Faulty => true,
            Twin::Correct => token == holder,
        };
        if is_written {
            process.assertions().always(RULE, token == holder);
        }
        is_written
    }
}

async fn scenario(world: WorldHandle, twin: Twin) {
    let store = Arc::new(Store::default());
    let mut workers = Vec::new();
    for name in ["ann", "bob"] {
        let (store, worker) = (Arc::clone(&store), world.host(name).unwrap());
        worker.start(move |process| {
            let store = Arc::clone(&store);
            async move { work(&process, &store, twin).await }
        });
        workers.push(worker);
    }
    for worker in workers {
        worker.finished().await;
    }
}

async fn work(process: &Process, store: &Store, twin: Twin) {
    let env = process.env();
    let mut written = 0;
    while written < PARTS {
        let Some(token) = store.acquire(env.now()) else {
            env.sleep(Duration::from_millis(500)).await;
            continue;
        };
        process.mark("summarizes").await;
        env.sleep(WORK).await;
        written += usize::from(store.write(process, token, twin));
        store.release(token);
    }
}
