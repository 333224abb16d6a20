//! Wakers of tasks.

use std::sync::{Arc, Weak};
use std::task::Wake;

use super::tasks::Shared;

/// Whose task it is: one life of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(pub(crate) u64);

/// A task's place, and which of those that stood there it is. So a wake that is meant for one that is gone reaches nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    pub(super) place: usize,
    pub(super) number: u64,
}

/// Says that a task can go on.
pub(super) struct Waking {
    pub(super) task: Option<TaskId>,
    pub(super) shared: Weak<Shared>,
}

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(shared) = self.shared.upgrade() {
            shared.wake(self.task);
        }
    }
}
