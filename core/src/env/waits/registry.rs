//! Where those who wait say for what.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::graph::WaitGraph;

/// Where those who wait in a simulated world say for what. Clones share it. Environments of production have none
/// ([`Env::waits`](crate::env::Env::waits)).
///
/// A simulator that runs tasks says whose turn it is ([`Waits::begin_turn`]), and asks for the [`WaitGraph`] when
/// nothing goes on.
#[derive(Clone, Default)]
pub struct Waits {
    registry: Arc<Mutex<Registry>>,
}

#[derive(Default)]
struct Registry {
    /// By order of arrival.
    claims: BTreeMap<u64, Claim>,
    arrivals: u64,
    /// The task that runs now.
    turn: Option<u64>,
    /// What tasks found not ready in their last turn.
    found_unready: BTreeMap<u64, Vec<Arc<str>>>,
}

/// Whoever waits or holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    /// A task of the simulator.
    Task(u64),
    /// Such as a call of a tool.
    Named(Arc<str>),
}

/// What is held or waited for. Two resources are the same only if one is a clone of the other.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// Something that only some can hold at once, such as a lock.
    Resource(Arc<str>),
    /// Anything else.
    Other(Arc<str>),
}

/// Somebody holds or waits for something.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    /// Who, and within whom: a nested call, then the calls that enclose it, then its task.
    pub(super) parties: Arc<[Party]>,
    pub(super) wanted: Wanted,
    pub(super) is_held: bool,
}

/// Somebody holds or waits for something until this is dropped.
#[must_use = "dropping the guard says that it is over"]
pub struct WaitGuard {
    registry: Arc<Mutex<Registry>>,
    arrival: u64,
}

impl Waits {
    /// A task's turn begins. What it found not ready in its last turn, it looks at again.
    pub fn begin_turn(&self, task: u64) {
        let mut registry = self.registry.lock();
        registry.turn = Some(task);
        registry.found_unready.remove(&task);
    }

    /// The turn is over.
    pub fn end_turn(&self) {
        self.registry.lock().turn = None;
    }

    /// The task is no more.
    pub fn forget(&self, task: u64) {
        self.registry.lock().found_unready.remove(&task);
    }

    /// The task whose turn it is has found this not ready: it waits for it until its next turn, if it says so again.
    pub fn found_unready(&self, what: impl Into<Arc<str>>) {
        let mut registry = self.registry.lock();
        if let Some(task) = registry.turn {
            registry.found_unready.entry(task).or_default().push(what.into());
        }
    }

    /// The task whose turn it is waits for `what` until the guard is dropped.
    pub fn wait(&self, what: impl Into<Arc<str>>) -> WaitGuard {
        self.claim(self.parties([]), Wanted::Other(what.into()), false)
    }

    /// Somebody within others, from the innermost on, and all of them within the task whose turn it is.
    pub(crate) fn parties(&self, named: impl IntoIterator<Item = Party>) -> Arc<[Party]> {
        named.into_iter().chain(self.registry.lock().turn.map(Party::Task)).collect()
    }

    /// The first of `parties`, which is within the others, holds or waits for something until the guard is dropped.
    pub(crate) fn claim(&self, parties: Arc<[Party]>, wanted: Wanted, is_held: bool) -> WaitGuard {
        let mut registry = self.registry.lock();
        let arrival = registry.arrivals;
        registry.arrivals += 1;
        registry.claims.insert(arrival, Claim { parties, wanted, is_held });
        WaitGuard { registry: Arc::clone(&self.registry), arrival }
    }

    /// Who waits for what now.
    pub fn graph(&self) -> WaitGraph {
        let registry = self.registry.lock();
        let unready = registry.found_unready.iter().flat_map(|(task, found)| {
            found.iter().map(|what| Claim {
                parties: [Party::Task(*task)].into(),
                wanted: Wanted::Other(Arc::clone(what)),
                is_held: false,
            })
        });
        WaitGraph::new(registry.claims.values().cloned().chain(unready))
    }
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        let ended = self.registry.lock().claims.remove(&self.arrival);
        drop(ended);
    }
}

impl fmt::Debug for Waits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Waits").field("claims", &self.registry.lock().claims.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for WaitGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WaitGuard").field("arrival", &self.arrival).finish_non_exhaustive()
    }
}
