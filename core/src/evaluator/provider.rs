//! Where a program's tools come from.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::Value;

use super::definition::ToolDefinition;
use super::error::{ProviderError, ToolFailure};

/// One attempt of one call.
#[derive(Clone, Debug)]
pub struct ProviderCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments, an object that has passed the definition's schema.
    pub arguments: Value,
    /// Which attempt of the call this is, from 1.
    pub attempt: u32,
    /// The run that the evaluation belongs to.
    pub run_id: &'a str,
    /// Where in the course of the program the attempt stands, if the provider
    /// [asks for it](ToolProvider::needs_places): the same in every evaluation with the same answers, however long each of
    /// them takes. Unlike the call's id it does not change from evaluation to evaluation.
    pub place: Option<Arc<str>>,
    /// What an external service may recognise a repeat by, where the call is durable (D6).
    pub idempotency_key: Option<Arc<str>>,
    pub(crate) evaluation_id: &'a str,
    pub(crate) number: u64,
}

impl<'a> ProviderCall<'a> {
    /// The first attempt of a call, for whoever calls a provider without a program, such as a test of one. What
    /// `evaluation_id` and `number` say together is the call's [id](Self::call_id); the evaluation is a run of its own.
    pub fn new(tool: &'a str, arguments: Value, evaluation_id: &'a str, number: u64) -> Self {
        Self {
            tool,
            arguments,
            attempt: 1,
            run_id: evaluation_id,
            place: None,
            idempotency_key: None,
            evaluation_id,
            number,
        }
    }

    /// The call's id, the same for all its attempts: it can serve as an idempotency key.
    pub fn call_id(&self) -> String {
        format!("{}-{}", self.evaluation_id, self.number)
    }
}

/// Where a program's tools come from: an [`Executor`](crate::executor::Executor), or a type of one's own.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::{Value, json};
/// use windtunnel_core::BoxFuture;
/// use windtunnel_core::evaluator::{Evaluator, Program, ProviderCall, ProviderError, ToolDefinition, ToolProvider};
///
/// struct Doubling;
///
/// impl ToolProvider for Doubling {
///     fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
///         Box::pin(async {
///             let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
///             Ok(vec![Arc::new(ToolDefinition::with_input_schema("double", "Doubles.", &schema)?)])
///         })
///     }
///
///     fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
///         Box::pin(async move { Ok(json!(call.arguments["n"].as_i64().unwrap_or(0) * 2)) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let program = Program::from_value(&json!({
///     "schema_version": "2.0",
///     "body": [{"type": "tool_call", "tool": "double", "arguments": {"n": {"type": "literal", "value": 21}}}],
/// }))?;
/// let evaluation = Evaluator::new(Doubling).evaluate(&program).await;
/// assert_eq!(evaluation.into_value()?, json!(42));
/// # Ok(())
/// # }
/// ```
pub trait ToolProvider: Send + Sync {
    /// All tools.
    ///
    /// # Errors
    /// [`ProviderError`] if they cannot be listed.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>>;

    /// The tool of this name. Each evaluation that comes to call it keeps the first answer; siblings may ask at once. It
    /// costs nothing of a budget (V6).
    ///
    /// # Errors
    /// [`ToolFailure::not_found`] if there is none.
    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        Box::pin(async move {
            let found = self.list().await?.into_iter().find(|definition| definition.name() == name);
            found.ok_or_else(|| ToolFailure::not_found().into())
        })
    }

    /// Makes one attempt of a call. The future is dropped when the evaluation, or its part of it, is cancelled.
    ///
    /// # Errors
    /// [`ProviderError`] that says how it failed.
    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>>;

    /// Whether calls are to have a [place](ProviderCall::place).
    fn needs_places(&self) -> bool {
        false
    }

    /// Whether the run's own limits have counted this call, after it was made. A durable provider asks, so that it can say
    /// so when the call is not made again.
    fn has_counted(&self, _call: &ProviderCall<'_>) -> bool {
        false
    }

    /// Counts a call that was made before, in an evaluation that did not come to its end.
    fn count(&self, _call: &ProviderCall<'_>) {}

    /// The run that all calls of this provider are made in, if there is one. Else each evaluation is a run of its own.
    fn run_id(&self) -> Option<&str> {
        None
    }

    /// A run that an evaluation began is over, even if it was cancelled.
    fn end_run(&self, _run_id: &str) {}
}

impl<P: ToolProvider + ?Sized> ToolProvider for Arc<P> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        (**self).list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        (**self).definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        (**self).call(call)
    }

    fn needs_places(&self) -> bool {
        (**self).needs_places()
    }

    fn has_counted(&self, call: &ProviderCall<'_>) -> bool {
        (**self).has_counted(call)
    }

    fn count(&self, call: &ProviderCall<'_>) {
        (**self).count(call);
    }

    fn run_id(&self) -> Option<&str> {
        (**self).run_id()
    }

    fn end_run(&self, run_id: &str) {
        (**self).end_run(run_id);
    }
}
