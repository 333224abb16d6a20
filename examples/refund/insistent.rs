//! A tool and a model that are asked again for whatever is no good answer.

use std::sync::Arc;

use serde_json::Value;
use windtunnel::executor::ToolContext;
use windtunnel::model::{Delta, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport};
use windtunnel::tool::{Tool, ToolError, ToolSpec};
use windtunnel::{BoxError, BoxFuture, BoxStream};

/// A tool whose failures leave open what it did: each is one to try again after, under the same idempotency key. If the model
/// heard of it instead, it would make another call, which has another key.
pub(crate) struct InsistentTool<T> {
    pub(crate) tool: T,
    /// What a good answer has.
    pub(crate) member: &'static str,
}

impl<T: Tool> Tool for InsistentTool<T> {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            match self.tool.call(arguments, context).await {
                Ok(value) if value.get(self.member).is_some() => Ok(value),
                Ok(_) => Err(ToolError::retryable("the answer is not what it should be").into()),
                // Not as its source, where it would say whether to try again.
                Err(error) => Err(ToolError::retryable(error.to_string()).into()),
            }
        })
    }
}

/// A model that is asked again when it refuses or answers nonsense.
pub(crate) struct InsistentModel<M> {
    pub(crate) model: M,
}

impl<M: ModelTransport> ModelTransport for InsistentModel<M> {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let unusable = |message: &str| ModelError::new(ModelErrorKind::Server, message);
            match self.model.complete(request).await {
                Ok(response) if response.finish_reason == FinishReason::Refusal => Err(unusable("the model refused")),
                Err(error) if !error.kind.is_retryable() => Err(unusable(&error.message)),
                other => other,
            }
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        self.model.stream(request)
    }
}
