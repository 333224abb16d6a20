//! A tool that follows a script, one step for each attempt.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::env::Env;
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{Tool, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};

use super::attempts::Attempts;
use super::invocations::Invocations;
use super::step::{Failure, Step};

/// A tool that follows a script: its nth attempt, counted over all calls, does the nth step. After the last step it
/// answers at once, or does what [`ScriptedTool::after_script`] says.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::executor::{Executor, ToolCall};
/// use windtunnel_core::tool::{Registry, ToolSpec};
/// use windtunnel_sim::World;
/// use windtunnel_sim::script::{Failure, ScriptedTool, Step};
///
/// let run = World::new(0).run(|world| async move {
///     let spec = ToolSpec { retries: 1, ..ToolSpec::new("search", "Searches.", json!({"type": "object"})) };
///     let mut registry = Registry::new();
///     registry.register(ScriptedTool::new(spec, [Step::fail(Failure::Foreign), Step::answer()])).unwrap();
///     let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
///     executor.run_call(ToolCall::new("search", json!({}))).await.unwrap().attempts
/// });
/// assert_eq!(run.outcome.unwrap(), 2);
/// ```
pub struct ScriptedTool {
    spec: ToolSpec,
    attempts: Attempts<Failure>,
}

impl ScriptedTool {
    /// A tool that follows `script`.
    pub fn new(spec: ToolSpec, script: impl IntoIterator<Item = Step>) -> Self {
        let attempts = Attempts::of(&spec.name).script(script);
        Self { spec, attempts }
    }

    /// What every attempt after the script does; it may draw from the environment.
    #[must_use]
    pub fn after_script(self, step: impl Fn(&Env) -> Step + Send + Sync + 'static) -> Self {
        Self { attempts: self.attempts.after_script(step), ..self }
    }

    /// Logs the tool's invocations into `invocations`.
    #[must_use]
    pub fn log_to(self, invocations: Invocations) -> Self {
        Self { attempts: self.attempts.log_to(invocations), ..self }
    }
}

impl Tool for ScriptedTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        let echo = |arguments: &Value| Ok(json!({"echo": arguments}));
        Box::pin(async move {
            let call = (|| context.call_id().into(), context.attempt());
            self.attempts.make(context.env(), arguments, call, echo, Failure::error).await
        })
    }
}

impl fmt::Debug for ScriptedTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedTool")
            .field("spec", &self.spec)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
