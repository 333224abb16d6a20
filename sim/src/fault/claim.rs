//! A fault in the hands of a tool, a model or a journal.

use std::sync::Arc;

use super::injector::{Injector, Pending};
use super::{Fault, FaultAction};

/// A fault that somebody has taken. Dropped, it has done nothing, and is for the next one.
pub(super) struct Claim<'i> {
    injector: &'i Injector,
    pending: Option<Pending>,
    host: Option<Arc<str>>,
}

impl<'i> Claim<'i> {
    pub(super) fn new(injector: &'i Injector, pending: Pending, host: Option<Arc<str>>) -> Self {
        Self { injector, pending: Some(pending), host }
    }

    pub(super) fn action(&self) -> Option<&FaultAction> {
        self.pending.as_ref().map(|pending| &pending.fault().action)
    }

    /// The fault comes, now.
    pub(super) fn deliver(mut self) -> Option<FaultAction> {
        let fault: Fault = self.pending.take()?.fault().clone();
        let action = fault.action.clone();
        self.injector.deliver(fault, self.host.take());
        Some(action)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.injector.give_back(pending);
        }
    }
}
