//! Model and tools in turns, until an answer or a limit.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures_util::StreamExt;

use super::call::ToolCall;
use super::handle::Executor;
use super::loop_run::LoopRun;
use super::result::{Outcome, ToolResult};
use crate::model::{
    Delta, Message, ModelError, ModelRequest, ModelResponse, ModelTransport, ResponseBuilder, Role, ToolDefinition,
    Usage,
};
use crate::tool::Interrupted;

/// Sees the pieces of a streamed response as they come.
pub type OnDelta = Arc<dyn Fn(&Delta) + Send + Sync>;

/// How to run a tool loop.
#[derive(Clone)]
pub struct LoopOptions {
    /// How many times the model may be asked. Default 16.
    pub turns_max: u32,
    /// Streams the responses, and hands out their pieces. Default: whole responses.
    pub on_delta: Option<OnDelta>,
}

impl Default for LoopOptions {
    fn default() -> Self {
        Self { turns_max: 16, on_delta: None }
    }
}

impl fmt::Debug for LoopOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoopOptions")
            .field("turns_max", &self.turns_max)
            .field("streams", &self.on_delta.is_some())
            .finish()
    }
}

/// Where a loop stopped.
#[derive(Clone, Debug)]
pub struct LoopOutcome {
    /// Why it stopped.
    pub end: LoopEnd,
    /// The whole conversation, ready to go on from.
    pub messages: Vec<Message>,
    /// The results of all calls, in order.
    pub results: Vec<ToolResult>,
    /// Tokens read and written over all turns.
    pub usage: Usage,
    /// How many times the model was asked.
    pub turns: u32,
}

/// Why a loop stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopEnd {
    /// The model answered without calling a tool; the last message has the text.
    Answer,
    /// The model still called tools in its last turn. Their results are in the conversation.
    TurnLimit,
    /// Calls wait for approval. The conversation ends with the model's calls and the results of those that ran.
    ///
    /// Go on with the same conversation in the same run once the approvals are decided: only the calls without a result
    /// are made, and ask again under the same approval id (E8).
    Pending {
        /// The approvals.
        approval_ids: Vec<Arc<str>>,
    },
}

/// A loop broke off.
#[derive(thiserror::Error)]
pub enum LoopError {
    /// The model failed.
    #[error("turn {turn}: {error}")]
    Model {
        /// The turn, from 1.
        turn: u32,
        /// How it failed.
        #[source]
        error: ModelError,
        /// The conversation up to the failed turn, ready to try again from.
        messages: Vec<Message>,
    },
    /// Control flow passed through a call.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Without the conversation, which may be secret.
impl fmt::Debug for LoopError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LoopError({self})")
    }
}

impl Executor {
    /// Asks the model, makes the calls it wants, and asks again with their results, until it answers.
    ///
    /// `request.tools` empty offers all registered tools. All calls are in one run: the context's, or a fresh one. A
    /// request whose conversation ends with calls that have no results makes those calls first.
    ///
    /// # Errors
    /// [`LoopError`] if the model fails or control flow passes through a call.
    pub async fn run_tool_loop(
        &self,
        transport: &dyn ModelTransport,
        mut request: ModelRequest,
        options: &LoopOptions,
    ) -> Result<LoopOutcome, LoopError> {
        if request.tools.is_empty() {
            request.tools = self.registry().iter().map(|tool| ToolDefinition::from(tool.spec())).collect();
        }
        let run = LoopRun::enter(self);
        let scoped = run.executor();
        let mut progress = Progress { usage: Usage::default(), results: Vec::new(), turns: 0 };
        loop {
            request.messages.last_mut().into_iter().for_each(|message| scoped.name_calls(message));
            let calls = unanswered(&request.messages);
            if !calls.is_empty() {
                let results = scoped.run_many(calls).await?;
                let approval_ids = approvals_of(&results);
                request.messages.extend(results.iter().filter_map(answer));
                progress.results.extend(results);
                if !approval_ids.is_empty() {
                    return Ok(progress.end(LoopEnd::Pending { approval_ids }, request.messages));
                }
            }
            if progress.turns == options.turns_max {
                return Ok(progress.end(LoopEnd::TurnLimit, request.messages));
            }
            progress.turns += 1;
            let turn = progress.turns;
            let response = match run.ask_model(transport, &request, options.on_delta.as_ref(), turn).await {
                Ok(response) => response,
                Err(error) => return Err(LoopError::Model { turn, error, messages: request.messages }),
            };
            progress.usage.add(response.usage);
            let is_answer = response.message.tool_calls.is_empty();
            request.messages.push(response.message);
            if is_answer {
                return Ok(progress.end(LoopEnd::Answer, request.messages));
            }
        }
    }

    /// Gives calls without an id, or with that of another call of the turn, one of their own, so that their results can
    /// be told apart.
    fn name_calls(&self, message: &mut Message) {
        let given: Vec<_> = message.tool_calls.iter().map(|call| call.id.clone()).collect();
        let mut taken = BTreeSet::new();
        for call in &mut message.tool_calls {
            if call.id.is_empty() || !taken.insert(call.id.clone()) {
                // A model may have given what the environment gives next. Ids of the environment differ: one of so many is free.
                let mut fresh = (0..=given.len()).map(|_| self.env().next_id("call").to_string());
                call.id = fresh.find(|id| !given.contains(id)).unwrap_or_default();
            }
        }
    }
}

/// What a loop has gathered so far.
struct Progress {
    usage: Usage,
    results: Vec<ToolResult>,
    turns: u32,
}

impl Progress {
    fn end(self, end: LoopEnd, messages: Vec<Message>) -> LoopOutcome {
        LoopOutcome { end, messages, results: self.results, usage: self.usage, turns: self.turns }
    }
}

/// The calls of the model's last turn that have no result yet.
pub(crate) fn unanswered(messages: &[Message]) -> Vec<ToolCall> {
    let is_turn = |message: &Message| message.role == Role::Assistant;
    let Some(turn) = messages.iter().rposition(is_turn) else { return Vec::new() };
    let (turn, answers) = (&messages[turn], &messages[turn + 1..]);
    if answers.iter().any(|answer| answer.role != Role::Tool) {
        // The conversation has moved on.
        return Vec::new();
    }
    let has_answer = |call: &&ToolCall| answers.iter().any(|answer| answer.tool_call_id.as_deref() == Some(&*call.id));
    turn.tool_calls.iter().filter(|call| !has_answer(call)).cloned().collect()
}

/// What the model reads of a call that has its result.
pub(crate) fn answer(result: &ToolResult) -> Option<Message> {
    match result.outcome {
        Outcome::Pending { .. } => None,
        Outcome::Ok(_) | Outcome::Error(_) => Some(Message::tool(&*result.call_id, result.to_model_text())),
    }
}

fn approvals_of(results: &[ToolResult]) -> Vec<Arc<str>> {
    let pending = results.iter().filter_map(|result| match &result.outcome {
        Outcome::Pending { approval_id } => Some(Arc::clone(approval_id)),
        _ => None,
    });
    pending.collect()
}

pub(super) async fn stream(
    transport: &dyn ModelTransport,
    request: &ModelRequest,
    on_delta: &(dyn Fn(&Delta) + Send + Sync),
) -> Result<ModelResponse, ModelError> {
    let mut deltas = transport.stream(request).await?;
    let mut builder = ResponseBuilder::default();
    while let Some(delta) = deltas.next().await {
        let delta = delta?;
        on_delta(&delta);
        builder.push(delta)?;
    }
    builder.finish()
}
