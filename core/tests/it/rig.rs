//! An executor on a test stand: time moves only while everybody waits, ids count from one, chance is constant.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::env::{CountingIds, Env};
use windtunnel_core::event::{Event, EventLog, Gate};
use windtunnel_core::executor::{
    CallContext, Executor, ExecutorBuilder, MemoryLedger, Outcome, ToolCall, ToolContext, ToolResult,
};
use windtunnel_core::tool::{FunctionTool, Registry};
use windtunnel_core::{BoxError, BoxFuture};

/// An executor with its events and ledger in view.
pub(crate) struct Rig {
    pub(crate) executor: Executor,
    pub(crate) log: EventLog,
    pub(crate) ledger: MemoryLedger,
}

impl Rig {
    pub(crate) fn new(tools: impl IntoIterator<Item = FunctionTool>) -> Self {
        Self::with(tools, |builder| builder)
    }

    pub(crate) fn with(
        tools: impl IntoIterator<Item = FunctionTool>,
        set: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
    ) -> Self {
        let (log, ledger) = (EventLog::new(), MemoryLedger::new());
        let builder = Executor::builder(registry(tools)).env(env()).sink(log.clone()).ledger(ledger.clone());
        Self { executor: set(builder).build(), log, ledger }
    }

    /// The executor with its calls in the run `run_id`.
    pub(crate) fn in_run(&self, run_id: &str) -> Executor {
        in_run(&self.executor, run_id)
    }

    pub(crate) fn events(&self) -> Vec<&'static str> {
        self.log.events().iter().map(|event| event.kind.name()).collect()
    }
}

/// Time is tokio's, which the tests pause.
pub(crate) fn env() -> Env {
    Env::system().with_ids(CountingIds::default()).with_rng(|| 0.0)
}

pub(crate) fn registry(tools: impl IntoIterator<Item = FunctionTool>) -> Registry {
    let mut registry = Registry::new();
    for tool in tools {
        registry.register(tool).unwrap();
    }
    registry
}

pub(crate) fn in_run(executor: &Executor, run_id: &str) -> Executor {
    executor.in_context(CallContext { run_id: run_id.to_owned(), ..executor.context().clone() })
}

/// A tool that takes any object.
pub(crate) fn tool<F, Fut>(name: &str, body: F) -> FunctionTool
where
    F: Fn(Arc<Value>, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Value, BoxError>> + Send + 'static,
{
    FunctionTool::json(name, "A tool.", json!({"type": "object"}), body)
}

/// A tool that gives its arguments back.
pub(crate) fn echo(name: &str) -> FunctionTool {
    tool(name, |arguments, _| async move { Ok((*arguments).clone()) })
}

/// [`echo`], but it takes a while.
pub(crate) fn slow_echo(name: &str, duration: Duration) -> FunctionTool {
    tool(name, move |arguments, context| async move {
        context.env().sleep(duration).await;
        Ok((*arguments).clone())
    })
}

/// [`echo`], but it writes down how often it ran, and on what.
pub(crate) fn noted_echo(name: &str, notes: &Notes) -> FunctionTool {
    let notes = notes.clone();
    tool(name, move |arguments, _| {
        notes.add(arguments.to_string());
        async move { Ok((*arguments).clone()) }
    })
}

/// What happened, in order. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(crate) fn add(&self, note: impl Into<String>) {
        self.0.lock().push(note.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

/// A call with an id, and arguments that do not matter.
pub(crate) fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall::new(tool, json!({})).with_id(id)
}

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A result on one line: `status-or-kind attempts value-or-message`.
pub(crate) fn told(result: &ToolResult) -> String {
    let attempts = result.attempts;
    match &result.outcome {
        Outcome::Ok(value) if result.cached => format!("cached {attempts} {value}"),
        Outcome::Ok(value) => format!("ok {attempts} {value}"),
        Outcome::Error(error) => format!("{} {attempts} {}", error.kind, error.message),
        Outcome::Pending { approval_id } => format!("pending {attempts} {approval_id}"),
    }
}

/// The first word of [`told`].
pub(crate) fn verdict(result: &ToolResult) -> &'static str {
    result.error_kind().map_or(result.status(), |kind| kind.as_str())
}

pub(crate) fn verdicts<'a>(results: impl IntoIterator<Item = &'a ToolResult>) -> Vec<&'static str> {
    results.into_iter().map(verdict).collect()
}

/// How many results have each verdict.
pub(crate) fn tally<'a>(results: impl IntoIterator<Item = &'a ToolResult>, wanted: &str) -> usize {
    results.into_iter().filter(|result| verdict(result) == wanted).count()
}

/// Waits for one poll.
pub(crate) fn yield_once() -> impl Future<Output = ()> + Send + 'static {
    let mut has_yielded = false;
    std::future::poll_fn(move |context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

/// What `future` gives if it needs at most `polls_max` polls and no time at all.
pub(crate) fn finish_within<T>(polls_max: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..polls_max).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

/// A world that makes the step after every event wait for one poll, so that a call can be dropped there.
pub(crate) struct YieldingGate;

impl Gate for YieldingGate {
    fn pass(&self, _event: &Event) -> Option<BoxFuture<'static, ()>> {
        Some(Box::pin(yield_once()))
    }
}
