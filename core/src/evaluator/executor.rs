//! The executor as a provider of tools: its policies apply underneath those of the evaluation.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;

use super::definition::ToolDefinition;
use super::error::{ProviderError, ToolFailure};
use super::evaluate::Evaluator;
use super::provider::{ProviderCall, ToolProvider};
use crate::executor::{Executor, LoopRun, RunError, ToolCall};
use crate::tool;

impl Executor {
    /// An evaluator of programs whose tools are this executor's, in its environment and with its sinks.
    ///
    /// A tool's own retries are made underneath: they are one attempt to the evaluator's limits and retry policy.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(self.clone()).env(self.env().clone()).reporting_to(self.emitter().into_owned())
    }
}

/// Calls go through all policies of the executor, in its context's run or in that of the evaluation. Attempts of one call
/// have one call id, so they count once (E7). A pre-approval is not used (E8).
impl ToolProvider for Executor {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { Ok(self.registry().iter().map(|tool| tool.definition()).collect()) })
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        let definition = self.registry().get(name).map(|tool| tool.definition());
        Box::pin(async { definition.ok_or_else(|| ToolFailure::not_found().into()) })
    }

    fn call<'a>(&'a self, mut call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let executor = self.in_run(call.run_id).with_idempotency_key(call.idempotency_key.clone());
        let arguments = std::mem::take(&mut call.arguments);
        let call = ToolCall { arguments, ..tool_call(&call) };
        Box::pin(async move {
            let result = executor.run_call(call).await?;
            result.into_value().map_err(provider_error)
        })
    }

    fn has_counted(&self, call: &ProviderCall<'_>) -> bool {
        LoopRun::enter(&self.in_run(call.run_id)).has_counted(&tool_call(call))
    }

    fn count(&self, call: &ProviderCall<'_>) {
        LoopRun::enter(&self.in_run(call.run_id)).count(&tool_call(call));
    }

    fn run_id(&self) -> Option<&str> {
        Some(self.context().run_id.as_str()).filter(|run_id| !run_id.is_empty())
    }

    fn end_run(&self, run_id: &str) {
        self.end_run(run_id);
    }
}

fn tool_call(call: &ProviderCall<'_>) -> ToolCall {
    ToolCall { id: call.call_id(), name: call.tool.to_owned(), arguments: call.arguments.clone() }
}

/// What a refusal or failure of the executor is to a program (V6a). Only what may pass is retried by default.
fn provider_error(error: RunError) -> ProviderError {
    let error = match error {
        RunError::Interrupted(interrupted) => return interrupted.into(),
        RunError::Pending { .. } => return ToolFailure::refused(error.to_string()).with_source(error).into(),
        RunError::Call(error) => error,
    };
    let message = error.message.clone();
    let failure = match error.kind {
        tool::ErrorKind::ToolNotFound => ToolFailure::not_found(),
        tool::ErrorKind::ToolArgsInvalid => ToolFailure::arguments(message),
        tool::ErrorKind::ToolTimeout => ToolFailure::timeout(),
        tool::ErrorKind::ToolError | tool::ErrorKind::ToolFailed => ToolFailure::execution(message),
        tool::ErrorKind::OncePerRun
        | tool::ErrorKind::MaxCalls
        | tool::ErrorKind::ApprovalDenied
        | tool::ErrorKind::BudgetExceeded => ToolFailure::refused(error.to_string()),
    };
    failure.with_source(error).into()
}
