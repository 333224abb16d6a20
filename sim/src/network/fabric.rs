//! What carries packets: from event to event, on the world's time.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;
use turmoil_net::{EnterGuard, HostId, KernelConfig, Net, NetstatState, Packet};

use super::flow::{Flow, FlowState};
use super::link::{Disturbance, LinkSettings, Links, Way};
use super::names::Names;
use super::reset::{answer, length, reset};
use super::retransmission::{GIVEN_UP_AFTER_NS, after_losses_ns, next_ns};
use crate::world::{Streams, Time, TimerKey};

/// A host's place in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) usize);

/// How many hosts a world can have. `turmoil-net` takes them only before it begins.
pub(crate) const PLACES_MAX: usize = 32;

/// How many connections may wait to be accepted at one port: more than there are ports to come from.
const CONNECTIONS_WAITING_MAX: usize = 1 << 20;

/// How many directions of connections are kept without looking which have ended.
const FLOWS_SWEPT_MIN: usize = 256;

/// The largest packet. Large, since what is simulated is messages: a segment of them is one event.
const PACKET_BYTES_MAX: u32 = 65_000;

thread_local! {
    /// Whether this thread's network is there: sockets that outlive it must not touch it.
    static IS_UP: Cell<bool> = const { Cell::new(false) };
    /// Whether a socket was touched since packets were collected.
    static IS_DIRTY: Cell<bool> = const { Cell::new(false) };
    /// Takes up what was sent by tasks that it does not run itself; none, while it runs.
    static DRIVER: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

pub(super) fn is_up() -> bool {
    IS_UP.get()
}

pub(super) fn touch() {
    IS_DIRTY.set(true);
    if let Some(driver) = DRIVER.take() {
        driver.wake();
    }
}

pub(crate) struct Fabric {
    time: Arc<Time>,
    streams: Arc<Streams>,
    names: Names,
    inner: Mutex<Inner>,
}

struct Inner {
    net: Option<Installed>,
    links: Links,
    /// By arrival, then by the order of sending.
    under_way: BTreeMap<(u64, u64), Arrival>,
    order: u64,
    /// What does not get through now, with the time when it was sent.
    held: BTreeMap<Way, Vec<(Packet, u64)>>,
    flows: BTreeMap<Flow, FlowState>,
    /// How many there are before those that have ended are looked for.
    flows_swept_at: usize,
    off: BTreeSet<Place>,
    armed: Option<TimerKey>,
    driver: Waker,
    collected: Vec<Packet>,
}

struct Installed {
    guard: EnterGuard,
    hosts: Vec<(HostId, IpAddr)>,
    places: BTreeMap<IpAddr, Place>,
}

enum Arrival {
    Packet(Packet),
    /// The sender of a flow gives up what does not get through, if it still is what was sent then.
    GiveUp(Flow, u64),
}

impl Fabric {
    pub(crate) fn new(time: Arc<Time>, streams: Arc<Streams>) -> Self {
        let inner = Inner {
            net: None,
            links: Links::new(),
            under_way: BTreeMap::new(),
            order: 0,
            held: BTreeMap::new(),
            flows: BTreeMap::new(),
            flows_swept_at: FLOWS_SWEPT_MIN,
            off: BTreeSet::new(),
            armed: None,
            driver: Waker::noop().clone(),
            collected: Vec::new(),
        };
        Self { time, streams, names: Names::default(), inner: Mutex::new(inner) }
    }

    /// The identifier of the host at a place, and its address. The first call builds the network on this thread.
    pub(crate) fn host(&self, place: Place) -> Option<(HostId, IpAddr)> {
        let mut inner = self.inner.lock();
        inner.net.get_or_insert_with(install).hosts.get(place.0).copied()
    }

    /// What the hosts are called.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// The ways on which nothing gets through.
    pub(crate) fn cut_ways(&self) -> Vec<(Place, Place)> {
        self.inner.lock().links.cut_ways()
    }

    /// Tears the network down. On the world's thread.
    pub(crate) fn close(&self) {
        let net = self.inner.lock().net.take();
        IS_UP.set(false);
        DRIVER.set(None);
        drop(net);
    }

    /// Says who is to be woken when a packet is due, and that it runs.
    pub(crate) fn begin(&self, driver: &Waker) {
        self.inner.lock().driver.clone_from(driver);
        DRIVER.set(None);
    }

    /// The driver stops for now: whoever sends something wakes it.
    pub(crate) fn end(&self) {
        let inner = self.inner.lock();
        if inner.net.is_some() {
            DRIVER.set(Some(inner.driver.clone()));
        }
    }

    /// Delivers what is due, and takes up what was sent.
    pub(crate) fn turn(&self) {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        if inner.net.is_none() {
            return;
        }
        let now_ns = self.time.now_ns();
        loop {
            let has_delivered = inner.deliver_due(now_ns, &self.streams);
            if !IS_DIRTY.replace(false) && !has_delivered {
                break;
            }
            inner.collect(now_ns, &self.streams);
        }
        self.arm(inner);
    }

    /// One timer of the world stands for the packet that is due first.
    fn arm(&self, inner: &mut Inner) {
        let next_ns = inner.under_way.first_key_value().map(|((due_ns, _), _)| *due_ns);
        if inner.armed.map(|armed| armed.0) == next_ns {
            return;
        }
        let mut timers = self.time.timers.lock();
        let disarmed = inner.armed.take().and_then(|armed| timers.disarm(armed));
        inner.armed = next_ns.map(|next_ns| timers.arm(next_ns, inner.driver.clone()));
        drop(timers);
        drop(disarmed);
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner, u64, &Streams) -> T) -> T {
        let mut inner = self.inner.lock();
        let result = act(&mut inner, self.time.now_ns(), &self.streams);
        self.arm(&mut inner);
        result
    }

    pub(crate) fn set_default_link(&self, settings: LinkSettings) {
        self.inner.lock().links.set_default(settings);
    }

    pub(crate) fn set_link(&self, from: Place, to: Place, settings: LinkSettings) {
        self.inner.lock().links.set((from, to), settings);
    }

    pub(crate) fn link(&self, from: Place, to: Place) -> LinkSettings {
        self.inner.lock().links.get((from, to))
    }

    /// Changes what is wrong with a way. Whether that is a change.
    pub(crate) fn disturb(&self, from: Place, to: Place, change: impl Fn(&mut Disturbance)) -> bool {
        self.inner.lock().links.disturb((from, to), change)
    }

    /// Lets nothing through from one host to another, or everything that was held up and still is wanted. Whether that is a
    /// change.
    pub(crate) fn cut(&self, from: Place, to: Place, is_cut: bool) -> bool {
        self.with(|inner, now_ns, streams| {
            let is_change = inner.links.cut((from, to), is_cut);
            if !is_cut {
                inner.release((from, to), now_ns, streams);
            }
            is_change
        })
    }

    pub(crate) fn is_cut(&self, from: Place, to: Place) -> bool {
        self.inner.lock().links.is_cut((from, to))
    }

    /// Whether two hosts have a connection that one of them has not ended.
    pub(crate) fn is_connected(&self, one: Place, other: Place) -> bool {
        let inner = self.inner.lock();
        let between = |way: Option<Way>| way == Some((one, other)) || way == Some((other, one));
        let mut flows = inner.flows.iter();
        flows.any(|(flow, state)| !state.has_ended && !state.is_stale && between(inner.way_of(*flow)))
    }

    /// Breaks all connections between two hosts.
    pub(crate) fn reset(&self, one: Place, other: Place) {
        self.with(|inner, _, _| {
            let between = |way: Option<Way>| way == Some((one, other)) || way == Some((other, one));
            let flows: Vec<_> = inner.flows.keys().copied().filter(|flow| between(inner.way_of(*flow))).collect();
            for flow in flows {
                inner.break_flow(flow);
            }
        });
        touch();
    }

    /// The host is without power: nothing comes out of it, and nothing arrives.
    pub(crate) fn power_off(&self, place: Place) {
        self.inner.lock().off.insert(place);
    }

    /// The host begins another life, with power: it remembers no connection.
    pub(crate) fn restart(&self, place: Place) {
        self.with(|inner, now_ns, streams| {
            // What the operating system says of a process that is gone.
            inner.collect(now_ns, streams);
            inner.off.remove(&place);
            inner.forget_connections(place);
            let ways: Vec<_> = inner.held.keys().copied().filter(|way| way.1 == place).collect();
            for way in ways {
                if !inner.links.is_cut(way) {
                    inner.release(way, now_ns, streams);
                }
            }
        });
        touch();
    }
}

