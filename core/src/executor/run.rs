//! Runs (E9): what the calls of one run share, and which runs are remembered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::guard::Guards;
use super::lock::FairLock;

/// Limits that hold in each run.
///
/// ```
/// use std::num::NonZeroU32;
/// use windtunnel_core::executor::RunLimits;
///
/// let limits = RunLimits { calls_max: Some(20), ..RunLimits::default() }
///     .cap("search", NonZeroU32::MIN);
/// assert_eq!(limits.per_kind["search"].get(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// How many calls a run may make (`max_calls`). Default: no limit.
    pub calls_max: Option<u64>,
    /// How many calls of a kind may run at once. Default: no caps.
    ///
    /// Capped kinds that call each other in both directions can wait for each other forever (E10): cap leaf kinds
    /// only, or nest capped kinds in one direction.
    pub per_kind: BTreeMap<String, std::num::NonZeroU32>,
}

impl RunLimits {
    /// Caps how many calls of `kind` may run at once.
    #[must_use]
    pub fn cap(mut self, kind: impl Into<String>, at_once: std::num::NonZeroU32) -> Self {
        self.per_kind.insert(kind.into(), at_once);
        self
    }
}

/// What the calls of one run share.
#[derive(Debug)]
pub(super) struct RunState {
    pub(super) id: Arc<str>,
    pub(super) guards: Mutex<Guards>,
    pub(super) lock: FairLock,
    caps: BTreeMap<String, FairLock>,
    in_flight: AtomicUsize,
}

impl RunState {
    fn new(id: Arc<str>, limits: &RunLimits) -> Self {
        let caps = limits.per_kind.iter().map(|(kind, cap)| (kind.clone(), FairLock::new(cap.get()))).collect();
        Self {
            id,
            guards: Mutex::default(),
            lock: FairLock::shared_or_exclusive(),
            caps,
            in_flight: AtomicUsize::new(0),
        }
    }

    pub(super) fn cap(&self, kind: &str) -> Option<&FairLock> {
        self.caps.get(kind)
    }
}

/// The runs that are remembered.
#[derive(Debug)]
pub(super) struct Runs {
    limits: RunLimits,
    tracked_max: usize,
    tracked: Mutex<Tracked>,
}

#[derive(Debug, Default)]
struct Tracked {
    runs: BTreeMap<Arc<str>, Entry>,
    /// The runs by their last use.
    by_use: BTreeMap<u64, Arc<str>>,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    state: Arc<RunState>,
    last_use: u64,
}

impl Runs {
    pub(super) fn new(limits: RunLimits, tracked_max: usize) -> Self {
        Self { limits, tracked_max, tracked: Mutex::default() }
    }

    pub(super) fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Enters the run, which is then in flight until the guard is dropped. A `fresh` run is forgotten with its guard.
    pub(super) fn enter(self: &Arc<Self>, run_id: &str, fresh: bool) -> RunGuard {
        let mut tracked = self.tracked.lock();
        tracked.uses += 1;
        let now = tracked.uses;
        let state = match tracked.runs.get_mut(run_id) {
            Some(entry) => {
                let last_use = std::mem::replace(&mut entry.last_use, now);
                let state = Arc::clone(&entry.state);
                tracked.by_use.remove(&last_use);
                state
            }
            None => {
                let state = Arc::new(RunState::new(run_id.into(), &self.limits));
                tracked.runs.insert(Arc::clone(&state.id), Entry { state: Arc::clone(&state), last_use: now });
                state
            }
        };
        tracked.by_use.insert(now, Arc::clone(&state.id));
        state.in_flight.fetch_add(1, Ordering::Relaxed);
        if tracked.runs.len() > self.tracked_max {
            tracked.evict(self.tracked_max);
        }
        RunGuard { runs: Arc::clone(self), state, fresh }
    }

    /// Forgets the run's guards and locks.
    pub(super) fn end(&self, run_id: &str) {
        self.tracked.lock().remove(run_id);
    }
}

impl Tracked {
    fn remove(&mut self, run_id: &str) {
        if let Some(entry) = self.runs.remove(run_id) {
            self.by_use.remove(&entry.last_use);
        }
    }

    /// Forgets the runs unused for longest, but none that has a call in flight.
    fn evict(&mut self, tracked_max: usize) {
        let excess = self.runs.len().saturating_sub(tracked_max);
        let idle = |run_id: &&Arc<str>| {
            self.runs.get(*run_id).is_some_and(|entry| entry.state.in_flight.load(Ordering::Relaxed) == 0)
        };
        let old: Vec<_> = self.by_use.values().filter(idle).take(excess).cloned().collect();
        for run_id in old {
            self.remove(&run_id);
        }
    }
}

/// One use of a run.
#[derive(Debug)]
pub(super) struct RunGuard {
    runs: Arc<Runs>,
    pub(super) state: Arc<RunState>,
    pub(super) fresh: bool,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let mut tracked = self.runs.tracked.lock();
        self.state.in_flight.fetch_sub(1, Ordering::Relaxed);
        let is_ours = |entry: &Entry| Arc::ptr_eq(&entry.state, &self.state);
        if self.fresh && tracked.runs.get(&self.state.id).is_some_and(is_ours) {
            tracked.remove(&self.state.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(runs: &Runs) -> Vec<String> {
        runs.tracked.lock().runs.keys().map(|id| id.to_string()).collect()
    }

    #[test]
    fn the_run_unused_for_longest_goes_first_but_never_one_in_flight() {
        let runs = Arc::new(Runs::new(RunLimits::default(), 2));
        let busy = runs.enter("busy", false);
        drop(runs.enter("a", false));
        drop(runs.enter("b", false));
        assert_eq!(known(&runs), ["b", "busy"]);
        let also_busy = runs.enter("b", false);
        drop(runs.enter("c", false));
        // Both older runs are in flight, so the bound is exceeded until they are done.
        assert_eq!(known(&runs), ["b", "busy", "c"]);
        drop((busy, also_busy));
        drop(runs.enter("d", false));
        assert_eq!(known(&runs), ["c", "d"]);
    }

    #[test]
    fn a_fresh_run_is_forgotten_with_its_guard() {
        let runs = Arc::new(Runs::new(RunLimits::default(), 8));
        let outer = runs.enter("run-1", true);
        let nested = runs.enter("run-1", false);
        assert!(Arc::ptr_eq(&outer.state, &nested.state));
        drop((nested, outer));
        assert!(known(&runs).is_empty() && runs.tracked.lock().by_use.is_empty());
    }

    #[test]
    fn an_ended_run_begins_anew() {
        let runs = Arc::new(Runs::new(RunLimits::default(), 8));
        let old = runs.enter("run-1", false);
        runs.end("run-1");
        let new = runs.enter("run-1", false);
        assert!(!Arc::ptr_eq(&old.state, &new.state));
        drop(old);
        assert_eq!(known(&runs), ["run-1"]);
    }
}
