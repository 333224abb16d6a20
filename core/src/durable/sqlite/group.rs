//! Commits that wait at the same time share a transaction, and so one wait for the disk.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction};

use super::fault::{Fault, Outcome};

/// What a commit changes.
pub(super) type Change = Box<dyn FnOnce(&Connection, Duration) -> Outcome<()> + Send>;

/// The commits that wait.
#[derive(Default)]
pub(super) struct Group {
    waiting: Mutex<Vec<Waiting>>,
}

pub(super) struct Waiting {
    change: Change,
    slot: Slot,
}

/// Where a commit finds what became of it.
type Slot = Arc<Mutex<Option<Outcome<()>>>>;

/// The other end of a slot.
pub(super) struct Joined(Slot);

impl Group {
    pub(super) fn join(&self, change: Change) -> Joined {
        let slot = Slot::default();
        self.waiting.lock().push(Waiting { change, slot: Arc::clone(&slot) });
        Joined(slot)
    }

    pub(super) fn take(&self) -> Vec<Waiting> {
        std::mem::take(&mut *self.waiting.lock())
    }
}

impl Joined {
    /// Nothing, if whoever took the change never came to it.
    pub(super) fn outcome(self) -> Option<Outcome<()>> {
        self.0.lock().take()
    }
}

impl Waiting {
    /// Makes the change by `make`, which is all of its transaction.
    pub(super) fn make(self, make: impl FnOnce(Change) -> Outcome<()>) {
        *self.slot.lock() = Some(make(self.change));
    }
}

/// Makes all changes in one transaction, each of them whole or not at all, and commits it.
pub(super) fn commit(transaction: Transaction<'_>, group: Vec<Waiting>, now: Duration) {
    let mut made = Vec::with_capacity(group.len());
    for waiting in group {
        let Waiting { change, slot } = waiting;
        match alone(&transaction, change, now) {
            Ok(()) => made.push(slot),
            Err(fault) => *slot.lock() = Some(Err(fault)),
        }
    }
    // SQLite gives up the whole transaction where it cannot go on, as on a full disk: then this fails.
    let committed = transaction.commit().map_err(Arc::new);
    for slot in made {
        *slot.lock() = Some(committed.clone().map_err(Fault::Unsure));
    }
}

/// A change that is taken back if it fails.
fn alone(transaction: &Transaction<'_>, change: Change, now: Duration) -> Outcome<()> {
    transaction.prepare_cached("SAVEPOINT change")?.execute([])?;
    let made = change(transaction, now);
    if made.is_err() {
        transaction.prepare_cached("ROLLBACK TO change")?.execute([])?;
    }
    transaction.prepare_cached("RELEASE change")?.execute([])?;
    made
}
