//! Time: what it is now, and waiting for it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use futures_core::future::BoxFuture;

/// A source of time. Object safe.
pub trait Clock: Send + Sync {
    /// Monotonic time since the environment began.
    fn now(&self) -> Duration;

    /// The wall clock.
    fn wall(&self) -> SystemTime;

    /// Completes once [`Clock::now`] has reached `deadline`; at once if it already has.
    fn until(&self, deadline: Duration) -> BoxFuture<'static, ()>;

    /// Lets others run first. A long computation awaits this now and then; a clock that stands still while anything can
    /// run must move on if this is awaited without end (V10).
    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(Pause { is_over: false })
    }
}

/// Pending once.
struct Pause {
    is_over: bool,
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The limit of [`Env::timeout`](crate::env::Env::timeout) passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time limit passed")]
pub struct Elapsed;

pin_project_lite::pin_project! {
    /// The future of [`Env::timeout`](crate::env::Env::timeout).
    #[must_use = "futures do nothing unless polled"]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        deadline: BoxFuture<'static, ()>,
    }
}

impl<F> Timeout<F> {
    pub(super) fn new(future: F, deadline: BoxFuture<'static, ()>) -> Self {
        Self { future, deadline }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        this.deadline.as_mut().poll(context).map(|()| Err(Elapsed))
    }
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Timeout").finish_non_exhaustive()
    }
}
