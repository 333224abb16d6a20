//! All points on stores of journals.

use super::{JournalStoreSubject, at_once, lost, operations};
use crate::suites::Suite;

/// What stores of journals should keep: each law of [`JournalStore`](windtunnel_core::durable::JournalStore) as a
/// point, lost answers, and requests at once. Every answer is held against [`StoreModel`](crate::models::StoreModel).
///
/// For an example, see [`JournalStoreSubject`].
pub fn journal_store_suite<S: JournalStoreSubject>() -> Suite<S> {
    let mut points = operations::points();
    points.extend(lost::points());
    points.extend(at_once::points());
    Suite::new("journal store", points)
}
