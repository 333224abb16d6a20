//! A program's tools that follow scripts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::BoxFuture;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider};

use super::attempts::Attempts;
use super::invocations::Invocations;
use super::step::Step;

/// The tools of a program, each with a script of its own. Delays pass, and scripts draw, in the provider's environment.
///
/// ```
/// use std::num::NonZeroU32;
/// use serde_json::{Map, json};
/// use windtunnel_core::evaluator::{
///     Evaluator, ExecutionPolicy, Program, RetryPolicy, ToolDefinition, ToolFailure,
/// };
/// use windtunnel_sim::World;
/// use windtunnel_sim::script::{ScriptedFunction, ScriptedProvider, Step};
///
/// let program = Program::from_value(&json!({
///     "schema_version": "2.0",
///     "body": [{"type": "tool_call", "tool": "ping", "arguments": {}}],
/// }))?;
/// let ping = ToolDefinition::with_properties("ping", "Answers.", Map::new())?;
/// let retry = RetryPolicy {
///     max_attempts: NonZeroU32::new(2).unwrap(),
///     idempotent_tools: ["ping".to_owned()].into(),
///     ..RetryPolicy::default()
/// };
/// let run = World::new(0).run(|world| async move {
///     let ping = ScriptedFunction::new(ping, |_| Ok(json!("pong"))).script([Step::fail(ToolFailure::timeout())]);
///     let evaluator = Evaluator::new(ScriptedProvider::new(world.env(), [ping])).env(world.env());
///     evaluator.policy(ExecutionPolicy { retry, ..ExecutionPolicy::default() }).evaluate(&program).await
/// });
/// let evaluation = run.outcome?;
/// assert_eq!(evaluation.consumption.tool_calls, 2);
/// assert_eq!(evaluation.into_value()?, "pong");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ScriptedProvider {
    env: Env,
    functions: BTreeMap<Arc<str>, ScriptedFunction>,
}

type Function = Box<dyn Fn(&Value) -> Result<Value, ToolFailure> + Send + Sync>;

/// A tool of a [`ScriptedProvider`]: its nth attempt, counted over all calls, does the nth step of its script. After the
/// last step it answers at once, or does what [`ScriptedFunction::after_script`] says.
pub struct ScriptedFunction {
    definition: Arc<ToolDefinition>,
    function: Function,
    attempts: Attempts<ToolFailure>,
}

impl ScriptedProvider {
    /// A provider of these tools; of two with one name, the last.
    pub fn new(env: Env, functions: impl IntoIterator<Item = ScriptedFunction>) -> Self {
        let named = |function: ScriptedFunction| (function.definition.name().into(), function);
        Self { env, functions: functions.into_iter().map(named).collect() }
    }

    fn function(&self, name: &str) -> Result<&ScriptedFunction, ProviderError> {
        self.functions.get(name).ok_or_else(|| ToolFailure::not_found().into())
    }
}

impl ScriptedFunction {
    /// A tool that gives what `function` makes of the arguments, where its script says nothing else.
    pub fn new(
        definition: impl Into<Arc<ToolDefinition>>,
        function: impl Fn(&Value) -> Result<Value, ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        let definition = definition.into();
        let attempts = Attempts::of(definition.name());
        Self { definition, function: Box::new(function), attempts }
    }

    /// A tool that gives `{"echo": arguments}`, where its script says nothing else.
    pub fn echo(definition: impl Into<Arc<ToolDefinition>>) -> Self {
        Self::new(definition, |arguments| Ok(json!({"echo": arguments})))
    }

    /// What the first attempts do, in order.
    #[must_use]
    pub fn script(self, steps: impl IntoIterator<Item = Step<ToolFailure>>) -> Self {
        Self { attempts: self.attempts.script(steps), ..self }
    }

    /// What every attempt after the script does; it may draw from the environment.
    #[must_use]
    pub fn after_script(self, step: impl Fn(&Env) -> Step<ToolFailure> + Send + Sync + 'static) -> Self {
        Self { attempts: self.attempts.after_script(step), ..self }
    }

    /// How long an attempt takes whose step has no delay. Default: no time.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { attempts: self.attempts.delay(delay), ..self }
    }

    /// Logs the tool's invocations into `invocations`.
    #[must_use]
    pub fn log_to(self, invocations: Invocations) -> Self {
        Self { attempts: self.attempts.log_to(invocations), ..self }
    }
}

impl ToolProvider for ScriptedProvider {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { Ok(self.functions.values().map(|function| Arc::clone(&function.definition)).collect()) })
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        Box::pin(async { Ok(Arc::clone(&self.function(name)?.definition)) })
    }

    fn call<'a>(&'a self, mut call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let ScriptedFunction { function, attempts, .. } = self.function(call.tool)?;
            let arguments = Arc::new(call.arguments.take());
            let made = (|| call.call_id().into(), call.attempt);
            Ok(attempts.make(&self.env, arguments, made, function, |failure| failure).await?)
        })
    }
}

impl fmt::Debug for ScriptedFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedFunction")
            .field("definition", &self.definition)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
