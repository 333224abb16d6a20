//! Two tasks and two locks. A transfer takes the accounts and then the audit log, a report the other way round.

use std::sync::Arc;

use tokio::sync::Mutex;
use windtunnel::sim::{Process, WorldHandle};

use super::{Animal, Breaks, Twin};

const ACCOUNTS: &str = "the lock of the accounts";
const AUDIT: &str = "the lock of the audit log";

pub(crate) const LOCK_ORDER: Animal = Animal {
    name: "lock order",
    after: "a classic",
    breaks: Breaks::Deadlock(&[ACCOUNTS, AUDIT, "agent: transfer", "agent: report"]),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

/// Named, so that a world in which nothing goes on can tell of them.
#[derive(Default)]
struct Books {
    accounts: Mutex<i64>,
    audit: Mutex<Vec<String>>,
}

async fn scenario(world: WorldHandle, twin: Twin) {
    let agent = world.host("agent").unwrap();
    agent.start(move |process| async move {
        let books = Arc::new(Books::default());
        let transfer = process.spawn_named("transfer", transfer(process.clone(), Arc::clone(&books)));
        let report = process.spawn_named("report", report(process.clone(), books, twin));
        let _both = (transfer.await, report.await);
    });
    agent.finished().await;
}

async fn transfer(process: Process, books: Arc<Books>) {
    let env = process.env();
    let mut balance = env.resource(ACCOUNTS).hold(books.accounts.lock()).await;
    **balance -= 100;
    env.pause().await;
    let mut audit = env.resource(AUDIT).hold(books.audit.lock()).await;
    audit.push(format!("{} left", **balance));
}

/// Begins after the transfer, as a rule: it prepares itself first.
async fn report(process: Process, books: Arc<Books>, twin: Twin) {
    let env = process.env();
    for _ in 0..8 {
        env.pause().await;
    }
    let (accounts, audit) = (env.resource(ACCOUNTS), env.resource(AUDIT));
    match twin {
        Twin::Faulty => {
            let mut lines = audit.hold(books.audit.lock()).await;
            env.pause().await;
            let balance = accounts.hold(books.accounts.lock()).await;
            lines.push(format!("report: {}", **balance));
        }
        Twin::Correct => {
            let balance = accounts.hold(books.accounts.lock()).await;
            env.pause().await;
            let mut lines = audit.hold(books.audit.lock()).await;
            lines.push(format!("report: {}", **balance));
        }
    }
}
