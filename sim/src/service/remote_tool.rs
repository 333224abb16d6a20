//! A tool of another host.

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{Tool, ToolError, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};

use super::caller::{Said, Service};
use super::error::ServiceError;
use super::message::{CALL_TOOL, FAILED, VALUE_BOUNDS};

/// A tool that is answered by another host ([`serve_tools`](super::serve_tools)). Each call has a connection of its own, and
/// tells the service its id and its idempotency key.
///
/// The policy is this side's: a service that says nothing is waited for as long as [`ToolSpec::timeout`] says, and a
/// connection that is lost is a [`ToolError`] that says to try again, whatever became of the call. See [the module](super)
/// for an example.
#[derive(Debug)]
pub struct RemoteTool {
    spec: ToolSpec,
    service: Service,
}

/// A call as it is sent.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallParams {
    pub(super) name: String,
    pub(super) arguments: Arc<Value>,
    pub(super) call_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) idempotency_key: Option<Arc<str>>,
}

/// What a call comes to.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallValue {
    pub(super) value: Value,
}

/// How a call failed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallFailure {
    pub(super) retryable: bool,
}

impl RemoteTool {
    /// The tool of this name, on the connections that `connect` gives.
    pub fn new<F, Fut, S>(spec: ToolSpec, connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        Self { spec, service: Service::new(connect) }
    }

    async fn ask(&self, params: &CallParams) -> Result<Result<Value, ToolError>, ServiceError> {
        let malformed = |_| ServiceError::malformed("it is no answer to a call of a tool");
        match self.service.call(CALL_TOOL, params).await?.next().await? {
            Said::Result(result) => {
                let CallValue { value } = serde_json::from_value(result).map_err(malformed)?;
                Ok(Ok(value))
            }
            Said::Error(refusal) if refusal.code == FAILED => {
                let CallFailure { retryable } = serde_json::from_value(refusal.data).map_err(malformed)?;
                let message = refusal.message;
                Ok(Err(if retryable { ToolError::retryable(message) } else { ToolError::new(message) }))
            }
            Said::Error(refusal) => Err(refusal.into()),
            Said::Notification { .. } => Err(ServiceError::malformed("the answer of a tool is one message")),
        }
    }
}

impl Tool for RemoteTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            VALUE_BOUNDS
                .check(&arguments)
                .map_err(|error| ToolError::new(format!("the arguments cannot be written: {error}")))?;
            let params = CallParams {
                name: self.spec.name.clone(),
                arguments,
                call_id: context.call_id().to_owned(),
                idempotency_key: context.idempotency_key().cloned(),
            };
            let answer = self.ask(&params).await.map_err(|error| {
                let message = error.to_string();
                let message = message.strip_suffix("; see the cause").unwrap_or(&message);
                let failed = if error.may_pass() { ToolError::retryable(message) } else { ToolError::new(message) };
                failed.with_source(error)
            })?;
            Ok(answer?)
        })
    }
}
