//! The world as the code in it sees it.

use std::sync::Arc;

use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Emitter, Event, EventKind, Sink, Subject};

use super::clock::WorldClock;
use super::error::WorldError;
use super::gate::{Reaction, WorldGate};
use super::inputs::Inputs;
use super::streams::Streams;
use super::trigger::Trigger;
use crate::Trace;
use crate::assertion::Assertions;
use crate::effect::Effects;
use crate::fault::{EventPattern, Faults, Injector};
use crate::host::{Host, HostError, Hosts};
use crate::network::LinkSettings;

/// What the environments of hosts are made of.
pub(crate) struct HostParts {
    pub(crate) clock: WorldClock,
    pub(crate) gate: WorldGate,
    pub(crate) streams: Arc<Streams>,
    pub(crate) env: Env,
    pub(crate) trace: Trace,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) injector: Arc<Injector>,
    pub(crate) effects: Effects,
    pub(crate) assertions: Assertions,
    pub(crate) inputs: Inputs,
    pub(crate) choices: Mutex<Vec<u64>>,
}

/// What the world's own events are about.
pub(crate) fn subject_of_world() -> Subject {
    thread_local! {
        static WORLD: Arc<str> = "world".into();
    }
    Subject { run_id: WORLD.with(Arc::clone), call_id: None, parent_id: None }
}

/// What a scenario gets of its world. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorldHandle {
    pub(super) seed: u64,
    pub(super) env: Env,
    pub(super) trace: Trace,
    pub(super) hosts: Arc<Hosts>,
}

impl HostParts {
    /// A guest panicked: the world ends as soon as nothing is left to run.
    pub(crate) fn panicked(&self, message: String) {
        self.clock.time.end(WorldError::Panicked { message });
    }

    /// Whether links can be set so; if not, the world ends with that.
    pub(crate) fn accept(&self, settings: &LinkSettings) -> bool {
        if !settings.is_valid() {
            self.clock.time.end(WorldError::InvalidLoss { loss: settings.loss });
        }
        settings.is_valid()
    }

    /// Emits an event of the world itself, on a host or on none.
    pub(crate) fn emit(&self, host: Option<&Arc<str>>, kind: impl FnOnce() -> EventKind) {
        let env = match host {
            Some(host) => self.env.clone().with_host(Arc::clone(host)),
            None => self.env.clone(),
        };
        Emitter::new(env, vec![Arc::clone(&self.sink)]).emit_now(&subject_of_world(), kind);
    }

    /// The end of the world.
    pub(crate) fn close(&self) {
        self.gate.triggers.clear();
    }
}

impl WorldHandle {
    /// The world's seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The world's time, chance and identity. Hand it to everything that runs in the world.
    pub fn env(&self) -> Env {
        self.env.clone()
    }

    /// The world's environment for a part of it that the world acts on alone, such as one process of many: at the events of
    /// whatever is given it, `react` says what happens, and not [`World::on_event`](crate::World::on_event).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windtunnel_sim::{Reaction, World};
    ///
    /// let run = World::new(0).run(|world| async move {
    ///     let slow = world.env_on_event(|_event| Reaction::Delay(Duration::from_secs(1)));
    ///     slow.now()
    /// });
    /// assert_eq!(run.outcome?, Duration::ZERO);
    /// # Ok::<(), windtunnel_sim::WorldError>(())
    /// ```
    pub fn env_on_event(&self, react: impl Fn(&Event) -> Reaction + Send + Sync + 'static) -> Env {
        let gate = WorldGate { react: Some(Arc::new(react)), ..self.hosts.parts().gate.clone() };
        self.env().with_gate(gate)
    }

    /// The host of this name; a new one that runs nothing, if there is none.
    ///
    /// # Errors
    /// [`HostError`] for a name that cannot be one, or the 33rd host.
    pub fn host(&self, name: &str) -> Result<Host, HostError> {
        self.hosts.host(name)
    }

    /// Does something when an event comes, before the step that it announces: a crash there is a crash exactly there.
    ///
    /// ```
    /// use windtunnel_sim::{EventPattern, World};
    ///
    /// let run = World::new(7).run(|world| async move {
    ///     let worker = world.host("worker")?;
    ///     let crashing = worker.clone();
    ///     let crash = world.at(EventPattern::named("operation.commit").nth(2), move |_event| crashing.crash());
    ///     // Here the worker would run.
    ///     Ok::<_, windtunnel_sim::HostError>(crash.was_reached())
    /// });
    /// assert_eq!(run.outcome?, Ok(false));
    /// # Ok::<(), windtunnel_sim::WorldError>(())
    /// ```
    pub fn at(&self, pattern: EventPattern, action: impl FnOnce(&Event) + Send + 'static) -> Trigger {
        self.hosts.parts().gate.triggers.arm(pattern, Box::new(action))
    }

    /// How packets travel between hosts that have no settings of their own.
    pub fn set_links(&self, settings: LinkSettings) {
        if self.hosts.parts().accept(&settings) {
            self.hosts.fabric().set_default_link(settings);
        }
    }

    /// Where tools, models and journals that are on no host get their faults.
    pub fn faults(&self) -> Faults {
        Faults::new(self.env(), self.hosts.parts())
    }

    /// What really happens outside.
    pub fn effects(&self) -> Effects {
        self.hosts.parts().effects.clone()
    }

    /// What is asserted in this run.
    pub fn assertions(&self) -> Assertions {
        self.hosts.parts().assertions.clone()
    }

    /// An input of the scenario, from `0..count`: what the seed draws, or what is repeated. A failure is shrunk towards 0.
    pub fn input(&self, name: &str, count: u64) -> u64 {
        self.hosts.parts().inputs.draw(name, count, &self.hosts.parts().streams)
    }

    /// The world's trace, a sink for events.
    pub fn trace(&self) -> Trace {
        self.trace.clone()
    }
}
