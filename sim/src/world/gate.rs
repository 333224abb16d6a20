//! What a world does at an event.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use windtunnel_core::env::{Clock, Waits, panic_message};
use windtunnel_core::event::{Event, Gate};

use super::activity::Activity;
use super::clock::WorldClock;
use super::error::WorldError;
use super::trigger::Triggers;
use crate::fault::Injector;

/// What the world does when an event is emitted, before the step that it announces.
///
/// The wait is the executor's own: one at `tool.attempt` comes before the attempt's timeout begins. To make a tool slow,
/// wait inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    Continue,
    /// The step waits.
    Delay(Duration),
    /// The step never comes.
    Freeze,
}

pub(super) type React = Arc<dyn Fn(&Event) -> Reaction + Send + Sync>;

/// Holds the world's limit of events, and lets it react.
#[derive(Clone)]
pub(crate) struct WorldGate {
    pub(super) clock: WorldClock,
    pub(super) events_max: u64,
    pub(super) react: Option<React>,
    pub(super) triggers: Arc<Triggers>,
    pub(super) injector: Arc<Injector>,
    pub(super) waits: Waits,
}

impl WorldGate {
    fn triggered(&self, event: &Event) {
        let come = || {
            self.injector.come(event);
            self.triggers.come(event);
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(come)) {
            self.clock.time.end(WorldError::Panicked { message: panic_message(&*payload).to_owned() });
        }
    }
}

impl WorldGate {
    /// Never comes.
    fn freeze(&self, event: &Event) -> BoxFuture<'static, ()> {
        let call = event.call_id.as_ref().map(|call_id| format!("/{call_id}")).unwrap_or_default();
        let (name, run_id) = (event.kind.name(), &event.run_id);
        let waiting = self.waits.wait(format!("the step after `{name}` of {run_id}{call}, which the world froze"));
        Box::pin(async move {
            let _waiting = waiting;
            std::future::pending().await
        })
    }
}

impl Gate for WorldGate {
    fn pass(&self, event: &Event) -> Option<BoxFuture<'static, ()>> {
        self.triggered(event);
        let reaction = match &self.react {
            // Also a step that never waits must come to an end.
            _ if event.sequence >= self.events_max => {
                self.clock
                    .time
                    .end(WorldError::TooManyEvents { events_max: self.events_max, activity: Activity::default() });
                Reaction::Freeze
            }
            Some(react) => catch_unwind(AssertUnwindSafe(|| react(event))).unwrap_or_else(|payload| {
                self.clock.time.end(WorldError::Panicked { message: panic_message(&*payload).to_owned() });
                Reaction::Freeze
            }),
            None => Reaction::Continue,
        };
        match reaction {
            Reaction::Continue => None,
            Reaction::Delay(duration) => Some(self.clock.until(self.clock.now().saturating_add(duration))),
            Reaction::Freeze => Some(self.freeze(event)),
        }
    }
}

impl fmt::Debug for WorldGate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WorldGate").finish_non_exhaustive()
    }
}
