//! The trait that every tool implements.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;

use super::{ArgumentsError, ToolSpec};
use crate::BoxError;
use crate::executor::ToolContext;

/// Something an agent can call. Most tools are closures: see [`FunctionTool`](super::FunctionTool).
///
/// ```
/// use std::sync::Arc;
/// use serde_json::{Value, json};
/// use windtunnel_core::executor::ToolContext;
/// use windtunnel_core::tool::{Tool, ToolSpec};
/// use windtunnel_core::{BoxError, BoxFuture};
///
/// struct Ping;
///
/// impl Tool for Ping {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec::new("ping", "Answers pong.", json!({"type": "object"}))
///     }
///
///     fn call(&self, _arguments: Arc<Value>, _context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
///         Box::pin(async { Ok(json!("pong")) })
///     }
/// }
/// ```
pub trait Tool: Send + Sync {
    /// Its name, schema and policy. Read once, when the tool is registered.
    fn spec(&self) -> ToolSpec;

    /// Runs one attempt. `arguments` have passed [`ToolSpec::parameters`] and [`Tool::check`].
    ///
    /// # Errors
    /// Any error. A [`ToolError`](super::ToolError), in it or in its chain of sources, says what the model may see and whether to retry.
    /// The error of a nested call is passed on as it is, unless the nested call ran out of time. Anything else is foreign
    /// and retried (E3).
    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>>;

    /// Checks what the schema cannot say. A typed closure checks here that its type accepts the arguments.
    ///
    /// # Errors
    /// [`ArgumentsError`], which makes the call `tool-args-invalid` before anybody is asked to approve it.
    fn check(&self, _arguments: &Value) -> Result<(), ArgumentsError> {
        Ok(())
    }
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> ToolSpec {
        (**self).spec()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        (**self).call(arguments, context)
    }

    fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        (**self).check(arguments)
    }
}
