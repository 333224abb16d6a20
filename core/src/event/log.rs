//! Events kept in memory, with queries.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Event, Sink};
use crate::BoxError;

/// A sink that keeps every event. Clones share one log.
///
/// ```
/// use windtunnel_core::event::EventLog;
///
/// let log = EventLog::new();
/// // … hand `log.clone()` to an executor, make calls, then:
/// assert!(log.of_type("tool.retry").is_empty());
/// ```
#[derive(Clone, Default)]
pub struct EventLog {
    events: Arc<Mutex<Vec<Event>>>,
}

impl EventLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// All events so far, in order.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().clone()
    }

    /// All events, without copying them if there is no other clone of the log.
    pub fn into_events(self) -> Vec<Event> {
        match Arc::try_unwrap(self.events) {
            Ok(events) => events.into_inner(),
            Err(shared) => shared.lock().clone(),
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.lock().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events of one type, such as `tool.retry`.
    pub fn of_type(&self, name: &str) -> Vec<Event> {
        self.matching(|event| event.kind.name() == name)
    }

    /// The events of one call.
    pub fn of_call(&self, call_id: &str) -> Vec<Event> {
        self.matching(|event| event.call_id.as_deref() == Some(call_id))
    }

    /// The events of one run.
    pub fn of_run(&self, run_id: &str) -> Vec<Event> {
        self.matching(|event| &*event.run_id == run_id)
    }

    /// The events for which `wanted` is true.
    pub fn matching(&self, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        // From a copy, so that `wanted` may query the log too.
        self.events().into_iter().filter(wanted).collect()
    }
}

impl Sink for EventLog {
    fn record(&self, event: &Event) -> Result<(), BoxError> {
        self.events.lock().push(event.clone());
        Ok(())
    }
}

impl fmt::Debug for EventLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventLog").field("len", &self.len()).finish()
    }
}
