//! A tool that follows a script, one step for each attempt.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::env::Env;
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{Tool, ToolError, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};

/// What one attempt does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// How long it takes, on the environment's clock.
    pub delay: Duration,
    /// How it ends.
    pub then: Then,
}

/// How an attempt ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// With this value, or with `{"echo": arguments}`.
    Answer(Option<Value>),
    /// With an error.
    Fail(Failure),
    /// Never.
    Hang,
    /// By a panic.
    Panic,
}

impl Default for Then {
    fn default() -> Self {
        Self::Answer(None)
    }
}

/// How an attempt fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A foreign error: a reset connection.
    Foreign,
    /// A [`ToolError`] that may be retried.
    Busy,
    /// A [`ToolError`] that may not.
    ToolError,
}

impl Failure {
    fn error(self) -> BoxError {
        match self {
            Self::Foreign => std::io::Error::from(std::io::ErrorKind::ConnectionReset).into(),
            Self::Busy => ToolError::retryable("the upstream is busy").into(),
            Self::ToolError => ToolError::new("the tool refuses these arguments").into(),
        }
    }
}

impl Step {
    /// Answers at once.
    pub fn answer() -> Self {
        Self::default()
    }

    /// Fails at once.
    pub fn fail(failure: Failure) -> Self {
        Self { then: Then::Fail(failure), ..Self::default() }
    }

    /// The same after a delay.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

/// One attempt that reached a scripted tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments.
    pub arguments: Arc<Value>,
}

/// A log of invocations, in order. Clones share it, and so may several tools.
#[derive(Clone, Debug, Default)]
pub struct Invocations {
    log: Arc<Mutex<Vec<Invocation>>>,
}

impl Invocations {
    /// The invocations so far.
    pub fn to_vec(&self) -> Vec<Invocation> {
        self.log.lock().clone()
    }
}

type AfterScript = Box<dyn Fn(&Env) -> Step + Send + Sync>;

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
    name: Arc<str>,
    script: Vec<Step>,
    after_script: Option<AfterScript>,
    attempts: AtomicUsize,
    invocations: Option<Invocations>,
}

impl ScriptedTool {
    /// A tool that follows `script`.
    pub fn new(spec: ToolSpec, script: impl IntoIterator<Item = Step>) -> Self {
        let (name, script) = (spec.name.as_str().into(), script.into_iter().collect());
        Self { spec, name, script, after_script: None, attempts: AtomicUsize::new(0), invocations: None }
    }

    /// What every attempt after the script does; it may draw from the environment.
    #[must_use]
    pub fn after_script(self, step: impl Fn(&Env) -> Step + Send + Sync + 'static) -> Self {
        Self { after_script: Some(Box::new(step)), ..self }
    }

    /// Logs the tool's invocations into `invocations`.
    #[must_use]
    pub fn log_to(self, invocations: Invocations) -> Self {
        Self { invocations: Some(invocations), ..self }
    }

    fn next_step(&self, env: &Env) -> Step {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
        match (self.script.get(attempt), &self.after_script) {
            (Some(step), _) => step.clone(),
            (None, Some(after_script)) => after_script(env),
            (None, None) => Step::answer(),
        }
    }
}

impl Tool for ScriptedTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    #[expect(clippy::panic, reason = "the script asks for it")]
    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            let env = context.env();
            let Step { delay, then } = self.next_step(env);
            if let Some(Invocations { log }) = &self.invocations {
                log.lock().push(Invocation { tool: Arc::clone(&self.name), arguments: Arc::clone(&arguments) });
            }
            if !delay.is_zero() {
                env.until(env.now().saturating_add(delay)).await;
            }
            match then {
                Then::Answer(Some(value)) => Ok(value),
                Then::Answer(None) => Ok(json!({"echo": &*arguments})),
                Then::Fail(failure) => Err(failure.error()),
                Then::Hang => std::future::pending().await,
                Then::Panic => panic!("the script of tool {:?} panics", self.spec.name),
            }
        })
    }
}

impl fmt::Debug for ScriptedTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedTool")
            .field("spec", &self.spec)
            .field("script", &self.script)
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}
