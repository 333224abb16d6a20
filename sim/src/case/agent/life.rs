//! What a process does, until it goes down.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::future::BoxFuture;

use super::process::Process;

/// Drops all that the process does at the instant at which it goes down.
pub(super) struct Life<'a, T> {
    work: Option<BoxFuture<'a, T>>,
    process: Process,
}

impl<'a, T> Life<'a, T> {
    pub(super) fn new(process: Process, work: BoxFuture<'a, T>) -> Self {
        Self { work: Some(work), process }
    }
}

impl<T> Future for Life<'_, T> {
    /// Nothing, if it went down.
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(work) = &mut self.work else { return Poll::Ready(None) };
        match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.process.is_down() => {
                self.work = None;
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }
}
