//! A host, as whoever tests sees it: what is done to it from outside.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use turmoil_net::HostId;
use windtunnel_core::env::Env;
use windtunnel_core::event::EventKind;

use super::clock::{HostClock, HostGate, Skew};
use super::hosts::Hosts;
use super::life::Life;
use super::process::Process;
use crate::disk::Device;
use crate::network::{Disturbance, LinkSettings, Place};
use crate::schedule::{Owner, Task, drop_quietly};
use crate::world::{SharedStreams, Streams};

type Program = Arc<dyn Fn(Process) -> BoxFuture<'static, ()> + Send + Sync>;

/// What there is of a host, whatever life it is in.
pub(super) struct Machine {
    pub(super) name: Arc<str>,
    pub(super) place: Place,
    pub(super) id: HostId,
    pub(super) address: IpAddr,
    skew: Skew,
    /// The disk. There is none before it is used.
    pub(super) device: OnceLock<Device>,
    state: Mutex<State>,
}

struct State {
    life: Life,
    power: Power,
    is_paused: bool,
    program: Option<Program>,
    has_finished: bool,
    /// Those that wait for the program's end.
    waiting: Vec<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    /// Its process runs.
    Up,
    /// It has power, and no process.
    Crashed,
    Off,
}

impl Machine {
    pub(super) fn new(name: Arc<str>, place: Place, id: HostId, address: IpAddr, owner: Owner) -> Self {
        let state = State {
            life: Life::new(owner),
            power: Power::Up,
            is_paused: false,
            program: None,
            has_finished: false,
            waiting: Vec::new(),
        };
        Self { name, place, id, address, skew: Skew::default(), device: OnceLock::new(), state: Mutex::new(state) }
    }

    /// Its disk, whatever life it is in.
    pub(super) fn device(&self, streams: &Streams) -> &Device {
        self.device.get_or_init(|| Device::new(streams.generator(&format!("disk/{}", self.name))))
    }

    /// What may keep others waiting for it.
    pub(super) fn ailment(&self) -> Option<String> {
        let state = self.state.lock();
        match state.power {
            Power::Off => Some(format!("{} is without power", self.name)),
            Power::Crashed => Some(format!("{} is down: its process was killed", self.name)),
            Power::Up if state.is_paused => Some(format!("{} stands still: it was paused", self.name)),
            Power::Up => None,
        }
    }

