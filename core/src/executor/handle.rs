//! The executor as its users see it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use super::approval::Decision;
use super::builder::{Engine, ExecutorBuilder};
use super::call::{CallContext, ToolCall};
use super::context::Frame;
use super::flow::{self, Target};
use super::result::{RunError, ToolResult};
use super::run::RunGuard;
use crate::env::Env;
use crate::event::{Emitter, EventKind, Subject};
use crate::tool::{Interrupted, PreparedTool, Registry};

/// Executes calls of tools under their policies.
///
/// An executor is a handle: clones share everything, from any thread and runtime (E15). It also carries the context
/// that its calls are made in; [`Executor::in_context`] gives a handle with another one.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::BoxError;
/// use windtunnel_core::executor::{Executor, ToolCall};
/// use windtunnel_core::tool::{FunctionTool, Registry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let mut registry = Registry::new();
/// registry.register(
///     FunctionTool::json("echo", "Says it again.", json!({"type": "object"}), |arguments, _| async {
///         Ok::<_, BoxError>(arguments)
///     })
///     .retries(3),
/// )?;
/// let executor = Executor::new(registry);
/// let result = executor.run_call(ToolCall::new("echo", json!({"text": "hello"}))).await?;
/// assert_eq!((result.status(), result.attempts), ("ok", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Executor {
    pub(super) engine: Arc<Engine>,
    pub(super) context: Arc<CallContext>,
    pub(super) frame: Option<Arc<Frame>>,
    /// The context's pre-approval until the one call that it covers takes it. Clones share it.
    pub(super) preapproval: Arc<Mutex<Option<Decision>>>,
    /// For the one call that this handle is made for.
    pub(super) idempotency_key: Option<Arc<str>>,
}

impl Executor {
    /// An executor with all defaults.
    pub fn new(registry: Registry) -> Self {
        Self::builder(registry).build()
    }

    /// An executor with settings and ports of its own.
    pub fn builder(registry: Registry) -> ExecutorBuilder {
        ExecutorBuilder::new(registry)
    }

    /// The same executor, with calls made in `context`.
    #[must_use]
    pub fn in_context(&self, context: CallContext) -> Self {
        let preapproval = Arc::new(Mutex::new(context.approval.clone()));
        Self { context: Arc::new(context), preapproval, idempotency_key: None, ..self.clone() }
    }

    /// The same executor, for calls of its own in one run.
    pub(crate) fn in_run(&self, run_id: &str) -> Self {
        let context = (*self.context).clone();
        self.in_context(CallContext { run_id: run_id.to_owned(), call_id: String::new(), approval: None, ..context })
    }

    /// The same executor, for one call whose tool is given this key
    /// ([`ToolContext::idempotency_key`](super::ToolContext::idempotency_key)): for a service that was asked under it.
    #[must_use]
    pub fn with_idempotency_key(self, idempotency_key: Option<Arc<str>>) -> Self {
        Self { idempotency_key, ..self }
    }

    /// The context that calls are made in.
    pub fn context(&self) -> &CallContext {
        &self.context
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.engine.registry
    }

    /// The environment.
    pub fn env(&self) -> &Env {
        &self.engine.env
    }

    /// Calls a tool and gives its value. Without a run id in its context, each call is a run of its own (E9).
    ///
    /// # Errors
    /// [`RunError`] if the call failed or was refused, waits for approval, or was interrupted by control flow.
    pub async fn run(&self, name: &str, arguments: Value) -> Result<Value, RunError> {
        self.run_call(ToolCall::new(name, arguments)).await?.into_value()
    }

    /// Calls a tool that need not be registered.
    ///
    /// # Errors
    /// [`Interrupted`] if control flow passed through. Everything else is a result.
    pub async fn run_spec(&self, tool: &PreparedTool, arguments: Value) -> Result<ToolResult, Interrupted> {
        let call = ToolCall::new(tool.spec().name.as_str(), arguments);
        self.run_single(call, Target::Given(tool)).await
    }

