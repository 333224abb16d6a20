//! One case, tried.

use super::JournalStoreSubject;
use crate::Violation;
use crate::suites::driver::outcome;

/// What was seen that should not be.
pub(super) type Seen = Result<(), String>;

/// Runs what checks a store.
pub(super) fn run<S: JournalStoreSubject>(
    point: &'static str,
    subject: &S,
    place: &S::Place,
    check: impl Future<Output = Seen>,
) -> Result<(), Violation> {
    outcome(point, check, |future| subject.drive(place, future))
}

/// Nothing, if it is as it should be.
pub(super) fn demand(holds: bool, seen: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(seen()) }
}
