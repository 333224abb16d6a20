//! All points on retry.

use super::{RetrySubject, points};
use crate::suites::Suite;

/// What whatever retries should keep: how often it calls, how long it waits, deadlines, Retry-After, what it must not retry,
/// budgets, chance and accounting.
///
/// For an example, see [`RetrySubject`].
pub fn retry_suite<S: RetrySubject>() -> Suite<S> {
    Suite::new("retry", points::all())
}
