//! What the world does to hosts, links and clocks.

use std::sync::Arc;
use std::time::Duration;

use windtunnel_core::env::Clock;
use windtunnel_core::event::{Event, EventKind};

use super::action::duration;
use super::injector::Ailment;
use super::{FaultAction, FaultKind};
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
                // What is cut by a fault may now be so for longer.
                let lasts = |from: &Host, to: &Host| {
                    let cut = (FaultKind::NetworkPartition, Arc::clone(from.name()), Some(Arc::clone(to.name())));
                    !from.is_cut_towards(to) || hosts.parts().injector.will_end(&cut)
                };
                peers.iter().any(|peer| lasts(&host, peer) || (!one_way && lasts(peer, &host)))
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
        let kind = action.kind();
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
                last(hosts, resume_after_s, vec![Lasting::of(kind, &host, |host| host.resume())]);
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
                let mend = |host: &Host| host.mend_disk(|faults| faults.flushes = Flushes::Kept);
                last(hosts, heal_after_s, vec![Lasting::of(kind, &host, mend)]);
            }
            FaultAction::DiskFull { heal_after_s, .. } => {
                host.fill_disk();
                let mend = |host: &Host| host.mend_disk(|faults| faults.is_full = false);
                last(hosts, heal_after_s, vec![Lasting::of(kind, &host, mend)]);
            }
            FaultAction::DiskError { heal_after_s, .. } => {
                host.fail_disk();
                let mend = |host: &Host| host.mend_disk(|faults| faults.is_failing = false);
                last(hosts, heal_after_s, vec![Lasting::of(kind, &host, mend)]);
            }
            _ => disturb(hosts, action, host, peers),
        }
    }
}

/// What is done to links.
fn disturb(hosts: &Arc<Hosts>, action: FaultAction, host: Host, peers: Vec<Host>) {
    let kind = action.kind();
    match action {
        FaultAction::NetworkPartition { one_way, heal_after_s, .. } => {
            let mut cuts = Vec::new();
            for peer in &peers {
                let ways = if one_way { vec![(&host, peer)] } else { vec![(&host, peer), (peer, &host)] };
                for (from, to) in ways {
                    from.cut(to, true);
                    cuts.push(Lasting::between(kind, from, to, |from, to| from.cut(to, false)));
                }
            }
            last(hosts, heal_after_s, cuts);
        }
        FaultAction::NetworkLatency { latency_s, heal_after_s, .. } => {
            let latency = duration(latency_s);
            peers.iter().for_each(|peer| host.disturb(peer, |disturbance| disturbance.latency = Some(latency)));
            let calm = |host: &Host, peer: &Host| host.disturb(peer, |disturbance| disturbance.latency = None);
            last(hosts, heal_after_s, peers.iter().map(|peer| Lasting::between(kind, &host, peer, calm)).collect());
        }
        FaultAction::NetworkLoss { loss, heal_after_s, .. } => {
            peers.iter().for_each(|peer| host.disturb(peer, |disturbance| disturbance.loss = Some(loss)));
            let calm = |host: &Host, peer: &Host| host.disturb(peer, |disturbance| disturbance.loss = None);
            last(hosts, heal_after_s, peers.iter().map(|peer| Lasting::between(kind, &host, peer, calm)).collect());
        }
        FaultAction::NetworkReset { .. } => peers.iter().for_each(|peer| host.reset_connections(peer)),
        _ => {}
    }
}

/// What lasts until it is undone.
struct Lasting {
    what: Ailment,
    undo: Box<dyn FnOnce() + Send>,
}

impl Lasting {
    fn of(kind: FaultKind, host: &Host, undo: impl FnOnce(&Host) + Send + 'static) -> Self {
        let (what, host) = ((kind, Arc::clone(host.name()), None), host.clone());
        Self { what, undo: Box::new(move || undo(&host)) }
    }

    fn between(kind: FaultKind, host: &Host, peer: &Host, undo: impl FnOnce(&Host, &Host) + Send + 'static) -> Self {
        let what = (kind, Arc::clone(host.name()), Some(Arc::clone(peer.name())));
        let (host, peer) = (host.clone(), peer.clone());
        Self { what, undo: Box::new(move || undo(&host, &peer)) }
    }
}

/// Undoes each so many seconds later, unless another fault that did the same lasts longer; never, if it does not say when.
fn last(hosts: &Arc<Hosts>, after_s: Option<f64>, lasting: Vec<Lasting>) {
    let injector = Arc::clone(&hosts.parts().injector);
    lasting.iter().for_each(|lasting| injector.begin(lasting.what.clone(), after_s.is_some()));
    later(hosts, after_s, move || {
        for lasting in lasting {
            if injector.end(&lasting.what) {
                (lasting.undo)();
            }
        }
    });
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
