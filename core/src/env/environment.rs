//! One handle to everything that an environment gives.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_core::future::BoxFuture;
use parking_lot::Mutex;

use super::{Blocking, BlockingError, Clock, Ids, Resource, Rng, Sleep, Timeout, Waits, blocking, system};
use crate::event::Gate;

/// A handle to one environment: cheap to clone, `Send + Sync`, and replaceable part by part.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_core::env::Env;
///
/// // A test that must not wait and must not jitter replaces just those two parts.
/// let env = Env::system().with_sleep(|_: Duration| std::future::ready(())).with_rng(|| 0.0);
/// assert_eq!(env.unit("backoff"), 0.0);
/// ```
#[derive(Clone)]
pub struct Env {
    clock: Arc<dyn Clock>,
    sleep: Option<Arc<dyn Sleep>>,
    rng: Arc<dyn Rng>,
    ids: Arc<dyn Ids>,
    blocking: Arc<dyn Blocking>,
    gate: Option<Arc<dyn Gate>>,
    waits: Option<Waits>,
    host: Option<Arc<str>>,
    event_sequence: Arc<Mutex<u64>>,
}

impl Env {
    /// The operating system's clock, entropy and threads.
    ///
    /// Time follows tokio's clock, so `tokio::time::pause` works in a user's own tests.
    ///
    /// # Panics
    /// Waiting ([`Env::sleep`], [`Env::until`], [`Env::timeout`]) panics outside a tokio runtime that has its time
    /// driver enabled, as `tokio::time` does.
    pub fn system() -> Self {
        let system = Arc::new(system::System::new());
        Self {
            clock: system.clone(),
            sleep: None,
            rng: system.clone(),
            ids: system.clone(),
            blocking: system,
            gate: None,
            waits: None,
            host: None,
            event_sequence: Arc::default(),
        }
    }

    /// An environment from its parts, for a simulator.
    pub fn from_parts(
        clock: impl Clock + 'static,
        rng: impl Rng + 'static,
        ids: impl Ids + 'static,
        blocking: impl Blocking + 'static,
    ) -> Self {
        Self {
            clock: Arc::new(clock),
            sleep: None,
            rng: Arc::new(rng),
            ids: Arc::new(ids),
            blocking: Arc::new(blocking),
            gate: None,
            waits: None,
            host: None,
            event_sequence: Arc::default(),
        }
    }

    /// Replaces the clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Replaces how [`Env::sleep`] waits, and nothing else: timeouts still follow the clock (E4).
    #[must_use]
    pub fn with_sleep(self, sleep: impl Sleep + 'static) -> Self {
        Self { sleep: Some(Arc::new(sleep)), ..self }
    }

    /// Replaces the source of random numbers. A closure `Fn() -> f64` is a source.
    #[must_use]
    pub fn with_rng(self, rng: impl Rng + 'static) -> Self {
        Self { rng: Arc::new(rng), ..self }
    }

    /// Replaces the source of identifiers.
    #[must_use]
    pub fn with_ids(self, ids: impl Ids + 'static) -> Self {
        Self { ids: Arc::new(ids), ..self }
    }

    /// Replaces where blocking work runs.
    #[must_use]
    pub fn with_blocking(self, blocking: impl Blocking + 'static) -> Self {
        Self { blocking: Arc::new(blocking), ..self }
    }

    /// Names the simulated host that this is the environment of: events carry the name.
    #[must_use]
    pub fn with_host(self, host: Arc<str>) -> Self {
        Self { host: Some(host), ..self }
    }

    /// Lets a world act whenever an event is emitted.
    #[must_use]
    pub fn with_gate(self, gate: impl Gate + 'static) -> Self {
        Self { gate: Some(Arc::new(gate)), ..self }
    }

    /// Lets a world see who waits for what.
    #[must_use]
    pub fn with_waits(self, waits: Waits) -> Self {
        Self { waits: Some(waits), ..self }
    }

    /// Where those who wait say for what; none in production.
    pub fn waits(&self) -> Option<&Waits> {
        self.waits.as_ref()
    }

    /// Waits for `future`. A world that comes to no end meanwhile says that its task waits for `what`, such as "an answer
    /// of the bank".
    pub async fn waiting<F: Future>(&self, what: &str, future: F) -> F::Output {
        let _waiting = self.waits.as_ref().map(|waits| waits.wait(what));
        future.await
    }

    /// A name for what only some can hold at once, such as a lock, so that a world can explain a deadlock.
    pub fn resource(&self, name: &str) -> Resource {
        Resource::new(self.waits.as_ref(), name)
    }

    /// The simulated host that this is the environment of; none outside a simulation of hosts.
    pub fn host(&self) -> Option<&Arc<str>> {
        self.host.as_ref()
    }

    /// Monotonic time since the environment began.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// The wall clock.
    pub fn wall(&self) -> SystemTime {
        self.clock.wall()
    }

    /// Waits for `duration`, through the injected sleep if there is one.
    pub fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        match &self.sleep {
            Some(sleep) => sleep.sleep(duration),
            None => self.until(self.now().saturating_add(duration)),
        }
    }

    /// Waits until [`Env::now`] reaches `deadline`.
    pub fn until(&self, deadline: Duration) -> BoxFuture<'static, ()> {
        self.clock.until(deadline)
    }

    /// Lets others run first. A long computation awaits this now and then, so that it can be cancelled.
    pub fn pause(&self) -> BoxFuture<'static, ()> {
        self.clock.pause()
    }

    /// Bounds `future` by `limit` on the clock. A future that is ready at the very deadline still wins.
    ///
    /// The future is dropped with the returned one, and not polled again after the limit.
    pub fn timeout<F: Future>(&self, limit: Duration, future: F) -> Timeout<F> {
        Timeout::new(future, self.until(self.now().saturating_add(limit)))
    }

    /// Draws a number in `[0, 1)` from the named stream. Draws from one stream never shift another.
    pub fn unit(&self, stream: &str) -> f64 {
        self.rng.unit(stream)
    }

    /// Draws 64 random bits from the named stream.
    pub fn random_u64(&self, stream: &str) -> u64 {
        self.rng.next_u64(stream)
    }

    /// A new identifier such as `call-…`, unique within the environment.
    pub fn next_id(&self, kind: &'static str) -> Arc<str> {
        self.ids.next_id(kind)
    }

    /// Runs blocking `work` away from the async threads and awaits its value.
    ///
    /// Dropping the returned future does not stop work that has begun (E14); its value is then dropped.
    ///
    /// # Errors
    /// [`BlockingError`] if the work panicked or its thread was lost with its runtime.
    pub fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> BoxFuture<'static, Result<T, BlockingError>> {
        blocking::run(&*self.blocking, work)
    }

    /// The number of the next event. Clones share it, whatever parts they replace.
    pub(crate) fn event_sequence(&self) -> &Mutex<u64> {
        &self.event_sequence
    }

    /// Whether whoever has this environment can still do anything: in a simulated world, not after the end of its process.
    pub fn is_open(&self) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_open())
    }

    pub(crate) fn gate(&self) -> Option<&dyn Gate> {
        self.gate.as_deref()
    }
}

impl Default for Env {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Env").field("now", &self.now()).finish_non_exhaustive()
    }
}
