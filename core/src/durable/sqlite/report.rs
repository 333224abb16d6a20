//! What a check of a file finds.

use std::fmt;

use super::error::Place;

/// What [`verify`](super::verify()) found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// What is not as it was stored. Of one activation the first thing only.
    pub findings: Vec<Finding>,
    /// How many workflows are sound, with all their activations and events.
    pub sound_workflows: u64,
    /// How many activations are sound, with their records.
    pub sound_activations: u64,
    /// How many records belong to sound activations.
    pub sound_records: u64,
    /// How many events are sound.
    pub sound_events: u64,
}

impl FileReport {
    /// Whether nothing was found.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Something that is not as it was stored. It displays as its place and its problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Where.
    pub place: Place,
    /// What is wrong, without values.
    pub problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.problem)
    }
}
