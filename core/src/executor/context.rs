//! What the body of a tool knows of its call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::builder::Engine;
use super::call::CallContext;
use super::handle::Executor;
use super::run::RunState;
use super::shown::Shown;
use crate::env::Env;

/// A running call, and the running calls it is nested in.
pub(super) struct Frame {
    pub(super) engine: Arc<Engine>,
    pub(super) context: Arc<CallContext>,
    pub(super) run: Arc<RunState>,
    pub(super) call_id: Arc<str>,
    pub(super) kind: Arc<str>,
    pub(super) parent: Option<Arc<Self>>,
    pub(super) shown: Option<Shown>,
    idempotency_key: Option<Arc<str>>,
    running: AtomicBool,
    cost_usd: Mutex<f64>,
}

impl Frame {
    pub(super) fn new(
        executor: &Executor,
        run: Arc<RunState>,
        call_id: Arc<str>,
        kind: Arc<str>,
        shown: Option<Shown>,
    ) -> Self {
        Self {
            engine: Arc::clone(&executor.engine),
            context: Arc::clone(&executor.context),
            run,
            call_id,
            kind,
            parent: executor.frame.clone(),
            shown,
            idempotency_key: executor.idempotency_key.clone(),
            running: AtomicBool::new(true),
            cost_usd: Mutex::new(0.0),
        }
    }

    /// The call is over: calls made with its context are nested no more.
    pub(super) fn finish(&self) {
        self.running.store(false, Ordering::Release);
    }

    /// Whether a call of `run` made from this one is nested in it (E10).
    pub(super) fn encloses_calls_of(&self, run: &Arc<RunState>) -> bool {
        self.running.load(Ordering::Acquire) && Arc::ptr_eq(&self.run, run)
    }

    /// Whether this call or one it is nested in, of the same run, is of `kind`.
    pub(super) fn holds_kind(&self, run: &Arc<RunState>, kind: &str) -> bool {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
            .any(|frame| frame.encloses_calls_of(run) && &*frame.kind == kind)
    }

    pub(super) fn cost_usd(&self) -> f64 {
        *self.cost_usd.lock()
    }
}

/// What the body of a tool knows of its call, and its way to make nested calls. Cheap to clone.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
/// use windtunnel_core::executor::{RunError, ToolContext};
/// use windtunnel_core::tool::FunctionTool;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Answer {
///     question: String,
/// }
///
/// let answer = FunctionTool::new("answer", "Answers.", |arguments: Answer, context: ToolContext| async move {
///     let hits = context.executor().run("search", json!({"query": arguments.question})).await?;
///     Ok::<_, RunError>(hits[0].clone())
/// });
/// ```
#[derive(Clone)]
pub struct ToolContext {
    pub(super) frame: Arc<Frame>,
    pub(super) attempt: u32,
}

impl ToolContext {
    /// An executor whose calls are in this run and nested in this call. It carries no approval (E8).
    pub fn executor(&self) -> Executor {
        let frame = &self.frame;
        let context = CallContext {
            run_id: frame.run.id.to_string(),
            call_id: String::new(),
            thread_id: frame.context.thread_id.clone(),
            approval: None,
            ports: frame.context.ports.clone(),
        };
        Executor {
            engine: Arc::clone(&frame.engine),
            context: Arc::new(context),
            frame: Some(Arc::clone(frame)),
            preapproval: Arc::default(),
            idempotency_key: None,
        }
    }

    /// The environment: a tool that waits or draws through it can be simulated.
    pub fn env(&self) -> &Env {
        &self.frame.engine.env
    }

    /// The run.
    pub fn run_id(&self) -> &str {
        &self.frame.run.id
    }

    /// The call. It stays the same for all attempts in this process; where the call is durable, use
    /// [`ToolContext::idempotency_key`].
    pub fn call_id(&self) -> &str {
        &self.frame.call_id
    }

    /// What an external service may recognise a repeat by, where the call has such a key: the same in every attempt, also
    /// in that of another process (D6). The calls of a durable tool loop have one each, and calls nested in them have none.
    pub fn idempotency_key(&self) -> Option<&Arc<str>> {
        self.frame.idempotency_key.as_ref()
    }

    /// The conversation.
    pub fn thread_id(&self) -> Option<&str> {
        self.frame.context.thread_id.as_deref()
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many running calls this one is nested in.
    pub(crate) fn enclosing_calls(&self) -> usize {
        std::iter::successors(self.frame.parent.as_ref(), |frame| frame.parent.as_ref()).count()
    }

    /// Adds to what the call's ledger entry says it cost, in US dollars. What is not a finite number adds nothing.
    pub fn add_cost_usd(&self, cost_usd: f64) {
        if cost_usd.is_finite() {
            *self.frame.cost_usd.lock() += cost_usd;
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolContext")
            .field("run_id", &self.run_id())
            .field("call_id", &self.call_id())
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
