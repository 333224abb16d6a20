//! Runs (E9): what the calls of one run share, and which runs are remembered.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::guard::Guards;
use super::lock::RunLock;

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
    pub(super) lock: RunLock,
}

impl RunState {
    fn new(id: Arc<str>, limits: &RunLimits, is_shown: bool) -> Self {
        let lock = RunLock::new(&limits.per_kind, is_shown.then_some(&*id));
        Self { id, guards: Mutex::default(), lock }
    }
}

/// The runs that are remembered.
#[derive(Debug)]
pub(super) struct Runs {
    limits: RunLimits,
    tracked_max: usize,
    /// Whether a world sees who waits for their locks.
    are_shown: bool,
    tracked: Mutex<Tracked>,
}

#[derive(Debug, Default)]
struct Tracked {
    runs: BTreeMap<Arc<str>, Entry>,
    /// The runs without a call in flight, by the time they fell idle.
    idle: BTreeMap<u64, Arc<str>>,
    /// Counts the times that a run fell idle.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    state: Arc<RunState>,
    in_flight: usize,
    /// Its key in `idle`; meaningful while nothing is in flight.
    idle_since: u64,
}

impl Runs {
    pub(super) fn new(limits: RunLimits, tracked_max: usize, are_shown: bool) -> Self {
        Self { limits, tracked_max, are_shown, tracked: Mutex::default() }
    }

    pub(super) fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Enters the run, which is then in flight until the guard is dropped. A `fresh` run is forgotten with its guard.
    pub(super) fn enter(self: &Arc<Self>, run_id: Arc<str>, fresh: bool) -> RunGuard {
        let mut tracked = self.tracked.lock();
        let Tracked { runs, idle, .. } = &mut *tracked;
        let entry = runs.entry(run_id).or_insert_with_key(|run_id| Entry {
            state: Arc::new(RunState::new(Arc::clone(run_id), &self.limits, self.are_shown)),
            in_flight: 0,
            idle_since: 0,
        });
        if entry.in_flight == 0 {
            idle.remove(&entry.idle_since);
        }
        entry.in_flight += 1;
        let state = Arc::clone(&entry.state);
        tracked.evict(self.tracked_max);
        RunGuard { runs: Arc::clone(self), state, fresh }
    }

    /// Forgets the run's guards and locks.
    pub(super) fn end(&self, run_id: &str) {
        self.tracked.lock().remove(run_id);
    }
}

impl Tracked {
    fn remove(&mut self, run_id: &str) {
        if let Some(entry) = self.runs.remove(run_id)
            && entry.in_flight == 0
        {
            self.idle.remove(&entry.idle_since);
        }
    }

    /// Forgets the runs idle for longest, but none that has a call in flight.
    fn evict(&mut self, tracked_max: usize) {
        while self.runs.len() > tracked_max
            && let Some((_, run_id)) = self.idle.pop_first()
        {
            self.runs.remove(&run_id);
        }
    }

    /// One use of the run is over.
    fn leave(&mut self, state: &Arc<RunState>, fresh: bool) {
        let Some(entry) = self.runs.get_mut(&state.id) else { return };
        if !Arc::ptr_eq(&entry.state, state) {
            // The run was ended meanwhile, and another with its name began.
            return;
        }
        entry.in_flight -= 1;
        if fresh {
            self.runs.remove(&state.id);
        } else if entry.in_flight == 0 {
            self.clock += 1;
            entry.idle_since = self.clock;
            self.idle.insert(self.clock, Arc::clone(&state.id));
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
        tracked.leave(&self.state, self.fresh);
        tracked.evict(self.runs.tracked_max);
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
        let runs = Arc::new(Runs::new(RunLimits::default(), 2, false));
        let busy = runs.enter("busy".into(), false);
        drop(runs.enter("a".into(), false));
        drop(runs.enter("b".into(), false));
        assert_eq!(known(&runs), ["b", "busy"]);
        let also_busy = runs.enter("b".into(), false);
        drop(runs.enter("c".into(), false));
        // Both older runs are in flight, so the new one went as soon as it fell idle.
        assert_eq!(known(&runs), ["b", "busy"]);
        let third = runs.enter("c".into(), false);
        assert_eq!(known(&runs), ["b", "busy", "c"]);
        drop((also_busy, third));
        drop(busy);
        drop(runs.enter("d".into(), false));
        assert_eq!(known(&runs), ["busy", "d"]);
    }

    #[test]
    fn a_fresh_run_is_forgotten_with_its_guard() {
        let runs = Arc::new(Runs::new(RunLimits::default(), 8, false));
        let outer = runs.enter("run-1".into(), true);
        let nested = runs.enter("run-1".into(), false);
        assert!(Arc::ptr_eq(&outer.state, &nested.state));
        drop((nested, outer));
        assert!(known(&runs).is_empty() && runs.tracked.lock().idle.is_empty());
    }

    #[test]
    fn an_ended_run_begins_anew() {
        let runs = Arc::new(Runs::new(RunLimits::default(), 8, false));
        let old = runs.enter("run-1".into(), false);
        runs.end("run-1");
        let new = runs.enter("run-1".into(), false);
        assert!(!Arc::ptr_eq(&old.state, &new.state));
        drop(old);
        assert_eq!(known(&runs), ["run-1"]);
    }
}
