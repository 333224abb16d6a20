//! Which faults come when, and which came.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use windtunnel_core::event::{Event, EventKind};

use super::claim::Claim;
use super::deed::Deed;
use super::kind::Target;
use super::random::Drawing;
use super::survey::{FaultPoint, Survey};
use super::{Fault, FaultKind, FaultPlan, RandomFaults, Undelivered, UndeliveredFault};
use crate::WorldError;
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

/// How many faults may come of each other: each within what the one before does.
const NESTED_MAX: u32 = 32;

/// What a fault that lasts does: its kind, the host, and the other one, if it is between two.
pub(super) type Ailment = (FaultKind, Arc<str>, Option<Arc<str>>);

/// Decides at every event which faults come, and sees to it that they do.
pub(crate) struct Injector {
    state: Mutex<State>,
    hosts: OnceLock<Weak<Hosts>>,
    /// How many faults are being carried out, each at an event that comes of the one before.
    nested: AtomicU32,
}

struct State {
    planned: Vec<Planned>,
    drawing: Option<Drawing>,
    survey: Option<Survey>,
    /// For the next tool, model or journal.
    pending: Vec<Pending>,
    delivered: Vec<DeliveredFault>,
    undelivered: Vec<UndeliveredFault>,
    /// All hosts that there ever were.
    hosts: BTreeSet<Arc<str>>,
    /// How many faults last that do the same.
    lasting: BTreeMap<Ailment, u64>,
    is_healed: bool,
}

struct Planned {
    index: usize,
    fault: Fault,
    seen: u64,
}

/// A fault whose event has come.
#[derive(Clone)]
struct Due {
    fault: Fault,
    /// Its place in the plan, if it is of that.
    index: Option<usize>,
}

/// A fault that waits for somebody to take it.
pub(super) struct Pending {
    due: Due,
    target: Target,
    /// Only for this tool.
    tool: Option<Arc<str>>,
}

impl Pending {
    pub(super) fn fault(&self) -> &Fault {
        &self.due.fault
    }
}

impl Injector {
    /// With faults that are planned, and drawn; and with these kinds, it notes where each could come.
    pub(crate) fn new(
        plan: &FaultPlan,
        random: Option<(&RandomFaults, ChaCha8Rng)>,
        surveyed: Option<BTreeSet<FaultKind>>,
    ) -> Self {
        let planned = plan.faults.iter().enumerate();
        let planned = planned.map(|(index, fault)| Planned { index, fault: fault.clone(), seen: 0 }).collect();
        let drawing = random.map(|(faults, generator)| Drawing::new(faults, generator));
        let state = State {
            planned,
            drawing,
            survey: surveyed.map(Survey::new),
            pending: Vec::new(),
            delivered: Vec::new(),
            undelivered: Vec::new(),
            hosts: BTreeSet::new(),
            lasting: BTreeMap::new(),
            is_healed: false,
        };
        Self { state: Mutex::new(state), hosts: OnceLock::new(), nested: AtomicU32::new(0) }
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
        for due in due {
            let nested = self.nested.load(Ordering::Relaxed);
            if nested >= NESTED_MAX {
                self.state.lock().miss(due, Undelivered::TooDeep);
            } else if let Some(deed) = Deed::of(&due.fault.action, event, &hosts, nested > 0) {
                let host = deed.host().clone();
                self.deliver(due.fault, Some(host));
                self.nested.store(nested + 1, Ordering::Relaxed);
                deed.act(&hosts);
                self.nested.store(nested, Ordering::Relaxed);
            } else {
                self.state.lock().miss(due, Undelivered::NothingToActOn);
            }
        }
    }

