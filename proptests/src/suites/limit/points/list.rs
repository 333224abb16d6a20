//! All points, in the order in which they are told.

use super::{at_once, calls, costs, release, windows};
use crate::suites::{LimitSubject, Point};

pub(in crate::suites::limit) fn all<S: LimitSubject>() -> Vec<Point<S>> {
    let mut points = calls::points();
    points.extend(at_once::points());
    points.extend(release::points());
    points.extend(costs::points());
    points.extend(windows::points());
    points
}
