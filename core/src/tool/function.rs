//! Tools made of closures.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ArgumentsError, CacheScope, Confirm, Tool, ToolSpec};
use crate::BoxError;
use crate::env::BlockingError;
use crate::executor::{CallContext, ToolCall, ToolContext};
use crate::json::Path;

type Body = Box<dyn Fn(Arc<Value>, ToolContext) -> BoxFuture<'static, Result<Value, BoxError>> + Send + Sync>;
type Check = Box<dyn Fn(&Value) -> Result<(), ArgumentsError> + Send + Sync>;

/// A closure as a tool, with its policy.
///
/// ```
/// use std::time::Duration;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use windtunnel_core::tool::{FunctionTool, ToolError};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct FetchInvoice {
///     number: String,
/// }
///
/// let tool = FunctionTool::new("fetch_invoice", "Fetches an invoice.", |arguments: FetchInvoice, _context| async move {
///     if !arguments.number.starts_with("INV-") {
///         return Err(ToolError::new("invoice numbers start with INV-"));
///     }
///     Ok(format!("{} is paid", arguments.number))
/// })
/// .retries(3)
/// .timeout(Duration::from_secs(2));
/// ```
pub struct FunctionTool {
    spec: ToolSpec,
    body: Body,
    check: Check,
}

impl FunctionTool {
    /// A typed async closure; the schema comes from the type of its arguments.
    ///
    /// If nothing in the closure names its error type, end it with `Ok::<_, BoxError>(value)`.
    pub fn new<A, R, E, F, Fut>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize,
        E: Into<BoxError>,
        F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        let body = move |arguments: Arc<Value>, context| -> BoxFuture<'static, Result<Value, BoxError>> {
            match typed::<A>(&arguments) {
                Ok(typed) => {
                    let result = function(typed, context);
                    Box::pin(async move { to_json(result.await) })
                }
                Err(error) => Box::pin(std::future::ready(Err(error.into()))),
            }
        };
        Self {
            spec: ToolSpec::new(name, description, schema_of::<A>()),
            body: Box::new(body),
            check: Box::new(|arguments| typed::<A>(arguments).map(drop)),
        }
    }

    /// A typed closure that blocks its thread; it runs where [`Env::run_blocking`](crate::env::Env::run_blocking) says.
    ///
    /// After a timeout it keeps running on its thread, and its late result is dropped (E14).
    pub fn blocking<A, R, E, F>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize,
        E: Into<BoxError>,
        F: Fn(A, ToolContext) -> Result<R, E> + Send + Sync + 'static,
    {
        let function = Arc::new(function);
        Self::new(name, description, move |arguments: A, context: ToolContext| {
            let function = Arc::clone(&function);
            let env = context.env().clone();
            async move {
                let work = env.run_blocking(move || to_json(function(arguments, context)));
                work.await.unwrap_or_else(|lost: BlockingError| Err(lost.into()))
            }
        })
    }

    /// An async closure over JSON, with its schema given as JSON.
    pub fn json<R, E, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        function: F,
    ) -> Self
    where
        R: Serialize,
        E: Into<BoxError>,
        F: Fn(Arc<Value>, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        let body = move |arguments, context| -> BoxFuture<'static, Result<Value, BoxError>> {
            let result = function(arguments, context);
            Box::pin(async move { to_json(result.await) })
        };
        Self { spec: ToolSpec::new(name, description, parameters), body: Box::new(body), check: Box::new(|_| Ok(())) }
    }

    /// How many attempts may follow the first.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.spec.retries = retries;
        self
    }

    /// How long one attempt may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.timeout = Some(timeout);
        self
    }

    /// The kind that `per_kind` caps count.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.spec.kind = kind.into();
        self
    }

    /// Takes the run's exclusive lock: nothing else of the run runs meanwhile. A nested call takes no lock of its own, so
    /// it runs beside the siblings of the call it is nested in (E10).
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.spec.parallel_safe = false;
        self
    }

    /// May be called only once in a run. Calls outside [`Executor::run_scope`](crate::executor::Executor::run_scope) and
    /// without a run id are each a run of their own.
    #[must_use]
    pub fn once_per_run(mut self) -> Self {
        self.spec.once_per_run = true;
        self
    }

    /// Every call needs approval.
    #[must_use]
    pub fn confirm(mut self) -> Self {
        self.spec.confirm = Confirm::Always;
        self
    }

    /// A call needs approval when `rule` returns true.
    #[must_use]
    pub fn confirm_when(mut self, rule: impl Fn(&ToolCall, &CallContext) -> bool + Send + Sync + 'static) -> Self {
        self.spec.confirm = Confirm::When(Arc::new(rule));
        self
    }

    /// Serves values from the cache for `ttl`.
    #[must_use]
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.spec.cache_ttl = Some(ttl);
        self.spec.cache_scope = scope;
        self
    }
}

impl Tool for FunctionTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        (self.body)(arguments, context)
    }

    fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        (self.check)(arguments)
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FunctionTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}

fn schema_of<A: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>().to_value()
}

fn typed<A: DeserializeOwned>(arguments: &Value) -> Result<A, ArgumentsError> {
    // The deserializer's own text may quote the value, which may be secret.
    serde_path_to_error::deserialize(arguments).map_err(|error| ArgumentsError {
        path: Path::root().join(error.path()),
        problem: "the tool's type does not accept this value".to_owned(),
    })
}

fn to_json<R: Serialize, E: Into<BoxError>>(result: Result<R, E>) -> Result<Value, BoxError> {
    serde_json::to_value(result.map_err(Into::into)?).map_err(Into::into)
}
