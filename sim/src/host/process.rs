//! A host, as the code that runs there sees it.

use std::fmt;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use windtunnel_core::env::{Env, panic_message};
use windtunnel_core::event::{Emitter, EventKind};

use super::hosts::Hosts;
use super::life::Life;
use super::machine::Machine;
use crate::Trace;
use crate::assertion::Assertions;
use crate::effect::Effects;
use crate::fault::Faults;
use crate::network::{Port, TcpListener, TcpStream};
use crate::schedule::{Label, Task};
use crate::world::subject_of_world;

/// One life of a host: its environment, its network, its disk, and a place for tasks. Cheap to clone. When the life is over, nothing
/// of it answers any more.
#[derive(Clone)]
pub struct Process {
    pub(super) machine: Arc<Machine>,
    pub(super) hosts: Arc<Hosts>,
    pub(super) life: Life,
    pub(super) env: Env,
}

impl Process {
    /// The host's name.
    pub fn host_name(&self) -> &Arc<str> {
        &self.machine.name
    }

    /// The host's time, chance and identity. Events that are emitted in it carry the host's name.
    pub fn env(&self) -> Env {
        self.env.clone()
    }

    /// The world's trace, a sink for events.
    pub fn trace(&self) -> Trace {
        self.hosts.parts.trace.clone()
    }

    /// Where tools, models and journals of this host get their faults.
    pub fn faults(&self) -> Faults {
        Faults::new(self.env(), &self.hosts.parts)
    }

    /// What really happens outside, from this host.
    pub fn effects(&self) -> Effects {
        self.hosts.parts.effects.clone().on_host(&self.env)
    }

    /// Says where this guest is, as an event at which the world may act.
    pub async fn mark(&self, mark: &str) {
        self.emitter().emit(&subject_of_world(), || EventKind::Mark { mark: mark.into() }).await;
    }

    /// What is asserted on this host.
    pub fn assertions(&self) -> Assertions {
        self.hosts.parts.assertions.clone().on_host(&self.env)
    }

    /// Whether this life is over.
    pub fn is_over(&self) -> bool {
        self.life.is_over()
    }

    /// Runs a task in this life, beside all others of the world: which of those that can go on does, follows from the
    /// world's seed. It is lost with the life; after its end nothing begins. If it panics, the world ends with that.
    pub fn spawn<T, F>(&self, future: F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.run(None, future)
    }

    /// As [`Process::spawn`], with a name by which a world that comes to no end speaks of the task.
    pub fn spawn_named<T, F>(&self, name: &str, future: F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.run(Some(name.into()), future)
    }

    fn run<T, F>(&self, name: Option<Arc<str>>, future: F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        if self.life.is_over() {
            return Task::lost();
        }
        let label = Label { host: Arc::clone(self.host_name()), name };
        let (hosts, name) = (Arc::clone(&self.hosts), Arc::clone(self.host_name()));
        let future = AssertUnwindSafe(future).catch_unwind();
        self.hosts.tasks.spawn(self.life.owner, label, async move {
            match future.await {
                Ok(value) => value,
                Err(payload) => {
                    hosts.parts.panicked(format!("on host {name}: {}", panic_message(&*payload)));
                    std::future::pending().await
                }
            }
        })
    }

    /// Listens for connections to a port.
    ///
    /// # Errors
    /// As the operating system's, such as [`io::ErrorKind::AddrInUse`].
    pub async fn listen(&self, port: u16) -> io::Result<TcpListener> {
        self.port().listen(port).await
    }

    /// Connects to a port of a host.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if no host has this name; else as the operating system's: refused by a host without a
    /// listener, and timed out after 127 s by one that does not answer.
    pub async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let address = self.hosts.address(host, port);
        let unknown = || io::Error::new(io::ErrorKind::NotFound, format!("there is no host {host:?}"));
        self.port().connect(address.ok_or_else(unknown)?, host).await
    }

    /// Emits what this life does.
    pub(super) fn emitter(&self) -> Emitter {
        Emitter::new(self.env.clone(), vec![Arc::clone(&self.hosts.parts.sink)])
    }

    fn port(&self) -> Port {
        Port {
            host: self.machine.id,
            is_frozen: Arc::clone(&self.life.is_frozen),
            sockets: self.life.sockets.clone(),
            env: self.env.clone(),
            emitter: self.emitter(),
            names: self.hosts.fabric.names().clone(),
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Process")
            .field("host", self.host_name())
            .field("is_over", &self.is_over())
            .finish_non_exhaustive()
    }
}
