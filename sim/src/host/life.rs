//! One life of a host: from its start to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::network::Sockets;
use crate::schedule::Owner;

/// What the parts of one life share. When it is frozen, nothing of it acts any more, whatever is still held or dropped.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) owner: Owner,
    pub(super) is_frozen: Arc<AtomicBool>,
    pub(super) sockets: Sockets,
}

impl Life {
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner, is_frozen: Arc::default(), sockets: Sockets::default() }
    }

    pub(super) fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_frozen.load(Ordering::Relaxed)
    }
}
