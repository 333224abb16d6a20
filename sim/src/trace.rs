//! The trace of a run: its events, and a digest that runs along.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use windtunnel_core::BoxError;
use windtunnel_core::event::{Event, Sink};

/// A sink that keeps every event and digests the lines of their JSON form. Clones share it.
#[derive(Clone, Default)]
pub struct Trace {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    digest: Sha256,
    line: Vec<u8>,
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// The events so far, in order.
    pub fn events(&self) -> Vec<Event> {
        self.state.lock().events.clone()
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.state.lock().events.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The SHA-256 of all lines so far, as hexadecimal digits.
    pub fn digest(&self) -> String {
        let digest = self.state.lock().digest.clone().finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Sink for Trace {
    fn record(&self, event: &Event) -> Result<(), BoxError> {
        let State { events, digest, line } = &mut *self.state.lock();
        line.clear();
        serde_json::to_writer(&mut *line, event)?;
        line.push(b'\n');
        digest.update(&line);
        events.push(event.clone());
        Ok(())
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Trace").field("len", &self.len()).finish()
    }
}
