//! What happens when an event comes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use windtunnel_core::event::Event;

use crate::fault::EventPattern;

/// Says whether the event has come. A fault whose event never came tests nothing.
#[derive(Clone, Debug)]
pub struct Trigger {
    reached: Arc<AtomicBool>,
}

impl Trigger {
    /// Whether the event has come, and its action was done.
    pub fn was_reached(&self) -> bool {
        self.reached.load(Ordering::Relaxed)
    }
}

/// The triggers of a world that have not come yet.
#[derive(Default)]
pub(super) struct Triggers {
    armed: Mutex<Vec<Armed>>,
}

struct Armed {
    pattern: EventPattern,
    seen: u64,
    action: Action,
    reached: Arc<AtomicBool>,
}

type Action = Box<dyn FnOnce(&Event) + Send>;

impl Triggers {
    pub(super) fn arm(&self, pattern: EventPattern, action: Action) -> Trigger {
        let reached = Arc::<AtomicBool>::default();
        self.armed.lock().push(Armed { pattern, seen: 0, action, reached: Arc::clone(&reached) });
        Trigger { reached }
    }

    /// Does what is to be done at this event, in the order of arming.
    pub(super) fn come(&self, event: &Event) {
        let due: Vec<_> = {
            let mut armed = self.armed.lock();
            if armed.is_empty() {
                return;
            }
            armed.extract_if(.., |armed| armed.pattern.count(&mut armed.seen, event)).collect()
        };
        // Outside the lock: an action may do anything, and arm others.
        for armed in due {
            armed.reached.store(true, Ordering::Relaxed);
            (armed.action)(event);
        }
    }

    /// The end of the world. Actions may hold on to the world that holds on to them.
    pub(super) fn clear(&self) {
        let armed = std::mem::take(&mut *self.armed.lock());
        drop(armed);
    }
}

impl fmt::Debug for Triggers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Triggers").field("armed", &self.armed.lock().len()).finish()
    }
}
