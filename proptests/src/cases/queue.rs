//! Calls that wait for each other.

use std::time::Duration;

use super::Caps;

/// Calls of one run that share its lock and its caps (E10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueCase {
    /// How many calls of a kind may run at once.
    pub caps: Caps,
    /// The calls; those that arrive at the same time come in this order.
    pub calls: Vec<QueuedCall>,
}

/// One call that waits for its turn and then runs for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCall {
    /// When it comes, from the beginning of the case.
    pub arrives: Duration,
    /// How long it runs once it may.
    pub runs_for: Duration,
    /// The kind that caps count.
    pub kind: String,
    /// Whether it must run alone.
    pub is_exclusive: bool,
}
