//! A model of another host.

use std::fmt;
use std::io;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel_core::env::Env;
use windtunnel_core::model::{Delta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport};
use windtunnel_core::{BoxFuture, BoxStream};

use super::caller::{Call, Said, Service};
use super::error::ServiceError;
use super::message::{COMPLETE, DELTA, FAILED, Refusal, STREAM, UNANSWERABLE};

const TIMEOUT: Duration = Duration::from_secs(60);

/// A model that is answered by another host ([`serve_model`](super::serve_model)). Each request has a connection of its own.
///
/// A connection that is lost, also in the middle of a streamed response, is a [`ModelErrorKind::Connection`].
///
/// ```
/// use windtunnel_core::BoxError;
/// use windtunnel_core::model::{Message, ModelRequest, ModelTransport};
/// use windtunnel_sim::World;
/// use windtunnel_sim::script::ScriptedModel;
/// use windtunnel_sim::service::{RemoteModel, serve_model};
///
/// let run = World::new(7).run(|world| async move {
///     world.host("model")?.start(|process| async move {
///         let model = process.faults().model(ScriptedModel::new([ScriptedModel::says("Hello.")]));
///         let _ended = serve_model(process, 80, model).await;
///     });
///     let agent = world.host("agent")?.process();
///     let calling = agent.clone();
///     let model = RemoteModel::new(agent.env(), move || {
///         let process = calling.clone();
///         async move { process.connect("model", 80).await }
///     });
///     let request = ModelRequest { messages: vec![Message::user("Hello?")], ..ModelRequest::default() };
///     Ok::<_, BoxError>(model.complete(&request).await?.message.content)
/// });
/// assert_eq!(run.outcome?.unwrap(), "Hello.");
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
pub struct RemoteModel {
    service: Service,
    env: Env,
    timeout: Duration,
}

/// How a model failed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelFailure {
    pub(super) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) retry_after: Option<Duration>,
}

impl RemoteModel {
    /// A model on the connections that `connect` gives. Times follow `env`.
    pub fn new<F, Fut, S>(env: Env, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        Self { service: Service::new(connect), env, timeout: TIMEOUT }
    }

    /// How long to wait for an answer, with connecting; for each piece of a streamed one. Default: 60 s.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    async fn in_time<T>(&self, talking: impl Future<Output = Result<T, ServiceError>>) -> Result<T, ModelError> {
        match self.env.timeout(self.timeout, talking).await {
            Ok(said) => said.map_err(|error| failed(&error)),
            Err(_elapsed) => {
                let message = format!("the service did not answer within {:?}", self.timeout);
                Err(ModelError::new(ModelErrorKind::Timeout, message))
            }
        }
    }

    /// Asks, and gives the first that the service says with the call that it belongs to.
    async fn ask(&self, method: &str, request: &ModelRequest) -> Result<(Said, Call), ModelError> {
        let asking = async {
            let mut call = self.service.call(method, request).await?;
            Ok((call.next().await?, call))
        };
        self.in_time(asking).await
    }
}

impl ModelTransport for RemoteModel {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            match self.ask(COMPLETE, request).await?.0 {
                Said::Result(response) => read(response),
                Said::Error(refusal) => Err(refused(refusal)),
                Said::Notification { .. } => Err(invalid("a whole response is one message")),
            }
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let (first, call) = match self.ask(STREAM, request).await? {
                (Said::Error(refusal), _) => return Err(refused(refusal)),
                begun => begun,
            };
            let coming = Coming { said: Some(first), call, is_finished: false };
            let deltas = stream::unfold(Some(coming), move |coming| async move {
                let mut coming = coming?;
                let delta = coming.next(self).await?;
                // After an error nothing comes.
                Some((delta.clone(), delta.is_ok().then_some(coming)))
            });
            Ok(deltas.boxed())
        })
    }
}

/// A response that comes in pieces.
struct Coming {
    said: Option<Said>,
    call: Call,
    is_finished: bool,
}

impl Coming {
    /// The next piece; nothing after the last one.
    async fn next(&mut self, model: &RemoteModel) -> Option<Result<Delta, ModelError>> {
        let said = match self.said.take() {
            Some(said) => Ok(said),
            None => model.in_time(self.call.next()).await,
        };
        let delta = match said {
            Ok(Said::Notification { method, params }) if method == DELTA => read(params),
            Ok(Said::Notification { .. }) => Err(invalid("a piece of a response is expected")),
            Ok(Said::Error(refusal)) => Err(refused(refusal)),
            Ok(Said::Result(_)) if self.is_finished => return None,
            Ok(Said::Result(_)) => Err(failed(&ServiceError::Ended)),
            // The response is whole: that the connection broke after it takes nothing from it.
            Err(_) if self.is_finished => return None,
            Err(error) => Err(error),
        };
        self.is_finished |= matches!(delta, Ok(Delta::Finished { .. }));
        Some(delta)
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ModelError> {
    // What serde says may hold values.
    serde_json::from_value(value).map_err(|_| invalid("the answer of the service is not that of a model"))
}

fn invalid(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidResponse, message)
}

fn failed(error: &ServiceError) -> ModelError {
    let kind = match error {
        ServiceError::Connect(_) | ServiceError::Stream(_) | ServiceError::Ended => ModelErrorKind::Connection,
        ServiceError::Malformed { .. } => ModelErrorKind::InvalidResponse,
        ServiceError::TooLong { .. } | ServiceError::Refused { .. } => ModelErrorKind::InvalidRequest,
    };
    let message = error.to_string();
    ModelError::new(kind, message.strip_suffix("; see the cause").unwrap_or(&message))
}

/// What the service says of its model.
fn refused(refusal: Refusal) -> ModelError {
    match refusal.code {
        FAILED => {}
        UNANSWERABLE => return invalid(&refusal.message),
        _ => return failed(&refusal.into()),
    }
    match serde_json::from_value(refusal.data) {
        Ok(ModelFailure { kind, retry_after }) => {
            let kind = ModelErrorKind::ALL.into_iter().find(|known| known.as_str() == kind);
            let kind = kind.unwrap_or(ModelErrorKind::InvalidResponse);
            ModelError { retry_after, ..ModelError::new(kind, refusal.message) }
        }
        Err(_) => invalid("the service does not say how the model failed"),
    }
}

impl fmt::Debug for RemoteModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RemoteModel").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