    /// The program has come to its end.
    fn finish(&self) {
        let waiting = {
            let mut state = self.state.lock();
            state.has_finished = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The end of the world. The program may hold on to the world that holds on to it.
    pub(super) fn close(&self) {
        let program = {
            let mut state = self.state.lock();
            state.life.freeze();
            state.program.take()
        };
        drop(program);
    }
}

/// A host of a world. Cheap to clone.
///
/// ```
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use windtunnel_sim::World;
///
/// let run = World::new(7).run(|world| async move {
///     world.host("greeter")?.start(|process| async move {
///         let Ok(listener) = process.listen(80).await else { return };
///         while let Ok((mut stream, _)) = listener.accept().await {
///             let _nobody_listens = stream.write_all(b"hello").await;
///         }
///     });
///     let asker = world.host("asker")?.process();
///     let mut stream = asker.connect("greeter", 80).await?;
///     let mut text = String::new();
///     stream.read_to_string(&mut text).await?;
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(text)
/// });
/// assert_eq!(run.outcome?.unwrap(), "hello");
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
#[derive(Clone)]
pub struct Host {
    pub(super) machine: Arc<Machine>,
    pub(super) hosts: Arc<Hosts>,
}

impl Host {
    pub(super) fn new(machine: Arc<Machine>, hosts: Arc<Hosts>) -> Self {
        Self { machine, hosts }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.machine.name
    }

    /// Starts a program now, and again whenever the host is restarted. What it runs beside itself it spawns by
    /// [`Process::spawn`]: **what is spawned with `tokio::spawn` is no part of the host's life**, and goes on after a crash,
    /// though without network, time and events of that host.
    pub fn start<F, Fut>(&self, program: F)
    where
        F: Fn(Process) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let program: Program = Arc::new(move |process| Box::pin(program(process)));
        self.machine.state.lock().program = Some(Arc::clone(&program));
        self.boot(program);
    }

    fn boot(&self, program: Program) {
        // Of this life, also if the world begins another one at this very event.
        let process = self.process();
        self.machine.state.lock().has_finished = false;
        self.emit(EventKind::HostStarted {});
        let machine = Arc::clone(&self.machine);
        // What a program does before it first waits is a step of its task.
        let _running = process.clone().spawn_named("program", async move {
            program(process).await;
            machine.finish();
        });
    }

    /// Waits until the host's program has come to its end, in this life or a later one.
    pub async fn finished(&self) {
        let ended = std::future::poll_fn(|context| {
            let mut state = self.machine.state.lock();
            if state.has_finished {
                return Poll::Ready(());
            }
            if !state.waiting.iter().any(|waiting| waiting.will_wake(context.waker())) {
                state.waiting.push(context.waker().clone());
            }
            Poll::Pending
        });
        let what = format!("the end of the program of {}", self.name());
        self.hosts.parts.env.waiting(&what, ended).await;
    }

    /// The process that runs there in its present life, to run more in it.
    pub fn process(&self) -> Process {
        let life = self.machine.state.lock().life.clone();
        let parts = &self.hosts.parts;
        let clock = HostClock { world: parts.clock.clone(), life: life.clone(), skew: Arc::clone(&self.machine.skew) };
        let gate = HostGate { world: parts.gate.clone(), life: life.clone() };
        let name = &self.machine.name;
        let chance = SharedStreams { streams: Arc::clone(&parts.streams), host: Some(Arc::clone(name)) };
        let env = parts.env.clone().with_clock(clock.clone()).with_blocking(clock).with_rng(chance);
        let env = env.with_gate(gate).with_host(Arc::clone(name));
        Process { machine: Arc::clone(&self.machine), hosts: Arc::clone(&self.hosts), life, env }
    }

    /// Runs a task in the present life.
    pub fn spawn<T, F>(&self, future: F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.process().spawn(future)
    }

    /// Whether a process runs there.
    pub fn is_up(&self) -> bool {
        self.machine.state.lock().power == Power::Up
    }

    /// Whether it has power.
    pub fn has_power(&self) -> bool {
        self.machine.state.lock().power != Power::Off
    }

    /// Whether its process stands still.
    pub fn is_paused(&self) -> bool {
        self.machine.state.lock().is_paused
    }

    fn emit(&self, kind: EventKind) {
        self.hosts.parts.emit(Some(self.name()), || kind);
    }

    /// Kills the process, as `SIGKILL` does: first nothing of it acts any more, then its tasks are dropped. Its destructors
    /// can save nothing and tell nobody, but the operating system closes its connections, and keeps what was written to the
    /// [disk](Process::disk). Nothing, if none runs.
    pub fn crash(&self) {
        self.end(Power::Crashed);
    }

    /// Cuts the power: as [`Host::crash`], and nobody hears of it. What others send is lost until the host is restarted; what
    /// was not synced to the [disk](Process::disk) is lost, or torn, or not.
    pub fn power_cut(&self) {
        self.hosts.fabric.power_off(self.machine.place);
        self.end(Power::Off);
    }

    fn end(&self, power: Power) {
        let life = {
            let mut state = self.machine.state.lock();
            if state.power == Power::Off || state.power == power {
                return;
            }
            (state.power, state.is_paused) = (power, false);
            state.life.clone()
        };
        life.freeze();
        if let (Power::Off, Some(device)) = (power, self.machine.device.get()) {
            device.power_cut();
        }
        self.emit(if power == Power::Off { EventKind::HostPowerCut {} } else { EventKind::HostCrashed {} });
        self.hosts.tasks.pause(life.owner, false);
        for task in self.hosts.tasks.take_all(life.owner) {
            if let Some(message) = drop_quietly(task) {
                self.hosts.parts.panicked(format!("on host {}: {message}", self.name()));
            }
        }
        life.sockets.close_all(self.machine.id);
    }

    /// Starts the host's program in a new life; first the old one ends, as by a crash, if it still runs.
    pub fn restart(&self) {
        self.end(Power::Crashed);
        let program = {
            let mut state = self.machine.state.lock();
            state.power = Power::Up;
            state.life = Life::new(self.hosts.new_owner());
            state.program.clone()
        };
        self.hosts.fabric.restart(self.machine.place);
        if let Some(program) = program {
            self.boot(program);
        }
    }

    /// Lets the process stand still, as `SIGSTOP` does: its timers and packets wait for it.
    pub fn pause(&self) {
        self.stand_still(true);
    }

    /// Lets a paused process go on.
    pub fn resume(&self) {
        self.stand_still(false);
    }

    fn stand_still(&self, is_paused: bool) {
        let owner = {
            let mut state = self.machine.state.lock();
            if state.power != Power::Up || state.is_paused == is_paused {
                return;
            }
            state.is_paused = is_paused;
            state.life.owner
        };
        self.hosts.tasks.pause(owner, is_paused);
        self.emit(if is_paused { EventKind::HostPaused {} } else { EventKind::HostResumed {} });
    }

    /// Puts the wall clock of this host ahead of the world's by so much, from now on and in later lives.
    pub fn put_clock_ahead(&self, by: Duration) {
        self.set_clock(i64::try_from(by.as_nanos()).unwrap_or(i64::MAX));
    }

    /// Puts the wall clock of this host behind the world's by so much, from now on and in later lives.
    pub fn put_clock_behind(&self, by: Duration) {
        self.set_clock(i64::try_from(by.as_nanos()).map_or(i64::MIN, |by_ns| -by_ns));
    }

    pub(crate) fn set_clock(&self, ahead_ns: i64) {
        self.machine.skew.store(ahead_ns, Ordering::Relaxed);
        self.emit(EventKind::ClockSet { ahead_s: ahead_ns as f64 / 1e9 });
    }

    pub(crate) fn clock_ahead_ns(&self) -> i64 {
        self.machine.skew.load(Ordering::Relaxed)
    }

    /// Lets nothing through between the two hosts, in either direction: TCP tries again until they are reconnected, and
    /// gives up after a quarter of an hour.
    pub fn partition(&self, other: &Self) {
        self.cut(other, true);
        other.cut(self, true);
    }

    /// Lets nothing through from this host to the other one.
    pub fn partition_towards(&self, other: &Self) {
        self.cut(other, true);
    }

    /// Lets everything through again, in both directions.
    pub fn reconnect(&self, other: &Self) {
        self.cut(other, false);
        other.cut(self, false);
    }

    pub(crate) fn cut(&self, other: &Self, is_cut: bool) {
        if self.hosts.fabric.cut(self.machine.place, other.machine.place, is_cut) {
            let to = Arc::clone(other.name());
            self.emit(if is_cut { EventKind::LinkCut { to } } else { EventKind::LinkRestored { to } });
        }
    }

    /// Whether nothing gets through to the other host.
    pub(crate) fn is_cut_towards(&self, other: &Self) -> bool {
        self.hosts.fabric.is_cut(self.machine.place, other.machine.place)
    }

    /// Whether there is a connection between the two hosts, or an attempt at one.
    pub(crate) fn is_connected(&self, other: &Self) -> bool {
        self.hosts.fabric.is_connected(self.machine.place, other.machine.place)
    }

    /// Breaks all connections between the two hosts: both sides see a reset.
    pub fn reset_connections(&self, other: &Self) {
        self.hosts.fabric.reset(self.machine.place, other.machine.place);
        self.emit(EventKind::LinkReset { to: Arc::clone(other.name()) });
    }

    /// How packets travel from this host to the other one.
    pub fn set_link_towards(&self, other: &Self, settings: LinkSettings) {
        if self.hosts.parts.accept(&settings) {
            self.hosts.fabric.set_link(self.machine.place, other.machine.place, settings);
            self.emit_link(other);
        }
    }

    /// Changes what is wrong with the ways between the two hosts, in both directions.
    pub(crate) fn disturb(&self, other: &Self, change: impl Fn(&mut Disturbance)) {
        for (from, to) in [(self, other), (other, self)] {
            if from.hosts.fabric.disturb(from.machine.place, to.machine.place, &change) {
                from.emit_link(to);
            }
        }
    }

    fn emit_link(&self, other: &Self) {
        let link = self.hosts.fabric.link(self.machine.place, other.machine.place);
        self.emit(EventKind::LinkSet {
            to: Arc::clone(other.name()),
            latency_min_s: link.latency_min.as_secs_f64(),
            latency_max_s: link.latency_max.as_secs_f64(),
            loss: link.loss,
        });
    }

    /// The environment of its present life.
    pub fn env(&self) -> Env {
        self.process().env()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Host").field("name", self.name()).field("is_up", &self.is_up()).finish_non_exhaustive()
    }
}
