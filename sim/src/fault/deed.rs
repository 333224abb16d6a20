//! What the world does to hosts, links and clocks.

use std::sync::Arc;
use std::time::Duration;

use windtunnel_core::env::Clock;
use windtunnel_core::event::{Event, EventKind};

use super::FaultAction;
use super::action::duration;
use crate::disk::Flushes;
use crate::host::{Host, Hosts};

/// An action that can be carried out now: its host, and those at the other end.
pub(super) struct Deed {
    action: FaultAction,
    host: Host,
    peers: Vec<Host>,
}

impl Deed {
    /// The action on the hosts that it or the event names; nothing, if there is no such host, or nothing to be done.
    /// `is_nested`, if the event comes of a deed.
    pub(super) fn of(action: &FaultAction, event: &Event, hosts: &Arc<Hosts>, is_nested: bool) -> Option<Self> {
        let name = action.host().or(event.host.as_deref())?;
        let host = hosts.find(name)?;
        // The other end of the event is its host, if the action names its peer.
        let ends = event.kind.peer().into_iter().chain(event.host.as_ref().filter(|_| event.kind.peer().is_some()));
        let peers = match action.peer().or_else(|| ends.map(|end| &**end).find(|end| *end != name)) {
            Some(peer) if peer == name => return None,
            Some(peer) => vec![hosts.find(peer)?],
            None => hosts.all().into_iter().filter(|peer| peer.name() != host.name()).collect(),
        };
        // A start that a fault brings about is no place for a restart: restarts of restarts would have no end.
        let is_start = matches!(event.kind, EventKind::HostStarted {}) && event.host.as_deref() == Some(name);
        let has_effect = match action {
            FaultAction::HostCrash { .. } => host.is_up(),
            FaultAction::HostRestart { .. } => host.is_up() && !(is_nested && is_start),
            FaultAction::HostPowerCut { .. } | FaultAction::DiskTornWrite { .. } => host.has_power(),
            FaultAction::HostPause { .. } => host.is_up() && !host.is_paused(),
            FaultAction::NetworkPartition { one_way, .. } => {
                peers.iter().any(|peer| !host.is_cut_towards(peer) || (!one_way && !peer.is_cut_towards(&host)))
            }
            FaultAction::NetworkReset { .. } => peers.iter().any(|peer| host.is_connected(peer)),
            FaultAction::NetworkLatency { .. } | FaultAction::NetworkLoss { .. } => !peers.is_empty(),
            FaultAction::ClockSkew { ahead_s, .. } => host.clock_ahead_ns() != nanoseconds(*ahead_s),
            FaultAction::ClockJump { by_s, .. } => nanoseconds(*by_s) != 0,
            _ => true,
        };
        has_effect.then(|| Self { action: action.clone(), host, peers })
    }

    pub(super) fn host(&self) -> &Arc<str> {
        self.host.name()
    }

    pub(super) fn act(self, hosts: &Arc<Hosts>) {
        let Self { action, host, peers } = self;
        match action {
            FaultAction::HostCrash { restart_after_s, .. } => {
                host.crash();
                later(hosts, restart_after_s, move || start_again(&host));
            }
            FaultAction::HostPowerCut { restart_after_s, .. } => {
                host.power_cut();
                later(hosts, restart_after_s, move || start_again(&host));
            }
            FaultAction::HostPause { resume_after_s, .. } => {
                host.pause();
                later(hosts, resume_after_s, move || host.resume());
            }
            FaultAction::HostRestart { .. } => host.restart(),
            FaultAction::ClockSkew { ahead_s, .. } => host.set_clock(nanoseconds(ahead_s)),
            FaultAction::ClockJump { by_s, .. } => {
                host.set_clock(host.clock_ahead_ns().saturating_add(nanoseconds(by_s)));
            }
            FaultAction::DiskTornWrite { restart_after_s, .. } => {
                host.tear_write();
                host.power_cut();
                host.mend_disk(|faults| faults.is_tearing = false);
                later(hosts, restart_after_s, move || start_again(&host));
            }
            FaultAction::DiskLoseFlush { heal_after_s, .. } => {
                host.lose_flushes();
                later(hosts, heal_after_s, move || host.mend_disk(|faults| faults.flushes = Flushes::Kept));
            }
            FaultAction::DiskFull { heal_after_s, .. } => {
                host.fill_disk();
                later(hosts, heal_after_s, move || host.mend_disk(|faults| faults.is_full = false));
            }
            FaultAction::DiskError { heal_after_s, .. } => {
                host.fail_disk();
                later(hosts, heal_after_s, move || host.mend_disk(|faults| faults.is_failing = false));
            }
            _ => disturb(hosts, action, host, peers),
        }
    }
}

/// What is done to links.
fn disturb(hosts: &Arc<Hosts>, action: FaultAction, host: Host, peers: Vec<Host>) {
    match action {
        FaultAction::NetworkPartition { one_way, heal_after_s, .. } => {
            for peer in &peers {
                if one_way { host.partition_towards(peer) } else { host.partition(peer) }
            }
            later(hosts, heal_after_s, move || peers.iter().for_each(|peer| host.reconnect(peer)));
        }
        FaultAction::NetworkLatency { latency_s, heal_after_s, .. } => {
            let latency = duration(latency_s);
            for peer in &peers {
                host.disturb(peer, |link| (link.latency_min, link.latency_max) = (latency, latency));
            }
            later(hosts, heal_after_s, move || peers.iter().for_each(|peer| host.calm(peer)));
        }
        FaultAction::NetworkLoss { loss, heal_after_s, .. } => {
            for peer in &peers {
                host.disturb(peer, |link| link.loss = loss);
            }
            later(hosts, heal_after_s, move || peers.iter().for_each(|peer| host.calm(peer)));
        }
        FaultAction::NetworkReset { .. } => peers.iter().for_each(|peer| host.reset_connections(peer)),
        _ => {}
    }
}

fn start_again(host: &Host) {
    if !host.is_up() {
        host.restart();
    }
}

/// Does it so many seconds later, as the world's own; never, if it does not say when.
fn later(hosts: &Arc<Hosts>, after_s: Option<f64>, act: impl FnOnce() + Send + 'static) {
    let Some(after) = after_s.map(duration) else { return };
    let clock = hosts.parts().clock.clone();
    hosts.spawn_of_world(async move {
        clock.until(clock.now().saturating_add(after)).await;
        act();
    });
}

/// As far as a clock can be wrong at the most.
fn nanoseconds(seconds: f64) -> i64 {
    let nanoseconds = i64::try_from(Duration::try_from_secs_f64(seconds.abs()).unwrap_or_default().as_nanos());
    let nanoseconds = nanoseconds.unwrap_or(i64::MAX);
    if seconds < 0.0 { -nanoseconds } else { nanoseconds }
}
