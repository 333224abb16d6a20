//! A model that takes faults.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::json;
use windtunnel_core::event::EventKind;
use windtunnel_core::executor::ToolCall;
use windtunnel_core::model::{
    Delta, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Usage,
};
use windtunnel_core::{BoxFuture, BoxStream};

use super::action::duration;
use super::claim::Claim;
use super::kind::Target;
use super::{FaultAction, Faults};
use crate::world::subject_of_world;

/// A model that takes faults ([`Faults::model`]).
#[derive(Debug)]
pub struct FaultyModel<M> {
    model: M,
    faults: Faults,
}

/// What becomes of an answer that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Truncated,
    /// As truncated, and so much later.
    Stalled(Duration),
    MalformedJson,
    WrongTool,
}

/// What becomes of the answer, with the fault that comes only if there is one.
type Damaging<'f> = Option<(Damage, Claim<'f>)>;

impl Damage {
    fn of(action: &FaultAction) -> Option<Self> {
        match action {
            FaultAction::ModelTruncatedStream {} => Some(Self::Truncated),
            FaultAction::ModelStalledStream { after_s } => Some(Self::Stalled(duration(*after_s))),
            FaultAction::ModelMalformedJson {} => Some(Self::MalformedJson),
            FaultAction::ModelWrongTool {} => Some(Self::WrongTool),
            _ => None,
        }
    }
}

const NO_SUCH_TOOL: &str = "no_such_tool";

impl<M: ModelTransport> FaultyModel<M> {
    pub(super) fn new(model: M, faults: Faults) -> Self {
        Self { model, faults }
    }

    /// The fault that comes to a request: an answer of its own, or what becomes of the model's.
    async fn fault(&self, request: &ModelRequest) -> Result<Damaging<'_>, Result<ModelResponse, ModelError>> {
        let event = || EventKind::ModelRequest { model: request.model.as_str().into() };
        let taken = self.faults.take(Target::Model, &request.model, &subject_of_world(), event).await;
        let Some(claim) = taken else { return Ok(None) };
        if let Some(damage) = claim.action().and_then(Damage::of) {
            return Ok(Some((damage, claim)));
        }
        let failed = |kind, message: &str| Err(Err(ModelError::new(kind, message)));
        match claim.deliver() {
            Some(FaultAction::ModelRateLimited { retry_after_s }) => Err(Err(ModelError {
                retry_after: retry_after_s.map(duration),
                ..ModelError::new(ModelErrorKind::RateLimited, "too many requests")
            })),
            Some(FaultAction::ModelServerError {}) => failed(ModelErrorKind::Server, "internal server error"),
            Some(FaultAction::ModelOverloaded {}) => failed(ModelErrorKind::Overloaded, "overloaded"),
            Some(FaultAction::ModelDelay { delay_s }) => {
                self.faults.env().sleep(duration(delay_s)).await;
                Ok(None)
            }
            Some(FaultAction::ModelTimeout { after_s }) => {
                self.faults.env().sleep(duration(after_s)).await;
                failed(ModelErrorKind::Timeout, "no answer in time")
            }
            Some(FaultAction::ModelRefusal {}) => Err(Ok(ModelResponse {
                message: Message::assistant("I cannot help with that."),
                finish_reason: FinishReason::Refusal,
                usage: Usage::default(),
            })),
            _ => Ok(None),
        }
    }
}

impl<M: ModelTransport> ModelTransport for FaultyModel<M> {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let damage = match self.fault(request).await {
                Ok(damage) => damage,
                Err(answer) => return answer,
            };
            let response = self.model.complete(request).await?;
            let Some((damage, claim)) = damage else { return Ok(response) };
            let _delivered = claim.deliver();
            if let Damage::Stalled(by) = damage {
                self.faults.env().sleep(by).await;
            }
            match damage {
                Damage::Truncated | Damage::Stalled(_) => {
                    Err(ModelError::new(ModelErrorKind::Connection, "the answer ended before it was complete"))
                }
                Damage::MalformedJson => Err(ModelError::new(ModelErrorKind::InvalidResponse, "the answer is no JSON")),
                Damage::WrongTool => Ok(with_wrong_tool(response)),
            }
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let damage = match self.fault(request).await {
                Ok(damage) => damage,
                Err(Ok(response)) => {
                    let finished = Delta::Finished { finish_reason: response.finish_reason, usage: response.usage };
                    let deltas = [Ok(Delta::Text(response.message.content)), Ok(finished)];
                    return Ok(stream::iter(deltas).boxed());
                }
                Err(Err(error)) => return Err(error),
            };
            let deltas = self.model.stream(request).await?;
            let Some((damage, claim)) = damage else { return Ok(deltas) };
            // As the model gave it in full, so that what is cut follows from the answer alone.
            let deltas: Vec<_> = deltas.collect().await;
            // Of one that fails by itself there is no answer to be damaged.
            if deltas.is_empty() || deltas.iter().any(Result::is_err) {
                return Ok(stream::iter(deltas).boxed());
            }
            let _delivered = claim.deliver();
            let deltas = stream::iter(damaged(deltas, damage));
            let Damage::Stalled(by) = damage else { return Ok(deltas.boxed()) };
            let stall = self.faults.env().sleep(by);
            let nothing = stream::once(stall).filter_map(|()| std::future::ready(None));
            Ok(deltas.chain(nothing).boxed())
        })
    }
}

/// The first call goes to a tool that there is not; an answer without a call makes one.
fn with_wrong_tool(mut response: ModelResponse) -> ModelResponse {
    match response.message.tool_calls.first_mut() {
        Some(call) => call.name = NO_SUCH_TOOL.to_owned(),
        None => response.message.tool_calls.push(ToolCall::new(NO_SUCH_TOOL, json!({}))),
    }
    ModelResponse { finish_reason: FinishReason::ToolCalls, ..response }
}

fn damaged(mut deltas: Vec<Result<Delta, ModelError>>, damage: Damage) -> Vec<Result<Delta, ModelError>> {
    match damage {
        // At least the end is missing.
        Damage::Truncated | Damage::Stalled(_) => deltas.truncate(deltas.len() / 2),
        Damage::MalformedJson => {
            let is_piece = |delta: &Result<Delta, ModelError>| matches!(delta, Ok(Delta::ToolCallArguments { .. }));
            match deltas.iter_mut().rev().find(|delta| is_piece(delta)) {
                Some(Ok(Delta::ToolCallArguments { json, .. })) => json.push('{'),
                _ => return vec![Err(ModelError::new(ModelErrorKind::InvalidResponse, "the stream is no JSON"))],
            }
        }
        Damage::WrongTool => {
            let first = deltas.iter_mut().find_map(|delta| match delta {
                Ok(Delta::ToolCallStarted { name, .. }) => Some(name),
                _ => None,
            });
            match first {
                Some(name) => *name = NO_SUCH_TOOL.to_owned(),
                None => return wrong_call().into_iter().map(Ok).collect(),
            }
        }
    }
    deltas
}

fn wrong_call() -> [Delta; 3] {
    [
        Delta::ToolCallStarted { index: 0, id: "call-wrong".to_owned(), name: NO_SUCH_TOOL.to_owned() },
        Delta::ToolCallArguments { index: 0, json: "{}".to_owned() },
        Delta::Finished { finish_reason: FinishReason::ToolCalls, usage: Usage::default() },
    ]
}
