//! The trace of a run: its events, and their digest.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use windtunnel_core::BoxError;
use windtunnel_core::event::{Event, EventLog, Sink};

/// A sink that keeps every event, with a digest that runs along. Clones share it.
#[derive(Clone, Default)]
pub struct Trace {
    log: EventLog,
    digest: Arc<Mutex<RunningDigest>>,
}

/// The digest of the events so far. It catches up when it is asked for, so that runs nobody compares do not pay for it.
#[derive(Default)]
struct RunningDigest {
    hasher: Sha256,
    events: usize,
    line: Vec<u8>,
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The events so far, with queries.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// The SHA-256 of the events so far as JSON lines, in hexadecimal: equal for equal traces, in any process.
    pub fn digest(&self) -> String {
        let mut digest = self.digest.lock();
        digest.catch_up(&self.log.events());
        digest.hexadecimal()
    }

    /// The events, without copying them if nobody else has this trace.
    pub(crate) fn into_events(self) -> Vec<Event> {
        self.log.into_events()
    }
}

/// The digest of a whole trace.
pub(crate) fn digest(events: &[Event]) -> String {
    let mut digest = RunningDigest::default();
    digest.catch_up(events);
    digest.hexadecimal()
}

impl RunningDigest {
    fn catch_up(&mut self, events: &[Event]) {
        for event in events.iter().skip(self.events) {
            self.line.clear();
            // A value with string keys always has a JSON form.
            let _infallible = serde_json::to_writer(&mut self.line, event);
            self.line.push(b'\n');
            self.hasher.update(&self.line);
        }
        self.events = events.len();
    }

    fn hexadecimal(&self) -> String {
        self.hasher.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Sink for Trace {
    fn record(&self, event: &Event) -> Result<(), BoxError> {
        self.log.record(event)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Trace").field("log", &self.log).finish_non_exhaustive()
    }
}
