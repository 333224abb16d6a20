//! The model at the far end.

use std::fmt;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use parking_lot::Mutex;
use windtunnel_core::model::{Delta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport};
use windtunnel_core::{BoxFuture, BoxStream};

use crate::cases::{ModelExchangeCase, ModelTraffic};
use crate::suites::turns::pauses;

/// The model that a transport under test leads to: it answers as a [`ModelTraffic`] says, and notes what it is asked.
/// Clones share the notes.
///
/// A transport that goes over another one is put over this. One that speaks to a server is given a server that asks this,
/// and says in the words of its provider what this answers.
///
/// ```
/// use windtunnel_core::model::ModelTransport;
/// use windtunnel_proptests::suites::ModelService;
///
/// let service = ModelService::new(Default::default());
/// let _transport: &dyn ModelTransport = &service;
/// assert!(service.requests().is_empty());
/// ```
#[derive(Clone)]
pub struct ModelService {
    traffic: Arc<ModelTraffic>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl ModelService {
    /// A model that answers so.
    pub fn new(traffic: ModelTraffic) -> Self {
        Self { traffic: Arc::new(traffic), requests: Arc::default() }
    }

    /// What was asked so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().clone()
    }

    fn exchange(&self, request: &ModelRequest) -> Result<&ModelExchangeCase, ModelError> {
        self.requests.lock().push(request.clone());
        let unknown = || ModelError::new(ModelErrorKind::InvalidRequest, "nobody should ask this");
        self.traffic.exchange(request).ok_or_else(unknown)
    }
}

impl ModelTransport for ModelService {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let exchange = self.exchange(request)?;
            pauses(exchange.pauses).await;
            exchange.whole()
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let exchange = self.exchange(request)?;
            pauses(exchange.pauses).await;
            let paced = stream::iter(exchange.pieces()?).then(move |piece| async move {
                pauses(exchange.pauses).await;
                piece
            });
            Ok(paced.boxed())
        })
    }
}

impl fmt::Debug for ModelService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ModelService").field("requests", &self.requests.lock().len()).finish_non_exhaustive()
    }
}
