//! Stamps events and hands them on.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::{Event, EventKind, Sink, mirror};
use crate::env::Env;

/// Whom an event is about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The run.
    pub run_id: Arc<str>,
    /// The call.
    pub call_id: Option<Arc<str>>,
    /// The enclosing call.
    pub parent_id: Option<Arc<str>>,
}

/// Numbers and times events, records them, mirrors them to `tracing`, and lets the world act.
///
/// The sequence is the environment's: it orders all events of one world or process.
#[derive(Clone)]
pub struct Emitter {
    env: Env,
    sinks: Vec<Arc<dyn Sink>>,
}

impl Emitter {
    /// An emitter to all of `sinks`.
    pub fn new(env: Env, sinks: Vec<Arc<dyn Sink>>) -> Self {
        Self { env, sinks }
    }

    /// An emitter to this sink alone.
    #[must_use]
    pub fn to(&self, sink: Arc<dyn Sink>) -> Self {
        Self { env: self.env.clone(), sinks: vec![sink] }
    }

    /// An emitter to one more sink.
    #[must_use]
    pub fn and(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// The same with the time, the sequence and the gate of another environment.
    #[must_use]
    pub fn in_env(self, env: Env) -> Self {
        Self { env, ..self }
    }

    /// Whether anybody would see an event now.
    pub fn is_heard(&self) -> bool {
        !self.sinks.is_empty() || self.env.gate().is_some() || mirror::is_on()
    }

    /// Emits one event; ready at once in production.
    ///
    /// The event is made only if somebody will see it. A sink that fails or panics is logged, no more (E13).
    pub async fn emit(&self, subject: &Subject, kind: impl FnOnce() -> EventKind) {
        if let Some(acting) = self.record(subject, kind) {
            acting.await;
        }
    }

    /// Emits one event where nothing may wait, as in `Drop` and in `poll`: a world sees it and may act, but the step that it
    /// announces does not wait.
    pub fn emit_now(&self, subject: &Subject, kind: impl FnOnce() -> EventKind) {
        let _unawaited = self.record(subject, kind);
    }

    fn record(&self, subject: &Subject, kind: impl FnOnce() -> EventKind) -> Option<BoxFuture<'static, ()>> {
        let mirrored = mirror::is_on();
        let gate = self.env.gate();
        if self.sinks.is_empty() && gate.is_none() && !mirrored {
            return None;
        }
        if !self.env.is_open() {
            return Some(Box::pin(std::future::pending()));
        }
        let kind = kind();
        // Held while the sink takes the event, so that sinks see the order of the sequence.
        let mut sequence = self.env.event_sequence().lock();
        let event = Event {
            sequence: *sequence,
            at: self.env.now(),
            host: self.env.host().cloned(),
            run_id: Arc::clone(&subject.run_id),
            call_id: subject.call_id.clone(),
            parent_id: subject.parent_id.clone(),
            kind,
        };
        *sequence += 1;
        for sink in &self.sinks {
            deliver(&**sink, &event);
        }
        drop(sequence);
        if mirrored {
            mirror::record(&event);
        }
        gate.and_then(|gate| gate.pass(&event))
    }
}

fn deliver(sink: &dyn Sink, event: &Event) {
    match catch_unwind(AssertUnwindSafe(|| sink.record(event))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(event = event.kind.name(), "an event sink failed; the event is lost to it");
            tracing::debug!(%error, "the event sink's error");
        }
        Err(_panic) => tracing::warn!(event = event.kind.name(), "an event sink panicked; the event is lost to it"),
    }
}

impl fmt::Debug for Emitter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Emitter").field("sinks", &self.sinks.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::event::{EventLog, Gate};

    #[derive(Clone)]
    struct Door(Arc<AtomicBool>);

    impl Gate for Door {
        fn is_open(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }

        fn pass(&self, _event: &Event) -> Option<BoxFuture<'static, ()>> {
            None
        }
    }

    #[test]
    fn behind_a_closed_gate_nothing_happens_and_no_step_comes() {
        let door = Door(Arc::new(AtomicBool::new(true)));
        let (env, log) = (Env::system().with_host("bank".into()).with_gate(door.clone()), EventLog::new());
        let emitter = Emitter::new(env.clone(), vec![Arc::new(log.clone())]);
        let subject = Subject { run_id: "run-1".into(), call_id: None, parent_id: None };
        let emitted =
            || pin!(emitter.emit(&subject, || EventKind::RunStarted {})).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((env.is_open(), emitted(), log.len()), (true, Poll::Ready(()), 1));
        assert_eq!(log.events()[0].host.as_deref(), Some("bank"));
        door.0.store(false, Ordering::Relaxed);
        assert_eq!((env.is_open(), emitted(), log.len()), (false, Poll::Pending, 1));
        emitter.emit_now(&subject, || EventKind::RunFinished {});
        assert_eq!(log.len(), 1);
    }
}
