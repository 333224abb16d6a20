//! Model and tools in turns, over many activations.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::approval::hear;
use super::calls::Made;
use super::ending::{ToolLoopEnd, ToolLoopOutput, ToolLoopStep};
use super::keys::{Keys, LOOP_NAME_BYTES_MAX, name_calls};
use super::state::{ToolLoopBudget, ToolLoopState};
use crate::durable::binding::OperationKind;
use crate::durable::context::{OperationCall, WorkflowContext};
use crate::durable::error::DurableError;
use crate::durable::text::check_name;
use crate::durable::workflow::Workflow;
use crate::executor::{Executor, LoopRun};
use crate::model::{ModelError, ModelRequest, ModelResponse, ModelTransport, ToolDefinition};

/// The entry of a workflow that is nothing but a loop.
const ENTRY: &str = "turn";

/// A tool loop whose model turns and tool calls are operations, with keys such as `model:turn:0` and
/// `tool:turn:0:call-123`. What a lost worker had committed is read back and not made again; its budget and conversation are
/// in the checkpoint.
///
/// Calls go through all policies of the executor, in one run that is called like the workflow. Each carries an
/// [idempotency key](crate::executor::ToolContext::idempotency_key) that stays the same in every attempt, and so does each
/// [`ModelRequest`]. A refused or failed call is a result, which the model reads; a model that fails, fails the attempt, and
/// the worker tries again.
///
/// A call that needs approval is asked for by the executor's own port, if it has one. If that has no answer yet, the loop
/// waits for an event and holds no worker: [decide](super::PendingApproval::decide) what the [state](ToolLoopState::of) says is
/// pending. A decision covers the arguments that are written there and no others.
///
/// While an activation is open, all that a turn depends on is to stay as it is: the model and its settings, and the names,
/// descriptions and schemas of the tools, which are offered in each turn and are a part of what is asked (D1). An attempt
/// that finds them changed fails with what differs. By default an activation is open for one turn.
///
/// **A call that ends in an error is for the model to make again, and then has another idempotency key.** A tool that has an
/// effect retries within its call until it is known what became of it.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use windtunnel_core::durable::{JournalStore, MemoryStore, ToolLoop, ToolLoopState, Worker};
/// use windtunnel_core::env::Env;
/// use windtunnel_core::executor::Executor;
/// use windtunnel_core::model::{FinishReason, Message, ModelError, ModelRequest, ModelResponse, ModelTransport, Usage};
/// use windtunnel_core::tool::Registry;
/// # use windtunnel_core::model::Delta;
/// # use windtunnel_core::{BoxFuture, BoxError};
/// # struct Polite;
/// # impl ModelTransport for Polite {
/// #     fn complete<'a>(&'a self, _: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
/// #         let message = Message::assistant("Hello.");
/// #         Box::pin(async { Ok(ModelResponse { message, finish_reason: FinishReason::Stop, usage: Usage::default() }) })
/// #     }
/// #     fn stream<'a>(
/// #         &'a self, _: &'a ModelRequest,
/// #     ) -> BoxFuture<'a, Result<futures_core::stream::BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
/// #         Box::pin(async { Ok(Box::pin(futures_util::stream::empty()) as _) })
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let agent = ToolLoop::new(Executor::new(Registry::new()), Arc::new(Polite)).into_workflow("greeter");
/// let store = MemoryStore::new(Env::system());
/// let worker = Worker::new(store.clone()).workflow(agent);
/// let request = ModelRequest { messages: vec![Message::user("Hello?")], ..ModelRequest::default() };
/// worker.start("chat-42", "greeter", "turn", &ToolLoopState::new(request)).await?;
/// worker.run_until_idle().await?;
/// let history = store.read("chat-42").await?.ok_or("it was started")?;
/// assert_eq!(&*history.activations[0].records[0].record.key().as_ref(), "model:turn:0");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolLoop {
    pub(super) executor: Executor,
    transport: Arc<dyn ModelTransport>,
    pub(super) budget: ToolLoopBudget,
    pub(super) keys: Keys,
    turns_per_activation: NonZeroU32,
    approval_timeout: Option<Duration>,
    version: Arc<str>,
    tool_versions: BTreeMap<String, Arc<str>>,
}

impl ToolLoop {
    /// A loop of this executor's tools with this model.
    pub fn new(executor: Executor, transport: Arc<dyn ModelTransport>) -> Self {
        Self {
            executor,
            transport,
            budget: ToolLoopBudget::default(),
            keys: Keys::default(),
            turns_per_activation: NonZeroU32::MIN,
            approval_timeout: None,
            version: "1".into(),
            tool_versions: BTreeMap::new(),
        }
    }

    /// How much the loop may do.
    #[must_use]
    pub fn budget(self, budget: ToolLoopBudget) -> Self {
        Self { budget, ..self }
    }

    /// How many turns share one journal, before the next checkpoint. Default 1. A checkpoint costs one commit; many turns in
    /// one activation repeat the conversation in its journal, which is bounded (D4).
    #[must_use]
    pub fn turns_per_activation(self, turns: NonZeroU32) -> Self {
        Self { turns_per_activation: turns, ..self }
    }

    /// How long an approval may take before the call is denied. Default: for ever.
    #[must_use]
    pub fn approval_timeout(self, timeout: Duration) -> Self {
        Self { approval_timeout: Some(timeout), ..self }
    }

