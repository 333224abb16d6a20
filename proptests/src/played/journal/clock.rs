//! A clock that a test moves.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use windtunnel_core::BoxFuture;
use windtunnel_core::env::{Blocking, Clock, CountingIds, Env};

/// A clock that stands still until a test moves it, the monotonic time and the wall clock together. Clones share it.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_proptests::played::HandClock;
///
/// let clock = HandClock::new();
/// let env = clock.env();
/// let (began, wall) = (env.now(), env.wall());
/// clock.advance(Duration::from_nanos(7));
/// assert_eq!(env.now() - began, env.wall().duration_since(wall)?);
/// # Ok::<(), std::time::SystemTimeError>(())
/// ```
#[derive(Clone, Default)]
pub struct HandClock {
    hands: Arc<Mutex<Hands>>,
}

#[derive(Default)]
struct Hands {
    now: Duration,
    /// With their deadlines.
    waiting: Vec<(Duration, Waker)>,
}

/// What the wall clock shows at first: 2025-01-01T00:00:00Z.
const EPOCH: Duration = Duration::from_secs(20_089 * 24 * 60 * 60);

impl HandClock {
    /// A clock at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// An environment on this clock. Its chance is always 0, and blocking work runs at once, on the thread that asks.
    pub fn env(&self) -> Env {
        Env::from_parts(self.clone(), || 0.0, CountingIds::default(), AtOnce)
    }

    /// Moves it on.
    pub fn advance(&self, duration: Duration) {
        let waiting = {
            let mut hands = self.hands.lock();
            hands.now = hands.now.saturating_add(duration);
            std::mem::take(&mut hands.waiting)
        };
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// The first of the times to come that anybody has waited for since the clock was moved last.
    pub fn next_deadline(&self) -> Option<Duration> {
        let hands = self.hands.lock();
        hands.waiting.iter().map(|(deadline, _)| *deadline).filter(|deadline| *deadline > hands.now).min()
    }
}

impl Clock for HandClock {
    fn now(&self) -> Duration {
        self.hands.lock().now
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + EPOCH + self.now()
    }

    fn until(&self, deadline: Duration) -> BoxFuture<'static, ()> {
        let hands = Arc::clone(&self.hands);
        Box::pin(poll_fn(move |context| {
            let mut hands = hands.lock();
            if hands.now >= deadline {
                return Poll::Ready(());
            }
            hands.waiting.push((deadline, context.waker().clone()));
            Poll::Pending
        }))
    }
}

struct AtOnce;

impl Blocking for AtOnce {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        work();
        Box::pin(std::future::ready(()))
    }
}

impl fmt::Debug for HandClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HandClock").field("now", &self.now()).finish_non_exhaustive()
    }
}