/// Whether a reset comes to a connection that a listener has not established yet. `turmoil-net` would never let go of its port
/// then; as it is, the listener forgets it when it is closed.
fn is_reset_of_handshake(packet: &Packet) -> bool {
    let Some((flow, segment)) = Flow::of(packet) else { return false };
    segment.flags.rst
        && turmoil_net::netstat(flow.to.ip()).entries.iter().any(|entry| {
            entry.state == Some(NetstatState::SynReceived) && entry.local == flow.to && entry.peer == Some(flow.from)
        })
}

fn install() -> Installed {
    let config = KernelConfig {
        mtu: PACKET_BYTES_MAX,
        // In passes over all queues, of which there may be any number before an acknowledgment has had the time to come.
        retx_threshold: u32::MAX,
        // A connection that finds no room there would have to be tried again, and nobody does.
        default_backlog: CONNECTIONS_WAITING_MAX,
        ..KernelConfig::default()
    };
    let mut net = Net::with_config(config);
    let mut hosts = Vec::with_capacity(PLACES_MAX);
    for place in 0..PLACES_MAX {
        let name = format!("host-{place}");
        let id = net.add_host(name.as_str());
        hosts.push((id, net.lookup(&name)));
    }
    let places = hosts.iter().enumerate().map(|(place, (_, address))| (*address, Place(place))).collect();
    let guard = net.enter();
    IS_UP.set(true);
    Installed { guard, hosts, places }
}

