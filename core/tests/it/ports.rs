//! Ports and hooks for the executor that do as they are told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use parking_lot::Mutex;
use serde_json::Value;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Event, Sink};
use windtunnel_core::executor::{
    ApprovalPort, ApprovalRequest, Cache, Decision, Hook, HookCall, Ledger, LedgerEntry, Outcome, ToolCall,
};
use windtunnel_core::model::{
    Delta, FinishReason, Message, ModelError, ModelRequest, ModelResponse, ModelTransport, Usage,
};
use windtunnel_core::tool::Cancelled;
use windtunnel_core::{BoxError, BoxFuture, BoxStream};

use crate::rig::{Notes, yield_once};

/// Decides in turn what it was told; past the end it approves.
#[derive(Clone)]
pub(crate) struct Reviewer {
    decisions: Arc<Mutex<VecDeque<Decision>>>,
    requests: Arc<Mutex<Vec<ApprovalRequest>>>,
    thinking: Option<(Env, Duration)>,
}

impl Reviewer {
    pub(crate) fn new(decisions: impl IntoIterator<Item = Decision>) -> Self {
        let decisions = Arc::new(Mutex::new(decisions.into_iter().collect()));
        Self { decisions, requests: Arc::default(), thinking: None }
    }

    /// Takes `duration` for every decision.
    pub(crate) fn thinking(self, env: &Env, duration: Duration) -> Self {
        Self { thinking: Some((env.clone(), duration)), ..self }
    }

    pub(crate) fn requests(&self) -> Vec<ApprovalRequest> {
        self.requests.lock().clone()
    }
}

impl ApprovalPort for Reviewer {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        self.requests.lock().push(request.clone());
        Box::pin(async {
            match &self.thinking {
                Some((env, duration)) => env.sleep(*duration).await,
                None => yield_once().await,
            }
            Ok(self.decisions.lock().pop_front().unwrap_or_else(Decision::approve))
        })
    }
}

/// Approves with other arguments.
pub(crate) fn edit(arguments: Value) -> Decision {
    Decision::Approve { edited_arguments: Some(arguments) }
}

/// How a port or hook breaks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Broken {
    /// With an error that holds this text.
    Failing(&'static str),
    /// With a panic before there is a future.
    PanickingAtOnce(&'static str),
    /// With a panic while it is polled.
    PanickingLater(&'static str),
    /// With control flow.
    Cancelling,
}

impl Broken {
    pub(crate) fn fail<T: Send + 'static>(self) -> BoxFuture<'static, Result<T, BoxError>> {
        match self {
            Self::Failing(text) => Box::pin(async move {
                yield_once().await;
                Err(text.into())
            }),
            Self::PanickingAtOnce(text) => panic!("{text}"),
            Self::PanickingLater(text) => Box::pin(async move {
                yield_once().await;
                panic!("{text}")
            }),
            Self::Cancelling => Box::pin(std::future::ready(Err(Cancelled.into()))),
        }
    }
}

impl ApprovalPort for Broken {
    fn decide<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        self.fail()
    }
}

impl Cache for Broken {
    fn get<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        self.fail()
    }

    fn put<'a>(&'a self, _key: &'a str, _value: Value, _ttl: Duration) -> BoxFuture<'a, Result<(), BoxError>> {
        self.fail()
    }
}

impl Ledger for Broken {
    fn record(&self, _entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>> {
        self.fail()
    }
}

impl Sink for Broken {
    fn record(&self, _event: &Event) -> Result<(), BoxError> {
        match self {
            Self::Failing(text) => Err((*text).into()),
            Self::PanickingAtOnce(text) | Self::PanickingLater(text) => panic!("{text}"),
            Self::Cancelling => Err(Cancelled.into()),
        }
    }
}

/// A hook that breaks before the tool.
pub(crate) struct BrokenBefore(pub(crate) Broken);

impl Hook for BrokenBefore {
    fn before<'a>(&'a self, _call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        self.0.fail()
    }
}

/// A hook that breaks after the tool.
pub(crate) struct BrokenAfter(pub(crate) Broken);

impl Hook for BrokenAfter {
    fn after<'a>(&'a self, _call: &'a HookCall, _outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        self.0.fail()
    }
}

/// A hook that writes down what it sees.
pub(crate) struct Noting {
    pub(crate) name: &'static str,
    pub(crate) notes: Notes,
}

impl Hook for Noting {
    fn before<'a>(&'a self, call: &'a HookCall) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        self.notes.add(format!("{} before {}", self.name, call.arguments));
        Box::pin(async {
            yield_once().await;
            Ok(None)
        })
    }

    fn after<'a>(&'a self, call: &'a HookCall, outcome: Outcome) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        let ended = match &outcome {
            Outcome::Ok(value) => value.to_string(),
            Outcome::Error(error) => error.kind.to_string(),
            Outcome::Pending { .. } => "pending".to_owned(),
        };
        self.notes.add(format!("{} after {} {ended}", self.name, call.arguments));
        Box::pin(async {
            yield_once().await;
            Ok(outcome)
        })
    }
}

/// A model that answers in turn what it was told; past the end it says "done".
#[derive(Clone, Default)]
pub(crate) struct Script {
    responses: Arc<Mutex<VecDeque<Result<ModelResponse, ModelError>>>>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl Script {
    pub(crate) fn new(responses: impl IntoIterator<Item = Result<ModelResponse, ModelError>>) -> Self {
        Self { responses: Arc::new(Mutex::new(responses.into_iter().collect())), requests: Arc::default() }
    }

    /// What the model was asked.
    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().clone()
    }

    fn next(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        self.requests.lock().push(request.clone());
        self.responses.lock().pop_front().unwrap_or_else(|| Ok(answers("done")))
    }
}

impl ModelTransport for Script {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async {
            yield_once().await;
            self.next(request)
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async {
            yield_once().await;
            let deltas: BoxStream<'a, _> = Box::pin(stream::iter(deltas(self.next(request)?).into_iter().map(Ok)));
            Ok(deltas)
        })
    }
}

/// The pieces of a response, the text and each call's arguments in two.
fn deltas(response: ModelResponse) -> Vec<Delta> {
    let ModelResponse { message, finish_reason, usage } = response;
    let (head, tail) = message.content.split_at(message.content.len() / 2);
    let mut deltas = vec![Delta::Text(head.to_owned()), Delta::Text(tail.to_owned())];
    for (index, call) in message.tool_calls.into_iter().enumerate() {
        let json = call.arguments.to_string();
        let (head, tail) = json.split_at(json.len() / 2);
        deltas.push(Delta::ToolCallStarted { index, id: call.id, name: call.name });
        deltas.push(Delta::ToolCallArguments { index, json: head.to_owned() });
        deltas.push(Delta::ToolCallArguments { index, json: tail.to_owned() });
    }
    deltas.push(Delta::Finished { finish_reason, usage });
    deltas
}

/// A turn of 3 tokens read and 2 written that answers with `text`.
pub(crate) fn answers(text: &str) -> ModelResponse {
    let usage = Usage { input_tokens: 3, output_tokens: 2 };
    ModelResponse { message: Message::assistant(text), finish_reason: FinishReason::Stop, usage }
}

/// A turn that makes `calls`.
pub(crate) fn calls(calls: impl IntoIterator<Item = ToolCall>) -> ModelResponse {
    let message = Message::tool_calls(calls.into_iter().collect());
    ModelResponse { message, finish_reason: FinishReason::ToolCalls, ..answers("") }
}
