//! Work that blocks its thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;

/// Where blocking work runs.
pub trait Blocking: Send + Sync {
    /// Runs `work` and completes when it is done. The work never unwinds.
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()>;
}

/// Blocking work gave no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockingError {
    /// The work panicked with this message.
    #[error("blocking work panicked: {0}")]
    Panicked(String),
    /// The thread went away before the work was done, as when its runtime shuts down.
    #[error("blocking work was lost with its thread")]
    Lost,
}

/// Carries the typed value of `work` through the untyped [`Blocking::run`].
pub(super) fn run<T: Send + 'static>(
    blocking: &dyn Blocking,
    work: impl FnOnce() -> T + Send + 'static,
) -> BoxFuture<'static, Result<T, BlockingError>> {
    let slot = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let done = blocking.run(Box::new(move || {
        let outcome = catch_unwind(AssertUnwindSafe(work));
        *filled.lock() = Some(outcome.map_err(|payload| BlockingError::Panicked(panic_message(&*payload).to_owned())));
    }));
    Box::pin(async move {
        done.await;
        let outcome = slot.lock().take();
        outcome.unwrap_or(Err(BlockingError::Lost))
    })
}

/// The text of a panic's payload.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}