impl Inner {
    fn way_of(&self, flow: Flow) -> Option<Way> {
        let places = &self.net.as_ref()?.places;
        Some((*places.get(&flow.from.ip())?, *places.get(&flow.to.ip())?))
    }

    fn deliver(&self, packet: Packet) {
        let Some(net) = &self.net else { return };
        if !is_reset_of_handshake(&packet) {
            net.guard.deliver(packet);
        }
    }

    /// Whether anything arrived.
    fn deliver_due(&mut self, now_ns: u64, streams: &Streams) -> bool {
        let mut has_delivered = false;
        while let Some(first) = self.under_way.first_entry().filter(|first| first.key().0 <= now_ns) {
            has_delivered = true;
            match first.remove() {
                Arrival::Packet(packet) => self.arrive(packet, now_ns, streams),
                Arrival::GiveUp(flow, sent_ns) => self.give_up(flow, sent_ns),
            }
        }
        has_delivered
    }

    fn arrive(&mut self, packet: Packet, now_ns: u64, streams: &Streams) {
        let Some((flow, segment)) = Flow::of(&packet) else { return self.deliver(packet) };
        let Some(way) = self.way_of(flow) else { return };
        if self.off.contains(&way.1) {
            self.hold(way, flow, packet, now_ns);
            return;
        }
        let is_stale = self.flows.get(&flow).is_some_and(|state| state.is_stale);
        if !is_stale || segment.flags.rst {
            self.deliver(packet);
        } else if length(segment) > 0 || !self.has_ended(flow.reversed()) {
            let answer = answer(flow, segment);
            self.send((way.1, way.0), answer, now_ns, streams);
        }
    }

    /// Takes up what the hosts have sent.
    fn collect(&mut self, now_ns: u64, streams: &Streams) {
        let mut collected = std::mem::take(&mut self.collected);
        if let Some(net) = &self.net {
            net.guard.egress_all(&mut collected);
        }
        for packet in collected.drain(..) {
            self.take_up(packet, now_ns, streams);
        }
        self.collected = collected;
    }

    fn take_up(&mut self, packet: Packet, now_ns: u64, streams: &Streams) {
        let Some((flow, segment)) = Flow::of(&packet) else { return };
        let Some(way) = self.way_of(flow) else { return };
        if self.off.contains(&way.0) {
            return;
        }
        let state = self.flows.entry(flow).or_default();
        state.next_sequence = segment.seq.wrapping_add(length(segment));
        state.has_ended |= segment.flags.fin || segment.flags.rst;
        if segment.flags.syn {
            // A port that is used again.
            (state.has_ended, state.is_stale) = (false, false);
            self.forget_ended(now_ns);
        }
        if self.links.is_cut(way) {
            self.hold(way, flow, packet, now_ns);
        } else {
            self.send(way, packet, now_ns, streams);
        }
    }

    fn send(&mut self, way: Way, packet: Packet, now_ns: u64, streams: &Streams) {
        let passage = self.links.draw(way, streams);
        let sent_ns = after_losses_ns(now_ns, passage.losses);
        self.schedule(packet, sent_ns.saturating_add(passage.latency_ns));
    }

