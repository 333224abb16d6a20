//! Where faults can come in a run.

use std::collections::BTreeSet;

use windtunnel_core::event::Event;

use super::{EventPattern, Fault, FaultKind, Occurrences};

/// Every fault of some kinds that can come in a run, each at every event where it can: in the order of the events. They are
/// counted as those of a plan are, whether or not anybody records them.
#[derive(Debug)]
pub(super) struct Survey {
    kinds: BTreeSet<FaultKind>,
    seen: Occurrences,
    points: Vec<FaultPoint>,
}

/// A fault at one event.
#[derive(Clone, Debug)]
pub(crate) struct FaultPoint {
    /// The event's name.
    pub(crate) event: &'static str,
    pub(crate) fault: Fault,
}

impl Survey {
    pub(super) fn new(kinds: BTreeSet<FaultKind>) -> Self {
        Self { kinds, seen: Occurrences::default(), points: Vec::new() }
    }

    pub(super) fn note(&mut self, event: &Event) {
        let name = event.kind.name();
        let when = EventPattern::of(event, self.seen.count(event));
        let here = self.kinds.iter().filter(|kind| kind.can_come_at(event));
        self.points
            .extend(here.map(|kind| FaultPoint { event: name, fault: Fault::new(when.clone(), kind.typical()) }));
    }

    pub(super) fn into_points(self) -> Vec<FaultPoint> {
        self.points
    }
}
