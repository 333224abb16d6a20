//! Waiting between attempts, injectable on its own.

use std::time::Duration;

use futures_core::future::BoxFuture;

/// How to wait between attempts. A closure `Fn(Duration) -> impl Future` is one.
pub trait Sleep: Send + Sync {
    /// Completes after `duration`, in whatever sense of time the implementation has.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

impl<F, Fut> Sleep for F
where
    F: Fn(Duration) -> Fut + Send + Sync,
    Fut: Future<Output = ()> + Send + 'static,
{
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(self(duration))
    }
}
