//! The way to a model.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;

use super::{Delta, ModelError, ModelRequest, ModelResponse};

/// Sends requests to a model. Object safe.
pub trait ModelTransport: Send + Sync {
    /// Asks for a whole response.
    ///
    /// # Errors
    /// [`ModelError`] if there is none.
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>>;

    /// Asks for a response piece by piece. The last piece is [`Delta::Finished`]; a stream that ends without it was cut.
    ///
    /// # Errors
    /// [`ModelError`] if the stream does not begin, or as an item if it breaks.
    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>>;
}

impl<M: ModelTransport + ?Sized> ModelTransport for Arc<M> {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        (**self).complete(request)
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        (**self).stream(request)
    }
}
