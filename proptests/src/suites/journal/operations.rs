//! Lists of operations, held against the model.

use proptest::prelude::*;

use super::JournalStoreSubject;
use super::trial::run;
use crate::cases::{StoreLaw, StoreOperation};
use crate::played::check_journal_store;
use crate::strategies::{store_operations, store_operations_about};
use crate::suites::{Case, Point};

/// Operations on one store ([`check_journal_store`]).
#[derive(Clone, Debug, PartialEq)]
pub struct StoreCase {
    /// In their order.
    pub operations: Vec<StoreOperation>,
}

impl Case for StoreCase {
    fn show(&self) -> String {
        self.operations.iter().map(|operation| format!("{operation:?}\n")).collect()
    }
}

pub(super) fn points<S: JournalStoreSubject>() -> Vec<Point<S>> {
    vec![
        about("order", "what is acknowledged is read back, in its order", StoreLaw::Order),
        about("fences", "an attempt that was overtaken commits nothing", StoreLaw::Fences),
        about("repeats", "what is repeated is acknowledged again, and changes nothing", StoreLaw::Repeats),
        about("one_decision", "an activation has one decision, and nothing comes after it", StoreLaw::OneDecision),
        about("leases", "what is claimed is free again when its lease is over, and not before", StoreLaw::Leases),
        about("events", "an event is kept until it is waited for, and comes once", StoreLaw::Events),
        about("bounds", "what is over a bound is refused whole", StoreLaw::Bounds),
        about("reopening", "what was stored is there when the store is opened again", StoreLaw::Reopening),
        drawn("any_order", "all this holds in any order of requests", store_operations),
    ]
}

fn about<S: JournalStoreSubject>(id: &'static str, demand: &'static str, law: StoreLaw) -> Point<S> {
    drawn(id, demand, move || store_operations_about(law))
}

fn drawn<S, G>(id: &'static str, demand: &'static str, operations: impl Fn() -> G + Send + Sync + 'static) -> Point<S>
where
    S: JournalStoreSubject,
    G: Strategy<Value = Vec<StoreOperation>> + 'static,
{
    let cases = move |_: &S| operations().prop_map(|operations| StoreCase { operations });
    Point::property(id, demand, cases, move |subject: &S, case: &StoreCase| {
        let place = subject.place();
        let open = async |before: Option<S::Store>, env| subject.open(&place, before, env).await;
        let checked = async {
            let checked = check_journal_store(open, &case.operations).await;
            checked.map(drop).map_err(|violation| violation.to_string())
        };
        run(id, subject, &place, checked)
    })
}
