//! Tells those who wait that something has changed.

use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

/// Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Signal {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    raised: u64,
    wakers: Vec<Waker>,
}

impl Signal {
    pub(super) fn raise(&self) {
        let wakers = {
            let mut inner = self.inner.lock();
            inner.raised += 1;
            std::mem::take(&mut inner.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Waits until it is raised the next time after this call.
    pub(super) fn next(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        let inner = Arc::clone(&self.inner);
        let seen = inner.lock().raised;
        std::future::poll_fn(move |context| {
            let mut inner = inner.lock();
            if inner.raised > seen {
                return Poll::Ready(());
            }
            if !inner.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                inner.wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
    }
}
