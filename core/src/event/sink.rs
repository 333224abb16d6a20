//! Where events go.

use std::sync::Arc;

use super::Event;
use crate::BoxError;

/// A consumer of events.
pub trait Sink: Send + Sync {
    /// Takes one event. It is called in the order of the sequence numbers, and must return soon: the executor waits. It
    /// must not call the executor.
    ///
    /// # Errors
    /// Any error. It is logged and changes nothing else; so does a panic (E13).
    fn record(&self, event: &Event) -> Result<(), BoxError>;
}

/// A shared sink.
impl<T: Sink + ?Sized> Sink for Arc<T> {
    fn record(&self, event: &Event) -> Result<(), BoxError> {
        (**self).record(event)
    }
}
