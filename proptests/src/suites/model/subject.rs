//! What an adapter says.

use futures_util::future::LocalBoxFuture;
use windtunnel_core::env::Env;
use windtunnel_core::model::ModelTransport;

use super::ModelService;
use crate::played::HandClock;
use crate::suites::{Stalled, drive};

/// Transports of one type. Whatever makes one over a [`ModelService`] is a subject:
///
/// ```
/// use windtunnel_core::env::Env;
/// use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport};
/// use windtunnel_core::{BoxFuture, BoxStream};
/// use windtunnel_proptests::suites::{ModelService, Settings, model_transport_suite};
///
/// /// Forgets who asks again.
/// struct Forgetful(ModelService);
///
/// impl ModelTransport for Forgetful {
///     fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
///         Box::pin(async {
///             let request = ModelRequest { idempotency_key: None, ..request.clone() };
///             self.0.complete(&request).await
///         })
///     }
///
///     fn stream<'a>(
///         &'a self,
///         request: &'a ModelRequest,
///     ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
///         self.0.stream(request)
///     }
/// }
///
/// let subject = |service: ModelService, _: Env| Forgetful(service);
/// let report = model_transport_suite().run("mine", &subject, &Settings::default());
/// assert_eq!(report.broken(), ["idempotency_key"]);
/// ```
pub trait ModelTransportSubject: 'static {
    /// The transports.
    type Transport: ModelTransport;

    /// A transport to this model. It takes its time from `env`, if it takes any.
    fn transport(&self, service: ModelService, env: Env) -> Self::Transport;

    /// What they have. A point about a feature that is not named here is not applicable. All by default.
    fn features(&self) -> Vec<ModelFeature> {
        ModelFeature::ALL.to_vec()
    }

    /// Runs a future: on this thread, and on a clock that moves when it can only wait, unless an adapter says otherwise.
    ///
    /// # Errors
    /// [`Stalled`], if it does not end.
    fn drive(&self, clock: &HandClock, future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
        drive(clock, future)
    }
}

impl<F, T> ModelTransportSubject for F
where
    F: Fn(ModelService, Env) -> T + 'static,
    T: ModelTransport + 'static,
{
    type Transport = T;

    fn transport(&self, service: ModelService, env: Env) -> T {
        self(service, env)
    }
}

/// What a transport may have. Whoever lacks one says so in [`ModelTransportSubject::features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelFeature {
    /// Its service is told idempotency keys.
    IdempotencyKeys,
    /// It tells how long its service asks to wait.
    RetryAfter,
}

impl ModelFeature {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::IdempotencyKeys, Self::RetryAfter];

    /// What a subject without it lacks.
    pub fn name(self) -> &'static str {
        match self {
            Self::IdempotencyKeys => "idempotency keys",
            Self::RetryAfter => "Retry-After",
        }
    }
}
