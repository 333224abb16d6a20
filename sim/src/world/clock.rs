//! The world's clock: exact in nanoseconds, standing still while anything can run.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::Instant;
use windtunnel_core::env::{Blocking, Clock};

use super::error::WorldError;
use super::timers::{TimerKey, Timers};

/// What the clock's users and the driver share.
#[derive(Debug, Default)]
pub(crate) struct Time {
    now_ns: AtomicU64,
    /// When the world began on tokio's clock.
    began: OnceLock<Instant>,
    pub(crate) timers: Mutex<Timers>,
    /// The last instant at which somebody paused, and how often.
    pauses: Mutex<(u64, u32)>,
    /// Why the world ends before its scenario does.
    ended: Mutex<Option<WorldError>>,
}

impl Time {
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }

    /// Counts a pause, and says whether there were too many at this instant.
    fn is_stuck(&self) -> bool {
        let now_ns = self.now_ns();
        let mut pauses = self.pauses.lock();
        let count = if pauses.0 == now_ns { pauses.1.saturating_add(1) } else { 1 };
        // Once stuck, each instant is: else a computation of a virtual minute would take hours.
        let has_moved_by_pauses =
            pauses.1 > PAUSES_AT_AN_INSTANT_MAX && now_ns == pauses.0 + PAUSE_THAT_TAKES_TIME.as_nanos() as u64;
        *pauses = (now_ns, if has_moved_by_pauses { pauses.1 } else { count });
        pauses.1 > PAUSES_AT_AN_INSTANT_MAX
    }

    /// Ends the world as soon as nothing is left to run. The first reason stays, but for too many events: a scenario may come
    /// to its end all the same, and what fails until then must not be lost.
    pub(crate) fn end(&self, error: WorldError) {
        let mut ended = self.ended.lock();
        if matches!(*ended, None | Some(WorldError::TooManyEvents { .. })) {
            *ended = Some(error);
        }
    }

    pub(super) fn take_end(&self) -> Option<WorldError> {
        self.ended.lock().take()
    }

    /// When the world began on tokio's clock: at the first call. Only inside the world's runtime.
    #[expect(clippy::disallowed_methods, reason = "the world's clock and tokio's paused clock are one")]
    pub(super) fn began(&self) -> Instant {
        *self.began.get_or_init(Instant::now)
    }

    /// Takes over the time of tokio's paused clock. Only inside the world's runtime.
    pub(super) fn follow_tokio(&self) {
        let now_ns = u64::try_from(self.began().elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.now_ns.store(now_ns, Ordering::Relaxed);
    }
}

/// How often computations may pause at one instant before time moves on. With the evaluator's 1,024 steps between
/// pauses that is a million steps.
const PAUSES_AT_AN_INSTANT_MAX: u32 = 1024;

/// What each further pause takes.
const PAUSE_THAT_TAKES_TIME: Duration = Duration::from_millis(1);

/// A world's clock, and the place of its blocking work: it runs at once and takes no time.
#[derive(Clone, Debug)]
pub(crate) struct WorldClock {
    pub(super) time: Arc<Time>,
    pub(super) epoch: SystemTime,
}

impl Clock for WorldClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.time.now_ns())
    }

    fn wall(&self) -> SystemTime {
        self.epoch.checked_add(self.now()).unwrap_or(self.epoch)
    }

    fn until(&self, deadline: Duration) -> BoxFuture<'static, ()> {
        match u64::try_from(deadline.as_nanos()) {
            Ok(deadline_ns) => {
                Box::pin(Until { time: Arc::clone(&self.time), deadline_ns, armed: None, has_yielded: false })
            }
            // Past the end of the clock, in over 500 years: never.
            Err(_) => Box::pin(std::future::pending()),
        }
    }

    /// Takes no time at first; a computation that has no end would let no time pass, and its deadline never come.
    fn pause(&self) -> BoxFuture<'static, ()> {
        self.until(if self.time.is_stuck() { self.now() + PAUSE_THAT_TAKES_TIME } else { self.now() })
    }
}

impl Blocking for WorldClock {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        Box::pin(async move { work() })
    }
}

/// Waits for one deadline; armed when first polled.
struct Until {
    time: Arc<Time>,
    deadline_ns: u64,
    armed: Option<TimerKey>,
    has_yielded: bool,
}

impl Future for Until {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.time.now_ns() >= this.deadline_ns {
            if this.armed.is_some() || std::mem::replace(&mut this.has_yielded, true) {
                return Poll::Ready(());
            }
            // Others run first: a loop of such waits must not keep the world to itself.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut timers = this.time.timers.lock();
        let replaced = match this.armed {
            Some(key) => timers.rewake(key, context.waker()),
            None => {
                this.armed = Some(timers.arm(this.deadline_ns, context.waker().clone()));
                None
            }
        };
        // Outside the lock: dropping a waker may run anything.
        drop(timers);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        if let Some(key) = self.armed {
            let disarmed = self.time.timers.lock().disarm(key);
            drop(disarmed);
        }
    }
}