    /// The version of the transport and of all tools (D1). Default "1". Change it with what they do.
    #[must_use]
    pub fn version(self, version: impl Into<Arc<str>>) -> Self {
        Self { version: version.into(), ..self }
    }

    /// The version of one tool. Default: that of the loop.
    #[must_use]
    pub fn tool_version(mut self, tool: impl Into<String>, version: impl Into<Arc<str>>) -> Self {
        self.tool_versions.insert(tool.into(), version.into());
        self
    }

    /// Begins all keys with `name:`, for a workflow that has several loops. Default: nothing.
    ///
    /// # Errors
    /// [`DurableError::InvalidKey`] for a name that cannot be stored, [`DurableError::TooLarge`] for one over 32 bytes.
    pub fn named(self, name: &str) -> Result<Self, DurableError> {
        let what = "the name of the tool loop";
        check_name(name).map_err(|flaw| DurableError::InvalidKey { what, flaw })?;
        if name.len() > LOOP_NAME_BYTES_MAX {
            return Err(DurableError::TooLarge { what, bytes: name.len(), bytes_max: LOOP_NAME_BYTES_MAX });
        }
        Ok(Self { keys: Keys { prefix: format!("{name}:") }, ..self })
    }

    /// A workflow that is nothing but this loop. Its one entry is `turn`, which takes a [`ToolLoopState`]; it completes with
    /// a [`ToolLoopOutput`], also where a budget is used up.
    pub fn into_workflow(self, name: impl Into<Arc<str>>) -> Workflow {
        Workflow::new(name).entry(ENTRY, move |context: WorkflowContext, state: ToolLoopState| {
            let this = self.clone();
            async move {
                match this.advance(&context, state).await? {
                    ToolLoopStep::Next(decision) => Ok(decision),
                    ToolLoopStep::Ended { end, state } => context.complete(&ToolLoopOutput::new(end, &state)),
                }
            }
        })
    }

    /// Goes on from `state` until the activation is to end: for workflows with more to them than a loop. The next activation
    /// begins at the same entry.
    ///
    /// # Errors
    /// [`DurableError`] of an operation or of the checkpoint; the entry passes it on.
    pub async fn advance(
        &self,
        context: &WorkflowContext,
        mut state: ToolLoopState,
    ) -> Result<ToolLoopStep, DurableError> {
        hear(&mut state.pending, context.wake());
        if state.pending.is_empty() {
            state.request.messages.last_mut().into_iter().for_each(name_calls);
        }
        let run = Arc::new(LoopRun::enter_anew(&self.executor, context.workflow_id(), &state.counted));
        let mut turns_left = self.turns_per_activation.get();
        loop {
            let made = self.make_calls(context, &run, &mut state).await?;
            state.counted = run.counted();
            match made {
                Made::All => {}
                Made::Some => return self.wait(context, &state),
                Made::None => return Ok(ended(ToolLoopEnd::CallLimit, state)),
            }
            if state.turns >= self.budget.turns_max {
                return Ok(ended(ToolLoopEnd::TurnLimit, state));
            }
            if turns_left == 0 {
                return context.continue_(context.entry(), &state).map(ToolLoopStep::Next);
            }
            turns_left -= 1;
            let response = self.ask_model(context, &run, &state).await?;
            state.turns += 1;
            state.usage.add(response.usage);
            let is_answer = response.message.tool_calls.is_empty();
            state.request.messages.push(response.message);
            if is_answer {
                return Ok(ended(ToolLoopEnd::Answer, state));
            }
        }
    }

    async fn ask_model(
        &self,
        context: &WorkflowContext,
        run: &Arc<LoopRun>,
        state: &ToolLoopState,
    ) -> Result<ModelResponse, DurableError> {
        let mut request = state.request.clone();
        if request.tools.is_empty() {
            request.tools = self.executor.registry().iter().map(|tool| ToolDefinition::from(tool.spec())).collect();
        }
        let callable = if request.model.is_empty() { "model".to_owned() } else { request.model.clone() };
        let (run, transport, turn) = (Arc::clone(run), Arc::clone(&self.transport), state.turns + 1);
        let ask = move |mut request: ModelRequest, operation: OperationCall| async move {
            request.idempotency_key = Some(operation.idempotency_key.to_string());
            let mut response = run.ask_model(&*transport, &request, None, turn).await?;
            name_calls(&mut response.message);
            Ok::<_, ModelError>(response)
        };
        let key = self.keys.model(state.turns);
        context.operation(&key, OperationKind::Model, &callable, &self.version, request, ask).await
    }

    /// Waits for the first approval; those that are decided meanwhile are found when their turn comes.
    fn wait(&self, context: &WorkflowContext, state: &ToolLoopState) -> Result<ToolLoopStep, DurableError> {
        let approval_id = state.pending.first().map(|pending| &*pending.approval_id).unwrap_or_default();
        context.wait_event(approval_id, self.approval_timeout, context.entry(), state).map(ToolLoopStep::Next)
    }

    pub(super) fn version_of(&self, tool: &str) -> &str {
        self.tool_versions.get(tool).unwrap_or(&self.version)
    }
}

fn ended(end: ToolLoopEnd, state: ToolLoopState) -> ToolLoopStep {
    ToolLoopStep::Ended { end, state: Box::new(state) }
}

impl fmt::Debug for ToolLoop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolLoop")
            .field("budget", &self.budget)
            .field("turns_per_activation", &self.turns_per_activation)
            .field("approval_timeout", &self.approval_timeout)
            .finish_non_exhaustive()
    }
}
