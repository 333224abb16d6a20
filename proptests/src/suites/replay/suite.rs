//! All points on what records and replays.

use super::{ReplaySubject, answers, consumption, lanes, redaction};
use crate::suites::Suite;

/// What whatever records and replays should keep: what comes again, how often and in which order, that it never asks
/// the live side, what it tells at its end, lanes of calls at once, and secrets.
///
/// For an example, see [`ReplaySubject`].
pub fn replay_suite<S: ReplaySubject>() -> Suite<S> {
    let mut points = answers::points();
    points.extend(consumption::points());
    points.extend(lanes::points());
    points.extend(redaction::points());
    Suite::new("replay", points)
}
