//! How fast everybody is.

use std::num::NonZeroU32;
use std::time::Duration;

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How long the model thinks about a turn.
    pub(crate) thinking: Duration,
    /// How long the reviewer thinks about an approval.
    pub(crate) review: Duration,
    /// How often the worker and the reviewer look for what there is to do.
    pub(crate) look: Duration,
    /// How many turns of the agent share one journal.
    pub(crate) turns_per_activation: NonZeroU32,
}

impl Pace {
    /// A model of seconds, and a reviewer of minutes.
    pub(crate) fn of_people(review: Duration) -> Self {
        Self {
            thinking: Duration::from_secs(2),
            review,
            look: Duration::from_secs(20),
            turns_per_activation: NonZeroU32::MIN.saturating_add(3),
        }
    }
}
