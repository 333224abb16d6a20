//! The execution of one operation, shared by all who wait for it.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::future::BoxFuture;
use futures_util::FutureExt;
use futures_util::future::{Shared, WeakShared};
use parking_lot::Mutex;
use serde_json::Value;

use super::error::DurableError;

pub(super) type Outcome = Result<Arc<Value>, DurableError>;

/// Dropped with the last one who waits, or ended from outside.
pub(super) struct Leg {
    slot: Arc<Mutex<Slot>>,
}

struct Slot {
    work: Option<BoxFuture<'static, Outcome>>,
    waker: Option<Waker>,
}

/// A leg that does not keep it alive.
pub(super) struct WeakLeg {
    shared: Option<WeakShared<Leg>>,
    slot: Weak<Mutex<Slot>>,
}

impl Leg {
    pub(super) fn new(work: BoxFuture<'static, Outcome>) -> (Shared<Self>, WeakLeg) {
        let slot = Arc::new(Mutex::new(Slot { work: Some(work), waker: None }));
        let weak = Arc::downgrade(&slot);
        let shared = Self { slot }.shared();
        let leg = WeakLeg { shared: shared.downgrade(), slot: weak };
        (shared, leg)
    }
}

impl WeakLeg {
    /// One more who waits, unless the last one has gone.
    pub(super) fn join(&self) -> Option<Shared<Leg>> {
        self.shared.as_ref()?.upgrade()
    }

    /// Drops the work now, whatever it is doing, and tells those who wait.
    pub(super) fn end(&self) {
        let Some(slot) = self.slot.upgrade() else { return };
        let (work, waker) = {
            let mut slot = slot.lock();
            (slot.work.take(), slot.waker.take())
        };
        drop(work);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Leg {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut slot = self.slot.lock();
        let Some(work) = &mut slot.work else { return Poll::Ready(Err(DurableError::ActivationClosed)) };
        let Poll::Ready(outcome) = work.as_mut().poll(context) else {
            slot.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        let done = slot.work.take();
        drop(slot);
        drop(done);
        Poll::Ready(outcome)
    }
}