    /// Makes one call and gives its result. Without a run id in its context, each call is a run of its own (E9).
    ///
    /// # Errors
    /// [`Interrupted`] if control flow passed through. Everything else is a result.
    pub async fn run_call(&self, call: ToolCall) -> Result<ToolResult, Interrupted> {
        self.run_single(call, Target::Registered).await
    }

    async fn run_single(&self, mut call: ToolCall, target: Target<'_>) -> Result<ToolResult, Interrupted> {
        let run = self.enter_run();
        if call.id.is_empty() {
            call.id.clone_from(&self.context.call_id);
        }
        let is_covered = self.context.call_id.is_empty() || self.context.call_id == call.id;
        let approval = if is_covered { self.preapproval.lock().take() } else { None };
        flow::execute(self, &run, call, target, approval).await
    }

    /// Runs `body` in a run of its own, or in the run that `context` names, then ends that run.
    ///
    /// Emits `run.started` and `run.finished`; the second also when the scope is dropped before its end.
    ///
    /// ```
    /// # use windtunnel_core::executor::{CallContext, Executor, RunError};
    /// # use windtunnel_core::tool::Registry;
    /// # use serde_json::json;
    /// # async fn scoped(executor: Executor) -> Result<(), RunError> {
    /// let context = CallContext { thread_id: Some("chat-42".to_owned()), ..CallContext::default() };
    /// let hits = executor
    ///     .run_scope(context, |executor| async move { executor.run("search", json!({"query": "warranty"})).await })
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_scope<F, Fut>(&self, mut context: CallContext, body: F) -> Fut::Output
    where
        F: FnOnce(Self) -> Fut,
        Fut: Future,
    {
        if context.run_id.is_empty() {
            context.run_id = self.env().next_id("run").to_string();
        }
        // A pre-approval is for one call, and a scope makes any number.
        let scoped = self.in_context(CallContext { approval: None, ..context });
        let run = scoped.enter_run();
        let subject = scoped.run_subject(&run);
        // Open before the event: a world may drop the scope while it acts there.
        let scope = Scope { executor: &scoped, subject: &subject, is_open: true };
        scoped.emitter().emit(&subject, || EventKind::RunStarted {}).await;
        let output = body(scoped.clone()).await;
        scope.close().await;
        output
    }

    /// Forgets the guards and locks of a run (E9). Calls that are in flight finish under the old ones.
    pub fn end_run(&self, run_id: &str) {
        self.engine.runs.end(run_id);
    }

    /// Enters the context's run, or a fresh one.
    pub(super) fn enter_run(&self) -> RunGuard {
        match self.context.run_id.as_str() {
            "" => self.engine.runs.enter(self.engine.env.next_id("run"), true),
            run_id => self.engine.runs.enter(run_id.into(), false),
        }
    }

    pub(super) fn run_subject(&self, run: &RunGuard) -> Subject {
        let parent_id = self.frame.as_ref().map(|frame| Arc::clone(&frame.call_id));
        Subject { run_id: Arc::clone(&run.state.id), call_id: None, parent_id }
    }

    /// The emitter to the context's sink, or to the executor's sinks.
    pub(crate) fn emitter(&self) -> Cow<'_, Emitter> {
        match &self.context.ports.sink {
            Some(sink) => Cow::Owned(self.engine.emitter.to(Arc::clone(sink))),
            None => Cow::Borrowed(&self.engine.emitter),
        }
    }
}

/// A run scope that is open. Dropped open, it still says that the run finished, and ends it.
struct Scope<'a> {
    executor: &'a Executor,
    subject: &'a Subject,
    is_open: bool,
}

impl Scope<'_> {
    async fn close(mut self) {
        self.is_open = false;
        self.executor.emitter().emit(self.subject, || EventKind::RunFinished {}).await;
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Nothing can wait in a destructor: the world does not act here.
            self.executor.emitter().emit_now(self.subject, || EventKind::RunFinished {});
        }
        self.executor.end_run(&self.subject.run_id);
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Executor")
            .field("registry", &self.engine.registry)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
