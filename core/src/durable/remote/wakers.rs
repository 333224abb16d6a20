//! Waking all who wait for one stream.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Wake, Waker};

use parking_lot::Mutex;

/// The wakers of those who wait, by the identifiers of their calls. A stream remembers only the last waker that it was
/// polled with, so it is polled with one that wakes them all: whoever of them is still there drives the stream.
#[derive(Default)]
pub(super) struct Wakers {
    waiting: Mutex<BTreeMap<u64, Waker>>,
}

impl Wakers {
    /// To be called before the stream is polled, so that nothing is missed in between.
    pub(super) fn register(&self, id: u64, waker: &Waker) {
        let waker = waker.clone();
        let replaced = self.waiting.lock().insert(id, waker);
        // Not under the lock, for what a waker does then is not ours.
        drop(replaced);
    }

    pub(super) fn forget(&self, id: u64) {
        let forgotten = self.waiting.lock().remove(&id);
        drop(forgotten);
    }

    /// Wakes these.
    pub(super) fn wake(&self, ids: &[u64]) {
        for id in ids {
            let waker = self.waiting.lock().remove(id);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        waiting.into_values().for_each(Waker::wake);
    }
}
