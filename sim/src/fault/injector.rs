//! Which faults come when, and which came.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use windtunnel_core::event::{Event, EventKind};

use super::deed::Deed;
use super::kind::Target;
use super::random::Drawing;
use super::{Fault, FaultAction, FaultKind, FaultPlan, RandomFaults};
use crate::host::Hosts;

/// A fault that came.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveredFault {
    /// The fault. What was drawn is said as it would be planned.
    pub fault: Fault,
    /// When, on the world's clock.
    pub at: Duration,
    /// Where, if that was on a host.
    pub host: Option<Arc<str>>,
}

/// One without an end counts as more than there can be with one.
const WITHOUT_END: u64 = 1 << 32;

/// What a fault that lasts does: its kind, the host, and the other one, if it is between two.
pub(super) type Ailment = (FaultKind, Arc<str>, Option<Arc<str>>);

/// Decides at every event which faults come, and sees to it that they do.
pub(crate) struct Injector {
    state: Mutex<State>,
    hosts: OnceLock<Weak<Hosts>>,
    /// Whether a fault is being carried out, of which further events come.
    is_acting: AtomicBool,
}

struct State {
    planned: Vec<Planned>,
    drawing: Option<Drawing>,
    /// For the next tool, model or journal.
    pending: Vec<Pending>,
    delivered: Vec<DeliveredFault>,
    /// How many faults last that do the same.
    lasting: BTreeMap<Ailment, u64>,
    is_healed: bool,
}

struct Planned {
    fault: Fault,
    seen: u64,
}

struct Pending {
    fault: Fault,
    target: Target,
    /// Only for this tool.
    tool: Option<Arc<str>>,
}

impl Injector {
    pub(crate) fn new(plan: &FaultPlan, random: Option<(&RandomFaults, ChaCha8Rng)>) -> Self {
        let planned = plan.faults.iter().map(|fault| Planned { fault: fault.clone(), seen: 0 }).collect();
        let drawing = random.map(|(faults, generator)| Drawing::new(faults, generator));
        let state = State {
            planned,
            drawing,
            pending: Vec::new(),
            delivered: Vec::new(),
            lasting: BTreeMap::new(),
            is_healed: false,
        };
        Self { state: Mutex::new(state), hosts: OnceLock::new(), is_acting: AtomicBool::new(false) }
    }

    /// Says on which hosts it acts.
    pub(crate) fn act_on(&self, hosts: &Arc<Hosts>) {
        let _only_once = self.hosts.set(Arc::downgrade(hosts));
    }

    /// An event comes: so do its faults.
    pub(crate) fn come(&self, event: &Event) {
        let due = self.state.lock().due(event);
        let Some(hosts) = self.hosts.get().and_then(Weak::upgrade) else { return };
        // Outside the lock: what is done to a host is an event too.
        for fault in due {
            let is_nested = self.is_acting.load(Ordering::Relaxed);
            if let Some(deed) = Deed::of(&fault.action, event, &hosts, is_nested) {
                let host = deed.host().clone();
                self.deliver(&hosts, fault, Some(host));
                self.is_acting.store(true, Ordering::Relaxed);
                deed.act(&hosts);
                self.is_acting.store(is_nested, Ordering::Relaxed);
            }
        }
    }

    /// The fault for whoever is about to act, if there is one.
    pub(crate) fn claim(&self, target: Target, name: &str, host: Option<&Arc<str>>) -> Option<FaultAction> {
        let hosts = self.hosts.get()?.upgrade()?;
        let fault = {
            let mut state = self.state.lock();
            let is_for =
                |pending: &Pending| pending.target == target && pending.tool.as_deref().is_none_or(|tool| tool == name);
            let place = state.pending.iter().position(is_for)?;
            state.pending.remove(place).fault
        };
        let action = fault.action.clone();
        self.deliver(&hosts, fault, host.cloned());
        Some(action)
    }

    fn deliver(&self, hosts: &Hosts, fault: Fault, host: Option<Arc<str>>) {
        let parts = hosts.parts();
        let kind = fault.action.kind().name();
        let delivered = DeliveredFault { fault, at: parts.env.now(), host: host.clone() };
        self.state.lock().delivered.push(delivered);
        parts.emit(host.as_ref(), || EventKind::FaultDelivered { fault: kind });
    }

    /// A fault begins that lasts, and has an end or not.
    pub(super) fn begin(&self, ailment: Ailment, has_end: bool) {
        let mut state = self.state.lock();
        let count = state.lasting.entry(ailment).or_default();
        *count = count.saturating_add(if has_end { 1 } else { WITHOUT_END });
    }

    /// Whether faults last that do this, and all of them have an end.
    pub(super) fn will_end(&self, ailment: &Ailment) -> bool {
        self.state.lock().lasting.get(ailment).is_some_and(|count| (1..WITHOUT_END).contains(count))
    }

    /// A fault that lasted is over. Whether no other one does the same.
    pub(super) fn end(&self, ailment: &Ailment) -> bool {
        let mut state = self.state.lock();
        let Some(count) = state.lasting.get_mut(ailment) else { return true };
        *count = count.saturating_sub(1);
        *count == 0
    }

    /// From now on nothing goes wrong any more.
    pub(crate) fn stop(&self) {
        let mut state = self.state.lock();
        state.is_healed = true;
        state.pending.clear();
    }

    pub(crate) fn delivered(&self) -> Vec<DeliveredFault> {
        self.state.lock().delivered.clone()
    }
}

impl State {
    /// The faults that the world is to carry out at this event. Those of tools, models and journals wait for them.
    fn due(&mut self, event: &Event) -> Vec<Fault> {
        if self.is_healed || (self.planned.is_empty() && self.drawing.is_none()) {
            return Vec::new();
        }
        let mut due = Vec::new();
        self.planned.retain_mut(|planned| {
            let comes = planned.fault.when.count(&mut planned.seen, event);
            if comes {
                due.push(planned.fault.clone());
            }
            !comes
        });
        due.extend(self.drawing.as_mut().and_then(|drawing| drawing.at(event)));
        let mut of_world = Vec::new();
        for fault in due {
            match fault.action.kind().target() {
                Target::World => of_world.push(fault),
                target => self.pending.push(Pending { fault, target, tool: event.kind.tool().cloned() }),
            }
        }
        of_world
    }
}
