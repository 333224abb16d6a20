//! The tools of a program as operations, so that a program may be evaluated inside a workflow.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::binding::OperationKind;
use super::context::{OperationCall, WorkflowContext};
use super::error::DurableError;
use super::text::check_name;
use crate::BoxFuture;
use crate::evaluator::{ErrorKind, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider};
use crate::json::hexadecimal;
use crate::tool::Interrupted;

/// The longest name, in bytes, so that keys fit (D1).
const NAME_BYTES_MAX: usize = 32;
/// The longest place that is written as it is; of a longer one, the digest is.
const PLACE_BYTES_MAX: usize = 64;

/// A provider whose every call is an operation: see [`WorkflowContext::tools`].
pub struct OperationTools<P> {
    context: WorkflowContext,
    provider: Arc<P>,
    name: Arc<str>,
    version: Arc<str>,
}

/// All that an attempt of a call depends on.
#[derive(Serialize)]
struct CallArguments {
    tool: String,
    arguments: Value,
}

/// What an attempt of a call came to, as it is recorded. A failure is a result too: the program may go on.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRecord {
    outcome: CallOutcome,
    /// Whether the run's limits counted it.
    counted: bool,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum CallOutcome {
    Value(Value),
    Failed { kind: ErrorKind, message: String },
}

impl WorkflowContext {
    /// The tools of a program that is evaluated here: each attempt of a call is an operation (D2, D3), with a key such as
    /// `tool:plan:1.2/1`: the first call in the second of the parts that the program parted into first. The keys are
    /// the same in every attempt, however long its parallel parts take. They depend on the program and on the evaluator's
    /// limits and policy: while an activation is open, change none of these.
    ///
    /// `name` tells several evaluations of one activation apart. An evaluation has at most as many attempts of calls as an
    /// activation has records (D4).
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use windtunnel_core::BoxError;
    /// use windtunnel_core::durable::{JournalStore, MemoryStore, Worker, Workflow, WorkflowContext};
    /// use windtunnel_core::env::Env;
    /// use windtunnel_core::evaluator::{Evaluator, Program};
    /// use windtunnel_core::executor::Executor;
    /// use windtunnel_core::tool::{FunctionTool, Registry};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let mut registry = Registry::new();
    /// registry.register(FunctionTool::json("greet", "Greets.", json!({"type": "object"}), |_, _| async {
    ///     Ok::<_, BoxError>(json!("hello"))
    /// }))?;
    /// let executor = Executor::new(registry);
    /// let plan = Workflow::new("plan").entry("start", move |context: WorkflowContext, program: Value| {
    ///     let executor = executor.clone();
    ///     async move {
    ///         let program = Program::from_value(&program)?;
    ///         let tools = context.tools("plan", executor)?;
    ///         let value = Evaluator::new(tools).evaluate(&program).await.into_value()?;
    ///         Ok::<_, BoxError>(context.complete(&value)?)
    ///     }
    /// });
    /// let store = MemoryStore::new(Env::system());
    /// let worker = Worker::new(store.clone()).workflow(plan);
    /// let call = json!({"schema_version": "2.0", "body": [{"type": "tool_call", "tool": "greet", "arguments": {}}]});
    /// worker.start("p", "plan", "start", &call).await?;
    /// worker.run_until_idle().await?;
    /// let history = store.read("p").await?.ok_or("it was started")?;
    /// assert_eq!(&**history.activations[0].records[0].record.key(), "tool:plan:1.1/1");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DurableError::InvalidKey`] for a name that cannot be stored, [`DurableError::TooLarge`] for one over 32 bytes.
    pub fn tools<P: ToolProvider + 'static>(&self, name: &str, provider: P) -> Result<OperationTools<P>, DurableError> {
        let what = "the name of the evaluation";
        check_name(name).map_err(|flaw| DurableError::InvalidKey { what, flaw })?;
        if name.len() > NAME_BYTES_MAX {
            return Err(DurableError::TooLarge { what, bytes: name.len(), bytes_max: NAME_BYTES_MAX });
        }
        let provider = Arc::new(provider);
        Ok(OperationTools { context: self.clone(), provider, name: name.into(), version: "1".into() })
    }
}

impl<P> OperationTools<P> {
    /// The version of all tools (D1). Default "1". Change it with what they do.
    #[must_use]
    pub fn version(self, version: impl Into<Arc<str>>) -> Self {
        Self { version: version.into(), ..self }
    }

    fn key(&self, place: &str) -> String {
        match place.len() {
            ..=PLACE_BYTES_MAX => format!("tool:{}:{place}", self.name),
            _ => format!("tool:{}:{}", self.name, hexadecimal(&Sha256::digest(place))),
        }
    }
}

impl<P: ToolProvider + 'static> ToolProvider for OperationTools<P> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.provider.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.provider.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let key = self.key(call.place.as_deref().unwrap_or_default());
            if self.context.recorded(&key).is_some_and(|record| record["counted"] == Value::Bool(true)) {
                self.provider.count(&call);
            }
            let (tool, provider) = (call.tool.to_owned(), Arc::clone(&self.provider));
            let (run_id, evaluation_id) = (call.run_id.to_owned(), call.evaluation_id.to_owned());
            let (attempt, place, number) = (call.attempt, call.place, call.number);
            let arguments = CallArguments { tool: tool.clone(), arguments: call.arguments };
            let body = move |arguments: CallArguments, operation: OperationCall| async move {
                let call = ProviderCall {
                    tool: &arguments.tool,
                    arguments: arguments.arguments,
                    attempt,
                    run_id: &run_id,
                    place,
                    idempotency_key: Some(operation.idempotency_key),
                    evaluation_id: &evaluation_id,
                    number,
                };
                let made = call.clone();
                let outcome = CallOutcome::of(provider.call(call).await)?;
                Ok::<_, Interrupted>(CallRecord { outcome, counted: provider.has_counted(&made) })
            };
            let recorded: CallRecord = self
                .context
                .operation(&key, OperationKind::Tool, &tool, &self.version, arguments, body)
                .await
                .map_err(Interrupted::new)?;
            recorded.outcome.into_answer()
        })
    }

    fn needs_places(&self) -> bool {
        true
    }

    fn run_id(&self) -> Option<&str> {
        self.provider.run_id()
    }

    fn end_run(&self, run_id: &str) {
        self.provider.end_run(run_id);
    }
}

impl CallOutcome {
    /// Control flow leaves no record.
    fn of(answer: Result<Value, ProviderError>) -> Result<Self, Interrupted> {
        match answer {
            Ok(value) => Ok(Self::Value(value)),
            Err(ProviderError::Failed(failure)) => {
                Ok(Self::Failed { kind: failure.kind(), message: failure.message().to_owned() })
            }
            Err(ProviderError::Interrupted(interrupted)) => Err(interrupted),
        }
    }

    fn into_answer(self) -> Result<Value, ProviderError> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Failed { kind, message } => Err(ToolFailure::recorded(kind, message).into()),
        }
    }
}

impl<P> fmt::Debug for OperationTools<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OperationTools").field("name", &self.name).finish_non_exhaustive()
    }
}
