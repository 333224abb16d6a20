//! What happens when an event comes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use windtunnel_core::event::Event;

/// Which event of a run, counted among those that match.
///
/// ```
/// use windtunnel_sim::EventPattern;
///
/// let second_commit = EventPattern::named("operation.commit").on_host("worker-1").nth(2);
/// let any = EventPattern::any().nth(17);
/// assert_ne!(second_commit, any);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    name: Option<String>,
    host: Option<String>,
    nth: u64,
}

impl EventPattern {
    /// The first event.
    pub fn any() -> Self {
        Self { name: None, host: None, nth: 1 }
    }

    /// The first event of this name, such as `operation.executed`.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::any() }
    }

    /// Only events of this host.
    #[must_use]
    pub fn on_host(self, host: impl Into<String>) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// The `nth` of them, from 1; 0 is none.
    #[must_use]
    pub fn nth(self, nth: u64) -> Self {
        Self { nth, ..self }
    }

    fn matches(&self, event: &Event) -> bool {
        self.name.as_deref().is_none_or(|name| event.kind.name() == name)
            && self.host.as_deref().is_none_or(|host| event.host.as_deref() == Some(host))
    }
}

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
            armed.extract_if(.., |armed| armed.count(event)).collect()
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

impl Armed {
    /// Counts the event if it matches; says whether it is the one.
    fn count(&mut self, event: &Event) -> bool {
        if !self.pattern.matches(event) {
            return false;
        }
        self.seen += 1;
        self.seen == self.pattern.nth
    }
}

impl fmt::Debug for Triggers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Triggers").field("armed", &self.armed.lock().len()).finish()
    }
}
