//! Running a scenario in a world.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use parking_lot::Mutex;
use windtunnel_core::env::{Clock as _, CountingIds, Env, Waits};
use windtunnel_core::event::{Event, EventKind, Sink};
use windtunnel_core::{BoxFuture, canary};

use super::clock::{Time, WorldClock};
use super::drive::{Drive, TimeMover};
use super::error::WorldError;
use super::gate::{React, Reaction, WorldGate};
use super::handle::{HostParts, WorldHandle};
use super::inputs::Inputs;
use super::leaks::Leaks;
use super::streams::{SharedStreams, Streams};
use super::watch::Watch;
use crate::assertion::{Assertions, Tally};
use crate::effect::Effects;
use crate::fault::{DeliveredFault, FaultKind, FaultPlan, FaultPoint, Injector, RandomFaults, UndeliveredFault};
use crate::host::Hosts;
use crate::network::Fabric;
use crate::schedule::{Schedule, Tasks};
use crate::{Divergence, Trace, trace};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a world lasts that is not told.
const TIME_LIMIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Room for about a thousand calls nested in each other without optimisation. Only what is used is taken from the system.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// A world to run scenarios in. Everything that could differ from run to run follows from its seed.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_sim::World;
///
/// let run = World::new(7).run(|world| async move {
///     world.env().sleep(Duration::from_secs(30 * 24 * 60 * 60)).await;
///     world.env().now()
/// });
/// assert_eq!(run.outcome?, Duration::from_secs(30 * 24 * 60 * 60));
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
#[derive(Clone)]
pub struct World {
    seed: u64,
    epoch: SystemTime,
    time_limit: Option<Duration>,
    events_max: u64,
    react: Option<React>,
    schedule: Schedule,
    plan: FaultPlan,
    random_faults: Option<RandomFaults>,
    heal_after: Option<Duration>,
    inputs: BTreeMap<String, Vec<u64>>,
    keeps_choices: bool,
    /// Whether its plan was made of a run that may have been another one.
    is_repetition: bool,
    /// The kinds of fault for which it notes where they could come.
    surveyed: Option<BTreeSet<FaultKind>>,
    leaks: Leaks,
}

/// What came of a scenario.
#[derive(Debug)]
#[must_use = "the outcome says whether the scenario came to its end"]
pub struct Run<T> {
    /// The world's seed.
    pub seed: u64,
    /// What the scenario gave, or why it came to no end.
    pub outcome: Result<T, WorldError>,
    /// The events that were recorded in the world's trace.
    pub trace: Vec<Event>,
    /// How long it took on the world's clock.
    pub elapsed: Duration,
    /// The faults that came, in their order.
    pub faults: Vec<DeliveredFault>,
    /// The planned faults that did not come, in the order of the plan.
    pub undelivered: Vec<UndeliveredFault>,
    /// What was asserted, by name.
    pub assertions: BTreeMap<Arc<str>, Tally>,
    /// The inputs that the scenario asked for, by name, in their order.
    pub inputs: BTreeMap<String, Vec<u64>>,
    /// The number of the task that went on, for each choice between several; nothing, unless they are kept
    /// ([`World::keep_choices`]).
    pub choices: Vec<u64>,
    /// Where faults could have come, if the world was to note that.
    pub(crate) points: Vec<FaultPoint>,
}

impl<T> Run<T> {
    /// The SHA-256 of the trace as JSON lines, in hexadecimal: equal for equal traces, in any process.
    pub fn digest(&self) -> String {
        trace::digest(&self.trace)
    }
}

