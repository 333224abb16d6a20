//! Hooks before and after a tool: guardrails, budgets, redaction.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;

use super::flow::{Flow, Stop, guarded};
use super::result::Outcome;
use crate::BoxError;
use crate::causes;
use crate::tool::{CallError, ErrorKind, Interrupted, PreparedTool, ToolError};

/// What a hook sees of a call.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The run.
    pub run_id: Arc<str>,
    /// The call.
    pub call_id: Arc<str>,
    /// The conversation.
    pub thread_id: Option<String>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments as they stand.
    pub arguments: Arc<Value>,
    /// What the tool said it cost, in US dollars: nothing before it ran.
    pub cost_usd: f64,
}

/// Runs around every call.
///
/// A hook refuses by an error: [`BudgetExceeded`] makes the result `budget-exceeded`, a
/// [`ToolError`](crate::tool::ToolError) makes it `tool-error` with its message, anything else `tool-failed`. Control
/// flow passes through.
pub trait Hook: Send + Sync {
    /// Runs after the arguments are valid and before approval, and again for arguments that a reviewer edited. It may
    /// return other arguments, which must be valid too.
    ///
    /// # Errors
    /// Any error refuses the call.
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Runs after the attempts, or after a cache hit, and may replace the outcome. The cache keeps the tool's own value.
    ///
    /// # Errors
    /// Any error becomes the call's result.
    fn after<'a>(&'a self, _call: &'a HookCall, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

/// A shared hook, so that a test can look at it afterwards.
impl<T: Hook + ?Sized> Hook for Arc<T> {
    fn before<'a>(&'a self, call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        (**self).before(call)
    }

    fn after<'a>(&'a self, call: &'a HookCall, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        (**self).after(call, outcome)
    }
}

/// The error by which a hook refuses a call for its budget.
///
/// ```
/// use windtunnel_core::executor::BudgetExceeded;
///
/// assert_eq!(BudgetExceeded::new("0.50 USD a run").to_string(), "budget exceeded: 0.50 USD a run");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("budget exceeded: {reason}")]
pub struct BudgetExceeded {
    reason: String,
}

impl BudgetExceeded {
    /// The reason goes to the model.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl Flow<'_> {
    /// Validates arguments and takes them through the before-hooks.
    pub(super) async fn prepare(&self, tool: &PreparedTool, arguments: Arc<Value>) -> Result<Arc<Value>, Stop> {
        validate(tool, &arguments)?;
        if self.engine.hooks.is_empty() {
            return Ok(arguments);
        }
        let mut call = self.hook_call(arguments, 0.0);
        for hook in &self.engine.hooks {
            match guarded(async { hook.before(&call).await }).await {
                Ok(None) => {}
                Ok(Some(replaced)) => {
                    validate(tool, &replaced)?;
                    call.arguments = Arc::new(replaced);
                }
                Err(error) => return Err(self.refused_by_hook(error)),
            }
        }
        Ok(call.arguments)
    }

    /// Takes an outcome through the after-hooks. All of them run, whatever those before them did.
    pub(super) async fn after(
        &self,
        arguments: &Arc<Value>,
        cost_usd: f64,
        mut outcome: Outcome,
    ) -> Result<Outcome, Stop> {
        if self.engine.hooks.is_empty() {
            return Ok(outcome);
        }
        let call = self.hook_call(Arc::clone(arguments), cost_usd);
        for hook in self.engine.hooks.iter().rev() {
            outcome = match guarded(async { hook.after(&call, outcome).await }).await {
                Ok(outcome) => outcome,
                Err(error) => match self.refused_by_hook(error) {
                    Stop::Refused(error) => Outcome::Error(error),
                    stop => return Err(stop),
                },
            };
        }
        Ok(outcome)
    }

    fn hook_call(&self, arguments: Arc<Value>, cost_usd: f64) -> HookCall {
        HookCall {
            run_id: Arc::clone(&self.run.id),
            call_id: Arc::clone(&self.identity.call_id),
            thread_id: self.executor.context.thread_id.clone(),
            tool: Arc::clone(&self.identity.tool),
            arguments,
            cost_usd,
        }
    }

    fn refused_by_hook(&self, error: BoxError) -> Stop {
        if self.engine.is_control_flow(&error) {
            return Stop::Interrupted(Interrupted::new(error));
        }
        tracing::debug!(tool = &*self.identity.tool, cause = causes::text(&*error), "a hook refused or failed");
        let (kind, message) = if let Some(error) = causes::find::<BudgetExceeded>(&*error) {
            (ErrorKind::BudgetExceeded, error.to_string())
        } else if let Some(error) = causes::find::<ToolError>(&*error) {
            (ErrorKind::ToolError, error.message().to_owned())
        } else {
            (ErrorKind::ToolFailed, format!("a hook of tool {:?} failed", &*self.identity.tool))
        };
        Stop::Refused(CallError { source: Some(Arc::from(error)), ..CallError::new(kind, message) })
    }
}

fn validate(tool: &PreparedTool, arguments: &Value) -> Result<(), CallError> {
    tool.check(arguments).map_err(|error| CallError::new(ErrorKind::ToolArgsInvalid, error.to_string()))
}
