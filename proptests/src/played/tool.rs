//! A tool that acts out a script.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{Cancelled, Tool, ToolError, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};

use crate::SpanLog;
use crate::cases::{Ending, Script};

/// The secret in every error that a [`PlayedTool`] or [`PlayedReviewer`](super::PlayedReviewer) raises, apart from what
/// it means the model to read.
pub const CAUSE: &str = "password=hunter2";

type Choose = dyn Fn(&Value) -> Script + Send + Sync;

/// A tool whose nth attempt in each call does the nth step of a script, on the executor's clock.
///
/// Unlike the scripted tool of the simulator it begins its script anew in each call, may choose the script by the
/// call's arguments, puts a secret into every cause, and records when it runs.
///
/// ```
/// use windtunnel_core::executor::{Executor, ToolCall};
/// use windtunnel_core::tool::Registry;
/// use windtunnel_proptests::cases::{Ending, Script, Step, ToolPolicy};
/// use windtunnel_proptests::played::PlayedTool;
/// use windtunnel_sim::World;
///
/// let run = World::new(0).run(|world| async move {
///     let script = Script { steps: vec![Step::at_once(Ending::ForeignError), Step::at_once(Ending::Value)] };
///     let spec = ToolPolicy { retries: 3, ..ToolPolicy::default() }.spec("search");
///     let mut registry = Registry::new();
///     registry.register(PlayedTool::new(spec, script)).unwrap();
///     let executor = Executor::builder(registry).env(world.env()).build();
///     executor.run_call(ToolCall::new("search", serde_json::json!({}))).await.unwrap().attempts
/// });
/// assert_eq!(run.outcome.unwrap(), 2);
/// ```
pub struct PlayedTool {
    spec: ToolSpec,
    choose: Box<Choose>,
    spans: SpanLog,
}

impl PlayedTool {
    /// A tool that follows the same script in each call.
    pub fn new(spec: ToolSpec, script: Script) -> Self {
        Self::choosing(spec, move |_arguments| script.clone())
    }

    /// A tool that chooses its script by the call's arguments.
    pub fn choosing(spec: ToolSpec, choose: impl Fn(&Value) -> Script + Send + Sync + 'static) -> Self {
        Self { spec, choose: Box::new(choose), spans: SpanLog::new() }
    }

    /// Records its attempts into `spans`.
    #[must_use]
    pub fn log_to(self, spans: SpanLog) -> Self {
        Self { spans, ..self }
    }
}

impl Tool for PlayedTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            let _span = self.spans.enter(context.run_id(), context.call_id(), &self.spec.name);
            let step = (self.choose)(&arguments).step(context.attempt());
            if !step.takes.is_zero() {
                let env = context.env();
                env.until(env.now().saturating_add(step.takes)).await;
            }
            end(step.ending)
        })
    }
}

fn end(ending: Ending) -> Result<Value, BoxError> {
    match ending {
        Ending::Value => Ok(json!("done")),
        Ending::ForeignError => Err(CAUSE.into()),
        Ending::RetryableError => Err(ToolError::retryable(CAUSE).into()),
        Ending::Refusal => Err(ToolError::new("refused").with_source(CAUSE).into()),
        // Unwinds as a panic does, without the panic hook: a test's output stays readable.
        Ending::Panic => std::panic::resume_unwind(Box::new(CAUSE)),
        Ending::Cancelled => Err(Cancelled.into()),
    }
}

impl fmt::Debug for PlayedTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PlayedTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