    /// The fault for whoever is about to act, if there is one.
    pub(super) fn claim(&self, target: Target, name: &str, host: Option<&Arc<str>>) -> Option<Claim<'_>> {
        let mut state = self.state.lock();
        let is_for =
            |pending: &Pending| pending.target == target && pending.tool.as_deref().is_none_or(|tool| tool == name);
        let place = state.pending.iter().position(is_for)?;
        Some(Claim::new(self, state.pending.remove(place), host.cloned()))
    }

    /// Whoever took it was not touched by it: it is for the next one.
    pub(super) fn give_back(&self, pending: Pending) {
        let mut state = self.state.lock();
        if state.is_healed {
            state.miss(pending.due, Undelivered::NobodyTookIt);
        } else {
            state.pending.insert(0, pending);
        }
    }

    pub(super) fn deliver(&self, fault: Fault, host: Option<Arc<str>>) {
        let Some(hosts) = self.hosts.get().and_then(Weak::upgrade) else { return };
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
        state.forget_pending();
    }

    /// There is a host of this name now.
    pub(crate) fn meet(&self, host: &Arc<str>) {
        self.state.lock().hosts.insert(Arc::clone(host));
    }

    /// The first planned fault about a host that there never was, with its name.
    pub(crate) fn stranger(&self, plan: &FaultPlan) -> Option<WorldError> {
        let hosts = &self.state.lock().hosts;
        let names =
            plan.faults.iter().enumerate().flat_map(|(index, fault)| fault.hosts().map(move |host| (index, host)));
        let (index, host) = names.into_iter().find(|(_, host)| !hosts.contains(*host))?;
        let hosts = hosts.iter().map(ToString::to_string).collect();
        Some(WorldError::UnknownHost { index, host: host.to_owned(), hosts })
    }

    /// The planned faults that did not come, in the order of the plan. At the end.
    pub(crate) fn undelivered(&self) -> Vec<UndeliveredFault> {
        let mut state = self.state.lock();
        state.forget_pending();
        for Planned { index, fault, seen } in std::mem::take(&mut state.planned) {
            state.miss(Due { fault, index: Some(index) }, Undelivered::NoEvent { seen });
        }
        let mut undelivered = std::mem::take(&mut state.undelivered);
        undelivered.sort_by_key(|fault| fault.index);
        undelivered
    }

    /// Where faults could have come, if that was to be noted. At the end.
    pub(crate) fn take_points(&self) -> Vec<FaultPoint> {
        self.state.lock().survey.take().map(Survey::into_points).unwrap_or_default()
    }

    pub(crate) fn delivered(&self) -> Vec<DeliveredFault> {
        self.state.lock().delivered.clone()
    }
}

impl State {
    /// The faults that the world is to carry out at this event. Those of tools, models and journals wait for them.
    fn due(&mut self, event: &Event) -> Vec<Due> {
        if self.is_healed {
            return Vec::new();
        }
        if let Some(survey) = &mut self.survey {
            survey.note(event);
        }
        if self.planned.is_empty() && self.drawing.is_none() {
            return Vec::new();
        }
        let mut due = Vec::new();
        self.planned.retain_mut(|planned| {
            let comes = planned.fault.when.count(&mut planned.seen, event);
            if comes {
                due.push(Due { fault: planned.fault.clone(), index: Some(planned.index) });
            }
            !comes
        });
        let drawn = self.drawing.as_mut().and_then(|drawing| drawing.at(event));
        due.extend(drawn.map(|fault| Due { fault, index: None }));
        let mut of_world = Vec::new();
        for due in due {
            match due.fault.action.kind().target() {
                Target::World => of_world.push(due),
                target => self.pending.push(Pending { due, target, tool: event.kind.tool().cloned() }),
            }
        }
        of_world
    }

    /// A fault does not come. Only what is planned is missed.
    fn miss(&mut self, Due { fault, index }: Due, why: Undelivered) {
        if let Some(index) = index {
            self.undelivered.push(UndeliveredFault { index, fault, why });
        }
    }

    /// Nobody will take what waits to be taken.
    fn forget_pending(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            self.miss(pending.due, Undelivered::NobodyTookIt);
        }
    }
}
