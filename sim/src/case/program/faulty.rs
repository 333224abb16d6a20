//! A program's tools that take faults.

use std::sync::Arc;

use serde_json::Value;
use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider};
use windtunnel_core::tool::ToolError;
use windtunnel_core::{BoxError, BoxFuture};

use crate::fault::Faults;

/// Passes calls on, with the faults that come to them, if there may be any.
pub(super) struct FaultyProvider<P> {
    inner: P,
    faults: Option<Faults>,
}

impl<P> FaultyProvider<P> {
    pub(super) fn new(inner: P, faults: Option<Faults>) -> Self {
        Self { inner, faults }
    }
}

impl<P: ToolProvider> ToolProvider for FaultyProvider<P> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.inner.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.inner.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let Some(faults) = &self.faults else { return self.inner.call(call) };
        Box::pin(async move {
            // What the tool itself comes to is no error of the seam.
            let body = || async { Ok::<_, BoxError>(self.inner.call(call.clone()).await) };
            match faults.call(call.tool, body).await {
                Ok(answer) => answer,
                Err(error) => Err(failure(error).into()),
            }
        })
    }

    fn needs_places(&self) -> bool {
        self.inner.needs_places()
    }
}

/// A fault that says to try again is one of execution, which policies retry; any other is unclassified.
fn failure(error: BoxError) -> ToolFailure {
    match error.downcast_ref::<ToolError>() {
        Some(failed) if failed.is_retryable() => ToolFailure::execution(failed.message()),
        _ => ToolFailure::unclassified(error),
    }
}
