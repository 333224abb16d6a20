//! All hosts of a world.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::machine::{Host, Machine};
use crate::network::{Disturbance, Fabric, PLACES_MAX, Place};
use crate::schedule::{Label, Owner, Tasks};
use crate::world::HostParts;

/// What hosts share.
pub(crate) struct Hosts {
    pub(super) tasks: Tasks,
    pub(super) fabric: Fabric,
    pub(super) parts: Arc<HostParts>,
    machines: Mutex<BTreeMap<Arc<str>, Arc<Machine>>>,
    lives: AtomicU64,
}

/// A world has no such host, or no room for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The name cannot be one.
    #[error("a host cannot be called {name:?}: a name has 1 to 63 letters, digits, hyphens and dots")]
    Name {
        /// The name.
        name: String,
    },
    /// There are as many as there can be.
    #[error("a world has room for {hosts_max} hosts, and {name:?} is one more")]
    TooMany {
        /// The name.
        name: String,
        /// How many there can be.
        hosts_max: usize,
    },
}

impl Hosts {
    pub(crate) fn new(tasks: Tasks, fabric: Fabric, parts: Arc<HostParts>) -> Self {
        Self { tasks, fabric, parts, machines: Mutex::default(), lives: AtomicU64::new(0) }
    }

    pub(crate) fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    pub(crate) fn parts(&self) -> &HostParts {
        &self.parts
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Ends everything: the tasks in the order in which they were begun, then the network. On the world's thread.
    pub(crate) fn close(&self) {
        let machines = std::mem::take(&mut *self.machines.lock());
        machines.values().for_each(|machine| machine.close());
        self.parts.close();
        if let Some(message) = self.tasks.drop_all() {
            self.parts.panicked(message);
        }
        self.fabric.close();
    }

    /// The host of this name; a new one, if there is none.
    pub(crate) fn host(self: &Arc<Self>, name: &str) -> Result<Host, HostError> {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
        if name.is_empty() || name.len() > 63 || !name.chars().all(is_letter) {
            return Err(HostError::Name { name: name.to_owned() });
        }
        let mut machines = self.machines.lock();
        if let Some(machine) = machines.get(name) {
            return Ok(Host::new(Arc::clone(machine), Arc::clone(self)));
        }
        let place = Place(machines.len());
        let Some((id, address)) = self.fabric.host(place) else {
            return Err(HostError::TooMany { name: name.to_owned(), hosts_max: PLACES_MAX });
        };
        self.fabric.names().give(address, name);
        let machine = Arc::new(Machine::new(name.into(), place, id, address, self.new_owner()));
        machines.insert(name.into(), Arc::clone(&machine));
        self.parts.injector.meet(&machine.name);
        Ok(Host::new(machine, Arc::clone(self)))
    }

    /// The host of this name, if there is one.
    pub(crate) fn find(self: &Arc<Self>, name: &str) -> Option<Host> {
        let machine = self.machines.lock().get(name).map(Arc::clone)?;
        Some(Host::new(machine, Arc::clone(self)))
    }

    /// All of them, by name.
    pub(crate) fn all(self: &Arc<Self>) -> Vec<Host> {
        let machines: Vec<_> = self.machines.lock().values().map(Arc::clone).collect();
        machines.into_iter().map(|machine| Host::new(machine, Arc::clone(self))).collect()
    }

    /// Runs a task that belongs to no host, as long as there is a world.
    pub(crate) fn spawn_of_world(&self, task: impl Future<Output = ()> + Send + 'static) {
        let label = Label { host: "the world".into(), name: Some("a repair".into()) };
        let _running = self.tasks.spawn(Owner(u64::MAX), label, task);
    }

    /// Repairs everything: whoever is down is started, whoever stands still goes on, every way is whole, every clock right.
    pub(crate) fn heal(self: &Arc<Self>) {
        let hosts = self.all();
        for (place, host) in hosts.iter().enumerate() {
            for other in &hosts[place + 1..] {
                host.reconnect(other);
                host.disturb(other, |disturbance| *disturbance = Disturbance::default());
            }
        }
        for host in &hosts {
            host.heal_disk();
            if host.clock_ahead_ns() != 0 {
                host.set_clock(0);
            }
            if !host.is_up() {
                host.restart();
            }
            host.resume();
        }
    }

    pub(super) fn new_owner(&self) -> Owner {
        Owner(self.lives.fetch_add(1, Ordering::Relaxed))
    }

    /// What is wrong with hosts, and with the ways between them.
    pub(crate) fn ailments(&self) -> Vec<String> {
        let machines = self.machines.lock();
        let name = |place| machines.values().find(|machine| machine.place == place).map(|machine| &machine.name);
        let of_hosts = machines.values().filter_map(|machine| machine.ailment());
        let cut = self.fabric.cut_ways().into_iter().filter_map(|(from, to)| Some((name(from)?, name(to)?)));
        of_hosts.chain(cut.map(|(from, to)| format!("nothing gets through from {from} to {to}"))).collect()
    }

    /// The address of a host's port.
    pub(super) fn address(&self, name: &str, port: u16) -> Option<SocketAddr> {
        self.machines.lock().get(name).map(|machine| SocketAddr::new(machine.address, port))
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.machines.lock().keys()).finish()
    }
}
