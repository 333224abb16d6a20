//! A call, as a world shows it that says who waits for what.

use std::sync::Arc;

use crate::env::{Env, Party, WaitGuard, Waits, Wanted};

/// A call, and whom it is nested in. There is none in production.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    waits: Waits,
    parties: Arc<[Party]>,
}

impl Shown {
    /// A call that is made by the task whose turn it is.
    pub(super) fn new(env: &Env, run_id: &str, call_id: &str, tool: &str, parent: Option<&Self>) -> Option<Self> {
        let waits = env.waits()?;
        let host = env.host().map(|host| format!("{host}: ")).unwrap_or_default();
        let name = Party::Named(format!("{host}{run_id}/{call_id} ({tool})").into());
        let enclosing = parent.into_iter().flat_map(|parent| parent.parties.iter());
        let enclosing = enclosing.filter(|party| matches!(party, Party::Named(_))).cloned();
        Some(Self { waits: waits.clone(), parties: waits.parties(std::iter::once(name).chain(enclosing)) })
    }

    /// Says that the call holds or waits for a resource.
    pub(super) fn claim(&self, resource: &Arc<str>, is_held: bool) -> WaitGuard {
        self.waits.claim(Arc::clone(&self.parties), Wanted::Resource(Arc::clone(resource)), is_held)
    }

    /// Says that the call waits for something.
    pub(super) fn waits_for(&self, what: String) -> WaitGuard {
        self.waits.claim(Arc::clone(&self.parties), Wanted::Other(what.into()), false)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;

    use tokio_test::task::spawn;
    use tokio_test::{assert_pending, assert_ready};

    use super::super::lock::{RunLock, Share};
    use super::*;

    #[test]
    fn a_call_is_shown_at_each_stage_of_its_way_to_its_permit() {
        let env = Env::system().with_waits(Waits::default());
        let lines = || env.waits().map(|waits| waits.graph().lines(|_| String::new())).unwrap_or_default();
        let kind: Arc<str> = "a".into();
        let lock = RunLock::new(&BTreeMap::from([("a".to_owned(), NonZeroU32::MIN)]), Some("run-1"));
        let acquire = |share, kind, call| spawn(lock.acquire(share, kind, Shown::new(&env, "run-1", call, "t", None)));

        let alone = assert_ready!(acquire(Some(Share::Exclusive), None, "alone").poll());
        let nested = assert_ready!(acquire(None, Some(&kind), "nested").poll());
        let mut both = acquire(Some(Share::Shared), Some(&kind), "both");
        assert_pending!(both.poll());
        assert_eq!(lines(), ["run-1/both (t) waits for the lock of run-1, held by run-1/alone (t)"]);

        drop(alone);
        let mut late = acquire(Some(Share::Exclusive), None, "late");
        assert_pending!(late.poll());
        let place = "run-1/both (t) waits for a place of kind `a` (cap 1) in run-1, held by run-1/nested (t)";
        let behind = "run-1/late (t) waits for the lock of run-1, held by run-1/both (t)";
        assert_eq!(lines(), [place, behind]);

        // It is granted, and does not know it yet.
        drop(nested);
        assert_eq!(lines(), [behind]);
        drop(both);
        assert!(lines().is_empty());
        drop(assert_ready!(late.poll()));
    }
}
