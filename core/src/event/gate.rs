//! The point where a world may act.

use futures_core::future::BoxFuture;

use super::Event;

/// Held by a simulated world's [`Env`](crate::env::Env); production has none.
pub trait Gate: Send + Sync {
    /// Whether anything can still happen here: what would be an event after the end of a process is none. Nobody records it,
    /// and the step that it announces never comes. Default: always.
    fn is_open(&self) -> bool {
        true
    }

    /// Sees an event that has been recorded. The step that the event announces waits for the returned future: it may
    /// delay the step, or never complete and so freeze it there.
    fn pass(&self, event: &Event) -> Option<BoxFuture<'static, ()>>;
}