impl World {
    /// A world with this seed, that begins on 2025-01-01 and lasts at most a year.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            epoch: SystemTime::UNIX_EPOCH + 20_089 * DAY,
            time_limit: None,
            events_max: 1_000_000,
            react: None,
            schedule: Schedule::default(),
            plan: FaultPlan::default(),
            random_faults: None,
            heal_after: None,
            inputs: BTreeMap::new(),
            keeps_choices: false,
            is_repetition: false,
            surveyed: None,
            leaks: Leaks::default(),
        }
    }

    /// What the wall clock shows when the world begins. Default: 2025-01-01T00:00:00Z.
    #[must_use]
    pub fn epoch(self, epoch: SystemTime) -> Self {
        Self { epoch, ..self }
    }

    /// What the wall clock shows when it begins.
    pub fn begins_at(&self) -> SystemTime {
        self.epoch
    }

    /// How long the world lasts on its own clock. Default: 365 days.
    #[must_use]
    pub fn time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit: Some(time_limit), ..self }
    }

    /// How many events there may be. Default: one million.
    #[must_use]
    pub fn events_max(self, events_max: u64) -> Self {
        Self { events_max, ..self }
    }

    /// How tasks of hosts that could go on at the same instant are ordered. Default: [`Schedule::Fair`].
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// What goes wrong. A run in which nothing of it does fails ([`WorldError::NoFaultDelivered`]), and so does one that
    /// never had a host which it names ([`WorldError::UnknownHost`]); what else did not come is said by [`Run::undelivered`].
    /// Default: nothing.
    #[must_use]
    pub fn faults(self, plan: FaultPlan) -> Self {
        Self { plan, ..self }
    }

    /// What goes wrong at random, beside what is planned. Default: nothing.
    #[must_use]
    pub fn random_faults(self, random_faults: RandomFaults) -> Self {
        Self { random_faults: Some(random_faults), ..self }
    }

    /// When all faults are over: none comes any more, hosts that are down are started, those that stand still go on, links
    /// are whole, clocks right. From there on the scenario must come to its end. Default: never.
    #[must_use]
    pub fn heal_after(self, heal_after: Duration) -> Self {
        Self { heal_after: Some(heal_after), ..self }
    }

    /// Keeps which task went on wherever several could ([`Run::choices`]), to repeat it ([`Schedule::Chosen`]).
    #[must_use]
    pub fn keep_choices(self) -> Self {
        Self { keeps_choices: true, ..self }
    }

    /// What [`WorldHandle::input`] gives, by name, in order; what is not here is drawn. Default: nothing.
    #[must_use]
    pub fn inputs(self, inputs: BTreeMap<String, Vec<u64>>) -> Self {
        Self { inputs, ..self }
    }

    /// Without what it plans, draws and is given itself: with these faults alone, and these inputs first.
    pub(crate) fn repeating(mut self, plan: FaultPlan, inputs: BTreeMap<String, Vec<u64>>) -> Self {
        self.inputs.extend(inputs);
        Self { plan, random_faults: None, is_repetition: true, ..self }
    }

    /// Notes where faults of these kinds could come.
    pub(crate) fn survey(self, kinds: &BTreeSet<FaultKind>) -> Self {
        Self { surveyed: Some(kinds.clone()), ..self }
    }

    /// Ends after so long at the latest: earlier, if it was told so.
    pub(crate) fn within(self, time_limit: Duration) -> Self {
        let time_limit = self.time_limit.map_or(time_limit, |own| own.min(time_limit));
        Self { time_limit: Some(time_limit), ..self }
    }

    /// What becomes of guests that read the real clock, draw the system's entropy, or start a thread. Default:
    /// [`Leaks::Fail`]. Without the feature `alarm` nobody notices them.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use windtunnel_sim::{Leaks, World, WorldError};
    ///
    /// let in_2030 = SystemTime::UNIX_EPOCH + Duration::from_secs(1_893_456_000);
    /// let world = World::new(7).epoch(in_2030);
    /// if cfg!(all(feature = "alarm", target_os = "linux", target_env = "gnu")) {
    ///     let served = world.clone().leaks(Leaks::Serve).run(|_world| async { SystemTime::now() });
    ///     assert_eq!(served.outcome?, in_2030);
    ///     let failed = world.run(|_world| async { SystemTime::now() });
    ///     assert!(matches!(failed.outcome, Err(WorldError::Leak { count: 1, .. })));
    /// }
    /// # Ok::<(), WorldError>(())
    /// ```
    #[must_use]
    pub fn leaks(self, leaks: Leaks) -> Self {
        Self { leaks, ..self }
    }

    /// Lets the world act at events: the step that an event announces waits for the reaction.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windtunnel_sim::{Reaction, World};
    ///
    /// let slow_retries = World::new(7).on_event(|event| match event.kind.name() {
    ///     "tool.retry" => Reaction::Delay(Duration::from_secs(60)),
    ///     _ => Reaction::Continue,
    /// });
    /// ```
    #[must_use]
    pub fn on_event(self, react: impl Fn(&Event) -> Reaction + Send + Sync + 'static) -> Self {
        Self { react: Some(Arc::new(react)), ..self }
    }

    /// Runs a scenario on a thread of its own.
    ///
    /// Tasks spawned with `tokio::spawn` inside the scenario run in the world too, and are dropped when it ends. Timers
    /// of tokio follow the world's time, with tokio's grain of 1 ms. Real input and output has no place in a world.
    ///
    /// Blocking work runs on the world's own thread and takes no time: if it waits for other work of the world, it waits
    /// forever. A spawned task that never waits keeps the world from ending too; the scenario itself is told apart
    /// ([`WorldError::Spinning`]).
    pub fn run<T, F, Fut>(&self, scenario: F) -> Run<T>
    where
        T: Send,
        F: FnOnce(WorldHandle) -> Fut + Send,
        Fut: Future<Output = T>,
    {
        let parts = Arc::new(self.host_parts());
        let outcome = self.on_thread(&parts, scenario);
        let faults = parts.injector.delivered();
        let outcome = outcome.and_then(|value| self.check_faults(&parts.injector, &faults).map(|()| value));
        let (undelivered, points) = (parts.injector.undelivered(), parts.injector.take_points());
        let (assertions, inputs) = (parts.assertions.tallies(), parts.inputs.drawn());
        let elapsed = Duration::from_nanos(parts.clock.time.now_ns());
        let choices = std::mem::take(&mut *parts.choices.lock());
        let trace = parts.trace.clone();
        // What else holds on to the trace goes first, so that its events need not be copied.
        drop(parts);
        let (seed, trace) = (self.seed, trace.into_events());
        Run { seed, outcome, trace, elapsed, faults, undelivered, assertions, inputs, choices, points }
    }

    /// Whether what was planned tests anything.
    fn check_faults(&self, injector: &Injector, delivered: &[DeliveredFault]) -> Result<(), WorldError> {
        if let Some(error) = injector.stranger(&self.plan).filter(|_| !self.is_repetition) {
            return Err(error);
        }
        if delivered.is_empty() && !self.plan.faults.is_empty() {
            return Err(WorldError::NoFaultDelivered { planned: self.plan.faults.len() });
        }
        Ok(())
    }

    /// Runs a scenario twice and compares the traces, how long the runs took on the world's clock, and how they ended.
    ///
    /// # Errors
    /// [`Divergence`] with the first event that differs: something in the scenario does not follow from the seed.
    pub fn check_determinism<T, F, Fut>(&self, scenario: F) -> Result<Run<T>, Box<Divergence>>
    where
        T: Send,
        F: Fn(WorldHandle) -> Fut + Sync,
        Fut: Future<Output = T>,
    {
        let first = self.run(&scenario);
        let second = self.run(&scenario);
        match Divergence::between(&first, &second) {
            None => Ok(first),
            Some(divergence) => Err(Box::new(divergence)),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "each run has a fresh thread, so that no thread-local state crosses")]
    fn on_thread<T, F, Fut>(&self, parts: &Arc<HostParts>, scenario: F) -> Result<T, WorldError>
    where
        T: Send,
        F: FnOnce(WorldHandle) -> Fut + Send,
        Fut: Future<Output = T>,
    {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("windtunnel-world".to_owned()).stack_size(STACK_BYTES);
            let drive = canary::carried(|| self.drive(parts, scenario));
            let thread = thread.spawn_scoped(scope, drive).map_err(WorldError::Thread)?;
            thread.join().unwrap_or_else(|payload| Err(panicked(&*payload)))
        })
    }

    fn drive<T, F, Fut>(&self, parts: &Arc<HostParts>, scenario: F) -> Result<T, WorldError>
    where
        F: FnOnce(WorldHandle) -> Fut,
        Fut: Future<Output = T>,
    {
        let watch = Watch::begin(self.leaks, parts.clock.clone(), &parts.streams);
        let outcome = self.drive_watched(&watch, parts, scenario);
        let leaks = watch.end();
        outcome.and_then(|value| leaks.map(|()| value))
    }

    fn drive_watched<T, F, Fut>(&self, watch: &Watch, parts: &Arc<HostParts>, scenario: F) -> Result<T, WorldError>
    where
        F: FnOnce(WorldHandle) -> Fut,
        Fut: Future<Output = T>,
    {
        let time = &parts.clock.time;
        let limit_ns = u64::try_from(self.time_limit.unwrap_or(TIME_LIMIT).as_nanos()).unwrap_or(u64::MAX);
        let mover = Arc::new(Mutex::new(TimeMover::new(Arc::clone(time), limit_ns)));
        let runtime = watch.prepare(|| {
            let (parking, unparking) = (Arc::clone(&mover), Arc::clone(time));
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_time().start_paused(true);
            builder.on_thread_park(move || parking.lock().nothing_to_run());
            builder.on_thread_unpark(move || unparking.follow_tokio());
            #[cfg(tokio_unstable)]
            builder.rng_seed(tokio::runtime::RngSeed::from_bytes(&self.seed.to_le_bytes()));
            builder.build().map_err(WorldError::Thread)
        })?;
        let waits = parts.gate.waits.clone();
        let choices = parts.streams.generator("world/schedule");
        let tasks = Tasks::new(self.schedule.clone(), choices, self.keeps_choices, waits.clone());
        let fabric = Fabric::new(Arc::clone(time), Arc::clone(&parts.streams));
        let hosts = Arc::new(Hosts::new(tasks, fabric, Arc::clone(parts)));
        parts.injector.act_on(&hosts);
        if let Some(heal_after) = self.heal_after {
            hosts.spawn_of_world(heal(Arc::downgrade(&hosts), parts.clock.until(heal_after)));
        }
        let handle = WorldHandle {
            seed: self.seed,
            env: parts.env.clone(),
            trace: parts.trace.clone(),
            hosts: Arc::clone(&hosts),
        };
        let (ending, keeping) = (Arc::clone(time), Arc::clone(&hosts));
        let outcome = runtime.block_on(async move {
            // The scenario begins inside the driver, so that its first step sees the world too.
            let scenario = AssertUnwindSafe(async move { scenario(handle).await }).catch_unwind();
            let ended = Drive::new(scenario, mover, hosts, waits).await?;
            let value = ended.map_err(|payload| panicked(&*payload))?;
            // A destructor may have panicked when the hosts were dropped, or the scenario ended at an assertion.
            match ending.take_end() {
                Some(
                    error @ (WorldError::Panicked { .. }
                    | WorldError::AssertionFailed { .. }
                    | WorldError::AmbiguousAssertion { .. }
                    | WorldError::InvalidLoss { .. }),
                ) => Err(error),
                _ => Ok(value),
            }
        });
        *parts.choices.lock() = keeping.tasks().take_choices().unwrap_or_default();
        outcome
    }

    fn host_parts(&self) -> HostParts {
        let time = Arc::new(Time::default());
        let streams = Arc::new(Streams::new(self.seed));
        let clock = WorldClock { time: Arc::clone(&time), epoch: self.epoch };
        let random = self.random_faults.as_ref().map(|faults| (faults, streams.generator("world/faults")));
        let injector = Arc::new(Injector::new(&self.plan, random, self.surveyed.clone()));
        let gate = WorldGate {
            clock: clock.clone(),
            events_max: self.events_max,
            react: self.react.clone(),
            triggers: Arc::default(),
            injector: Arc::clone(&injector),
            waits: Waits::default(),
        };
        let chance = SharedStreams { streams: Arc::clone(&streams), host: None };
        let env = Env::from_parts(clock.clone(), chance, CountingIds::default(), clock.clone());
        let env = env.with_gate(gate.clone()).with_waits(gate.waits.clone());
        let trace = Trace::new();
        let sink: Arc<dyn Sink> = Arc::new(trace.clone());
        let effects = Effects::new(env.clone(), Arc::clone(&sink));
        let assertions = Assertions::new(env.clone(), Arc::clone(&sink), time);
        let inputs = Inputs::new(self.inputs.clone());
        let choices = Mutex::default();
        HostParts { clock, gate, streams, env, trace, sink, injector, effects, assertions, inputs, choices }
    }
}

/// Repairs the world when its time for faults is over.
async fn heal(hosts: Weak<Hosts>, over: BoxFuture<'static, ()>) {
    over.await;
    if let Some(hosts) = hosts.upgrade() {
        let parts = hosts.parts();
        parts.injector.stop();
        parts.emit(None, || EventKind::WorldHealed {});
        hosts.heal();
    }
}

fn panicked(payload: &(dyn std::any::Any + Send)) -> WorldError {
    WorldError::Panicked { message: windtunnel_core::env::panic_message(payload).to_owned() }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("World")
            .field("seed", &self.seed)
            .field("epoch", &self.epoch)
            .field("time_limit", &self.time_limit)
            .field("events_max", &self.events_max)
            .finish_non_exhaustive()
    }
}
