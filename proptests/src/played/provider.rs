//! A provider whose tools do what a case says.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use windtunnel_core::env::{CountingIds, Env};
use windtunnel_core::evaluator::{
    DefinitionError, ErrorKind, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider,
};
use windtunnel_core::executor::{Executor, RunError};
use windtunnel_core::tool::{Cancelled, FunctionTool, Registry};
use windtunnel_core::{BoxError, BoxFuture};

use super::CAUSE;
use crate::cases::{AttemptEnding, AttemptStep, ProgramTool, ToolBehaviours};

/// A provider of the [`ProgramTool`]s, which behave as a case says, on the clock of an environment. Clones share what they
/// observe.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::evaluator::{Evaluator, Program};
/// use windtunnel_proptests::cases::ToolBehaviours;
/// use windtunnel_proptests::played::PlayedProvider;
/// use windtunnel_sim::World;
///
/// let run = World::new(0).run(|world| async move {
///     let provider = PlayedProvider::new(world.env(), ToolBehaviours::default());
///     let program = Program::from_value(&json!({
///         "schema_version": "2.0", "body": [{"type": "tool_call", "tool": "ping"}],
///     })).unwrap();
///     let value = Evaluator::new(provider.clone()).env(world.env()).evaluate(&program).await.into_value();
///     assert_eq!(value.unwrap(), json!("pong"));
///     provider.attempts()
/// });
/// assert_eq!(run.outcome.unwrap()[0].tool, "ping");
/// ```
#[derive(Clone)]
pub struct PlayedProvider {
    env: Env,
    behaviours: Arc<ToolBehaviours>,
    state: Arc<Mutex<State>>,
}

/// One attempt that a provider was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedAttempt {
    /// The call's id.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// Which attempt of the call, from 1.
    pub attempt: u32,
    /// When it began.
    pub began: Duration,
    /// How it failed, if it came to an end and did.
    pub failure: Option<ErrorKind>,
    /// When it came to an end or was dropped, if it is over.
    pub ended: Option<Duration>,
}

#[derive(Default)]
struct State {
    attempts: Vec<ObservedAttempt>,
    /// By tool, the ids of its calls in order.
    calls: BTreeMap<ProgramTool, Vec<String>>,
    running: usize,
    running_max: usize,
}

impl PlayedProvider {
    /// A provider with these behaviours.
    pub fn new(env: Env, behaviours: ToolBehaviours) -> Self {
        Self { env, behaviours: Arc::new(behaviours), state: Arc::default() }
    }

    /// The attempts so far, in the order they began.
    pub fn attempts(&self) -> Vec<ObservedAttempt> {
        self.state.lock().attempts.clone()
    }

    /// How many attempts are running.
    pub fn running(&self) -> usize {
        self.state.lock().running
    }

    /// The most attempts that were running at once.
    pub fn running_max(&self) -> usize {
        self.state.lock().running_max
    }

    fn begin(&self, tool: ProgramTool, call: &ProviderCall<'_>) -> (AttemptStep, Running) {
        let mut state = self.state.lock();
        let call_id = call.call_id();
        let calls = state.calls.entry(tool).or_default();
        let known = calls.iter().position(|known| *known == call_id);
        let number = known.unwrap_or(calls.len()) as u64 + 1;
        if known.is_none() {
            calls.push(call_id.clone());
        }
        let step = self.behaviours.step(tool, number, &call.arguments, call.attempt);
        let index = state.attempts.len();
        state.attempts.push(ObservedAttempt {
            call_id,
            tool: call.tool.to_owned(),
            arguments: call.arguments.clone(),
            attempt: call.attempt,
            began: self.env.now(),
            failure: None,
            ended: None,
        });
        state.running += 1;
        state.running_max = state.running_max.max(state.running);
        (step, Running { env: self.env.clone(), state: Arc::clone(&self.state), index })
    }
}

