//! All points on limits.

use super::{LimitSubject, points};
use crate::suites::Suite;

/// What whatever limits calls should keep: no limit is crossed, also at once; what is over is given back; who is refused takes
/// nothing; and the last one that fits is let in.
///
/// For an example, see [`LimitSubject`].
pub fn limit_suite<S: LimitSubject>() -> Suite<S> {
    Suite::new("limit", points::all())
}
