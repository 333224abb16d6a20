//! All points, in the order in which they are told.

use super::{attempts, budgets, cancellation, chance, classes, deadlines, delays, extremes, retry_after};
use crate::suites::{Point, RetrySubject};

pub(in crate::suites::retry) fn all<S: RetrySubject>() -> Vec<Point<S>> {
    let mut points = attempts::points();
    points.extend(delays::points());
    points.extend(extremes::points());
    points.extend(deadlines::points());
    points.extend(retry_after::points());
    points.extend(classes::points());
    points.extend(cancellation::points());
    points.extend(budgets::points());
    points.extend(chance::points());
    points
}
