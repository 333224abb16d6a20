//! A host's clock: the world's, with a wall clock that may be wrong, until the host's life is over.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use futures_core::future::BoxFuture;
use windtunnel_core::env::{Blocking, Clock};
use windtunnel_core::event::{Event, Gate};

use super::life::Life;
use crate::world::{WorldClock, WorldGate};

/// How far a host's wall clock is ahead, in nanoseconds; it outlives the host's lives.
pub(super) type Skew = Arc<AtomicI64>;

#[derive(Clone)]
pub(super) struct HostClock {
    pub(super) world: WorldClock,
    pub(super) life: Life,
    pub(super) skew: Skew,
}

impl HostClock {
    /// Comes with `future`, or never, if the life is over then.
    fn alive<T: 'static>(&self, future: BoxFuture<'static, T>) -> BoxFuture<'static, T> {
        Box::pin(Alive { future, life: self.life.clone() })
    }
}

impl Clock for HostClock {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn wall(&self) -> SystemTime {
        let (wall, skew_ns) = (self.world.wall(), self.skew.load(Ordering::Relaxed));
        let skew = Duration::from_nanos(skew_ns.unsigned_abs());
        let shown = if skew_ns < 0 { wall.checked_sub(skew) } else { wall.checked_add(skew) };
        shown.unwrap_or(wall)
    }

    fn until(&self, deadline: Duration) -> BoxFuture<'static, ()> {
        self.alive(self.world.until(deadline))
    }

    fn pause(&self) -> BoxFuture<'static, ()> {
        self.alive(self.world.pause())
    }
}

impl Blocking for HostClock {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        self.alive(self.world.run(work))
    }
}

/// The world's gate; what it does may be the end of this very life, and then the step never comes.
pub(super) struct HostGate {
    pub(super) world: WorldGate,
    pub(super) life: Life,
}

impl Gate for HostGate {
    fn is_open(&self) -> bool {
        !self.life.is_over()
    }

    fn pass(&self, event: &Event) -> Option<BoxFuture<'static, ()>> {
        let acting = self.world.pass(event);
        if self.life.is_over() {
            return Some(Box::pin(std::future::pending()));
        }
        acting.map(|future| -> BoxFuture<'static, ()> { Box::pin(Alive { future, life: self.life.clone() }) })
    }
}

/// A future of a life.
struct Alive<T> {
    future: BoxFuture<'static, T>,
    life: Life,
}

impl<T> Future for Alive<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if self.life.is_over() {
            return Poll::Pending;
        }
        self.future.as_mut().poll(context)
    }
}