    /// A packet arrives at this time, or when the one before it does.
    fn schedule(&mut self, packet: Packet, arrival_ns: u64) {
        let arrival_ns = match Flow::of(&packet) {
            Some((flow, _)) => {
                let state = self.flows.entry(flow).or_default();
                state.last_arrival_ns = state.last_arrival_ns.max(arrival_ns);
                state.last_arrival_ns
            }
            None => arrival_ns,
        };
        self.order += 1;
        self.under_way.insert((arrival_ns, self.order), Arrival::Packet(packet));
    }

    fn hold(&mut self, way: Way, flow: Flow, packet: Packet, now_ns: u64) {
        let held = self.held.entry(way).or_default();
        let is_first = !held.iter().any(|(packet, _)| Flow::of(packet).is_some_and(|(held, _)| held == flow));
        let is_attempt = Flow::of(&packet).is_some_and(|(_, segment)| segment.flags.syn && !segment.flags.ack);
        held.push((packet, now_ns));
        // An attempt to connect has a limit of its own.
        if is_first && !is_attempt {
            self.order += 1;
            let at_ns = now_ns.saturating_add(GIVEN_UP_AFTER_NS);
            self.under_way.insert((at_ns, self.order), Arrival::GiveUp(flow, now_ns));
        }
    }

    /// What was held up comes with its next retransmission.
    fn release(&mut self, way: Way, now_ns: u64, streams: &Streams) {
        for (packet, sent_ns) in self.held.remove(&way).unwrap_or_default() {
            let passage = self.links.draw(way, streams);
            self.schedule(packet, next_ns(sent_ns, now_ns).saturating_add(passage.latency_ns));
        }
    }

    fn give_up(&mut self, flow: Flow, sent_ns: u64) {
        let Some(way) = self.way_of(flow) else { return };
        let Some(held) = self.held.get_mut(&way) else { return };
        let is_of_flow = |packet: &Packet| Flow::of(packet).is_some_and(|(held, _)| held == flow);
        let first = held.iter().find(|(packet, _)| is_of_flow(packet));
        // What was held up before may have got through since.
        if first.is_some_and(|(_, first_ns)| *first_ns == sent_ns) {
            held.retain(|(packet, _)| !is_of_flow(packet));
            self.deliver_reset(flow.reversed());
        }
    }

    /// Lets go of connections that both sides have ended, now and then.
    fn forget_ended(&mut self, now_ns: u64) {
        if self.flows.len() < self.flows_swept_at {
            return;
        }
        let is_over = |flow: Flow, flows: &BTreeMap<Flow, FlowState>| {
            flows.get(&flow).is_none_or(|state| state.has_ended && state.last_arrival_ns <= now_ns)
        };
        let over: Vec<_> = self
            .flows
            .keys()
            .copied()
            .filter(|flow| is_over(*flow, &self.flows) && is_over(flow.reversed(), &self.flows))
            .collect();
        for flow in over {
            self.flows.remove(&flow);
        }
        // So that the sweeps cost each connection no more than a few looks.
        self.flows_swept_at = (2 * self.flows.len()).max(FLOWS_SWEPT_MIN);
    }

    /// Whether the sender has said that it sends no more.
    fn has_ended(&self, flow: Flow) -> bool {
        self.flows.get(&flow).is_some_and(|state| state.has_ended)
    }

    /// Tells the receiver of a flow at once that its connection is gone.
    fn deliver_reset(&mut self, flow: Flow) {
        let sequence = self.flows.get(&flow).map(|state| state.next_sequence).unwrap_or_default();
        self.deliver(reset(flow, sequence));
    }

    fn break_flow(&mut self, flow: Flow) {
        self.deliver_reset(flow);
        self.flows.remove(&flow);
        self.under_way.retain(|_, arrival| match arrival {
            Arrival::Packet(packet) => Flow::of(packet).is_none_or(|(under_way, _)| under_way != flow),
            Arrival::GiveUp(given_up, _) => *given_up != flow,
        });
    }

    /// The host knows nothing of its connections any more; whoever speaks of one is told so.
    fn forget_connections(&mut self, place: Place) {
        let Some(net) = &self.net else { return };
        let Some((_, address)) = net.hosts.get(place.0).copied() else { return };
        let flows: Vec<_> = self.flows.keys().copied().filter(|flow| flow.touches(address)).collect();
        for flow in flows {
            if flow.to.ip() == address {
                self.deliver_reset(flow);
                if let Some(state) = self.flows.get_mut(&flow) {
                    state.is_stale = true;
                }
            }
        }
    }
}

impl fmt::Debug for Fabric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Fabric").finish_non_exhaustive()
    }
}