impl ToolProvider for PlayedProvider {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        let defined: Result<Vec<_>, _> = ProgramTool::ALL.into_iter().map(definition).collect();
        Box::pin(async { Ok(defined?) })
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        let tool = ProgramTool::named(name);
        Box::pin(async move { Ok(definition(tool.ok_or_else(ToolFailure::not_found)?)?) })
    }

    /// The attempt begins here, before the future is polled.
    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let Some(tool) = ProgramTool::named(call.tool) else {
            return Box::pin(async { Err(ToolFailure::not_found().into()) });
        };
        let (step, running) = self.begin(tool, &call);
        Box::pin(async move {
            for _ in 0..step.yields {
                self.env.pause().await;
            }
            if !step.takes.is_zero() {
                self.env.until(self.env.now().saturating_add(step.takes)).await;
            }
            running.end(step.ending.failure());
            match step.ending {
                AttemptEnding::Interrupted => Err(interruption().await),
                ending => end(ending, tool, &call.arguments),
            }
        })
    }
}

/// Counts an attempt as running until it is dropped.
struct Running {
    env: Env,
    state: Arc<Mutex<State>>,
    index: usize,
}

impl Running {
    fn end(self, failure: Option<ErrorKind>) {
        self.state.lock().attempts[self.index].failure = failure;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        state.running -= 1;
        state.attempts[self.index].ended = Some(self.env.now());
    }
}

fn definition(tool: ProgramTool) -> Result<Arc<ToolDefinition>, DefinitionError> {
    let (name, properties): (_, Map<_, _>) = (tool.name(), tool.properties());
    let defined = if tool.has_input_schema() {
        let schema = json!({"type": "object", "properties": properties, "required": tool.required()});
        ToolDefinition::with_input_schema(name, "Made for a property test.", &schema)
    } else {
        ToolDefinition::with_properties(name, "Made for a property test.", properties)
    };
    defined.map(Arc::new)
}

/// Control flow. Only an executor can make it: this one has an environment of its own, and nobody hears it.
async fn interruption() -> ProviderError {
    let mut registry = Registry::new();
    let cancel = |_, _| async { Err::<Value, BoxError>(Cancelled.into()) };
    let registered = registry.register(FunctionTool::json("cancel", "Cancels.", json!({"type": "object"}), cancel));
    debug_assert!(registered.is_ok(), "a registry takes its first tool");
    let env = Env::system().with_ids(CountingIds::default());
    match Executor::builder(registry).env(env).build().run("cancel", json!({})).await {
        Err(RunError::Interrupted(interrupted)) => interrupted.into(),
        other => ToolFailure::response(format!("control flow came to {other:?}")).into(),
    }
}

fn end(ending: AttemptEnding, tool: ProgramTool, arguments: &Value) -> Result<Value, ProviderError> {
    let failure = match ending {
        AttemptEnding::Value => return Ok(tool.value(arguments)),
        // Unwinds as a panic does, without the panic hook: a test's output stays readable.
        AttemptEnding::Panic => std::panic::resume_unwind(Box::new(CAUSE)),
        AttemptEnding::Failure(ErrorKind::Timeout) => ToolFailure::timeout(),
        AttemptEnding::Failure(ErrorKind::ToolNotFound) => ToolFailure::not_found(),
        AttemptEnding::Failure(ErrorKind::ProviderResponse) => ToolFailure::response("not an answer"),
        AttemptEnding::Failure(ErrorKind::AstValidation) => ToolFailure::arguments("not these"),
        AttemptEnding::Failure(ErrorKind::ReplayMismatch) => ToolFailure::replay_mismatch("not recorded"),
        AttemptEnding::Failure(ErrorKind::Unclassified) => ToolFailure::unclassified(CAUSE),
        AttemptEnding::Failure(_) | AttemptEnding::Interrupted => {
            ToolFailure::execution("not today").with_source(CAUSE)
        }
    };
    Err(failure.into())
}

impl fmt::Debug for PlayedProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PlayedProvider").field("behaviours", &self.behaviours).finish_non_exhaustive()
    }
}
