//! Which fault was tried at which event, and what came of it.

use std::collections::BTreeMap;
use std::fmt;

use windtunnel_core::event::Event;

use crate::fault::{EventPattern, Fault, FaultKind, Occurrences};

/// Why a fault that was tried at an event did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// There was nothing for it to act on: its host was down, or no other host was there.
    NothingToActOn,
    /// Nobody that takes faults came after it.
    NobodyTookIt,
}

impl Skipped {
    /// What it says to its reader.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NothingToActOn => "there was nothing to act on",
            Self::NobodyTookIt => "nobody took it",
        }
    }
}

/// What came of all faults of a kind at all events of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How often the fault came and the run passed.
    pub passed: usize,
    /// How often the fault came and the run failed.
    pub failed: usize,
    /// How often it did not come, and why.
    pub skipped: BTreeMap<Skipped, usize>,
}

impl Coverage {
    /// At how many events the fault was tried.
    pub fn points(&self) -> usize {
        self.passed + self.failed + self.skipped.values().sum::<usize>()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} points, {} passed, {} failed", self.points(), self.passed, self.failed)?;
        for (skipped, count) in &self.skipped {
            write!(formatter, ", {count} skipped ({})", skipped.reason())?;
        }
        Ok(())
    }
}

/// Every fault of these kinds that can come in a run, each at every event where it can: in the order of the events.
pub(super) fn points(trace: &[Event], kinds: impl Iterator<Item = FaultKind> + Clone) -> Vec<(&'static str, Fault)> {
    let mut seen = Occurrences::default();
    let mut points = Vec::new();
    for event in trace {
        let name = event.kind.name();
        let when = EventPattern::of(event, seen.count(event));
        let here = kinds.clone().filter(|kind| kind.can_come_at(event));
        points.extend(here.map(|kind| (name, Fault::new(when.clone(), kind.typical()))));
    }
    points
}
