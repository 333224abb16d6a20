//! A model that follows a script.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::executor::ToolCall;
use windtunnel_core::model::{
    Delta, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Role, Usage,
};
use windtunnel_core::{BoxFuture, BoxStream};

type Turn = Result<ModelResponse, ModelError>;

/// A model transport that gives its turns in order. After the last one it fails with `invalid-request`.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::executor::ToolCall;
/// use windtunnel_sim::script::ScriptedModel;
///
/// let model = ScriptedModel::new([
///     ScriptedModel::calls([ToolCall::new("search", json!({"query": "warranty"})).with_id("call-1")]),
///     ScriptedModel::says("Two years."),
/// ]);
/// ```
pub struct ScriptedModel {
    turns: Mutex<Turns>,
    requests: Mutex<Vec<ModelRequest>>,
    latency: Option<(Env, Duration)>,
}

enum Turns {
    InOrder(VecDeque<Turn>),
    /// By how often the model has spoken in the conversation.
    ByConversation(Vec<VecDeque<Turn>>),
}

impl ScriptedModel {
    /// Answers at once.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::following(Turns::InOrder(turns.into_iter().collect()))
    }

    /// Answers by how often it has spoken in the conversation, so that a turn that is asked for again after a crash is the
    /// same. Each turn is a list: its entries are played one after another, and the last one again and again. So failures
    /// before a turn's answer come once each.
    ///
    /// ```
    /// use windtunnel_core::model::{ModelError, ModelErrorKind};
    /// use windtunnel_sim::script::ScriptedModel;
    ///
    /// let busy = Err(ModelError::new(ModelErrorKind::Overloaded, "busy"));
    /// let model = ScriptedModel::by_conversation([vec![busy, ScriptedModel::says("Two years.")]]);
    /// assert!(model.requests().is_empty());
    /// ```
    pub fn by_conversation<T: IntoIterator<Item = Turn>>(turns: impl IntoIterator<Item = T>) -> Self {
        Self::following(Turns::ByConversation(turns.into_iter().map(|turn| turn.into_iter().collect()).collect()))
    }

    fn following(turns: Turns) -> Self {
        Self { turns: Mutex::new(turns), requests: Mutex::default(), latency: None }
    }

    /// Takes `latency` on the environment's clock for a whole response, and for each piece of a streamed one.
    #[must_use]
    pub fn latency(self, env: Env, latency: Duration) -> Self {
        Self { latency: Some((env, latency)), ..self }
    }

    /// A turn that answers.
    #[expect(clippy::missing_errors_doc, reason = "it makes a turn, which may stand for an error, and cannot fail")]
    pub fn says(text: impl Into<String>) -> Turn {
        Ok(ModelResponse {
            message: Message::assistant(text),
            finish_reason: FinishReason::Stop,
            usage: Usage::default(),
        })
    }

    /// A turn that calls tools.
    #[expect(clippy::missing_errors_doc, reason = "it makes a turn, which may stand for an error, and cannot fail")]
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Turn {
        Ok(ModelResponse {
            message: Message::tool_calls(calls.into_iter().collect()),
            finish_reason: FinishReason::ToolCalls,
            usage: Usage::default(),
        })
    }

    /// What was asked, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().clone()
    }

    fn next_turn(&self, request: &ModelRequest) -> Turn {
        self.requests.lock().push(request.clone());
        self.turns.lock().next(request).unwrap_or_else(|| {
            Err(ModelError::new(ModelErrorKind::InvalidRequest, "the model's script has ended; add a turn to it"))
        })
    }

    async fn wait(&self) {
        if let Some((env, latency)) = &self.latency {
            env.until(env.now().saturating_add(*latency)).await;
        }
    }
}

impl Turns {
    fn next(&mut self, request: &ModelRequest) -> Option<Turn> {
        match self {
            Self::InOrder(turns) => turns.pop_front(),
            Self::ByConversation(turns) => {
                let has_spoken = |message: &&Message| message.role == Role::Assistant;
                let turn = turns.get_mut(request.messages.iter().filter(has_spoken).count())?;
                if turn.len() > 1 { turn.pop_front() } else { turn.front().cloned() }
            }
        }
    }

    fn left(&self) -> usize {
        match self {
            Self::InOrder(turns) => turns.len(),
            Self::ByConversation(turns) => turns.iter().map(VecDeque::len).sum(),
        }
    }
}

impl ModelTransport for ScriptedModel {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Turn> {
        Box::pin(async move {
            let turn = self.next_turn(request);
            self.wait().await;
            turn
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let deltas = deltas_of(self.next_turn(request)?);
            let paced = stream::iter(deltas).then(move |delta| async move {
                self.wait().await;
                Ok(delta)
            });
            Ok(paced.boxed())
        })
    }
}

/// The response in pieces: the text word by word, each call's arguments in two halves.
fn deltas_of(response: ModelResponse) -> Vec<Delta> {
    let mut deltas: Vec<_> =
        response.message.content.split_inclusive(' ').map(|word| Delta::Text(word.to_owned())).collect();
    for (index, call) in response.message.tool_calls.into_iter().enumerate() {
        deltas.push(Delta::ToolCallStarted { index, id: call.id, name: call.name });
        let text = call.arguments.to_string();
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(middle, _)| middle);
        let (first, second) = text.split_at(middle);
        for half in [first, second] {
            deltas.push(Delta::ToolCallArguments { index, json: half.to_owned() });
        }
    }
    deltas.push(Delta::Finished { finish_reason: response.finish_reason, usage: response.usage });
    deltas
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedModel")
            .field("turns_left", &self.turns.lock().left())
            .field("requests", &self.requests.lock().len())
            .finish_non_exhaustive()
    }
}
