//! A response in pieces, and putting it together.

use serde::{Deserialize, Serialize};

use super::{FinishReason, Message, ModelError, ModelErrorKind, ModelResponse, Usage};
use crate::executor::ToolCall;
use crate::json::{Bounds, ParseError, parse};

/// One piece of a streamed response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// More text.
    Text(String),
    /// The model begins a call; calls are numbered from 0 in order.
    ToolCallStarted {
        /// Which call.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a call's arguments, as a piece of JSON text.
    ToolCallArguments {
        /// Which call.
        index: usize,
        /// The piece.
        json: String,
    },
    /// The response is complete.
    Finished {
        /// Why the model stopped.
        finish_reason: FinishReason,
        /// What it cost in tokens.
        usage: Usage,
    },
}

/// Builds a [`ModelResponse`] from its pieces.
///
/// ```
/// use windtunnel_core::model::{Delta, FinishReason, ResponseBuilder, Usage};
///
/// let mut builder = ResponseBuilder::default();
/// builder.push(Delta::Text("pai".to_owned()))?;
/// builder.push(Delta::Text("d".to_owned()))?;
/// builder.push(Delta::Finished { finish_reason: FinishReason::Stop, usage: Usage::default() })?;
/// assert_eq!(builder.finish()?.message.content, "paid");
/// # Ok::<(), windtunnel_core::model::ModelError>(())
/// ```
#[derive(Debug, Default)]
pub struct ResponseBuilder {
    text: String,
    calls: Vec<PartialCall>,
    finished: Option<(FinishReason, Usage)>,
}

#[derive(Debug)]
struct PartialCall {
    id: String,
    name: String,
    json: String,
}

impl ResponseBuilder {
    /// Takes the next piece.
    ///
    /// # Errors
    /// `invalid-response` for a piece after the end, a call out of order, or arguments of a call that never began.
    pub fn push(&mut self, delta: Delta) -> Result<(), ModelError> {
        if self.finished.is_some() {
            return Err(invalid("a piece came after the end of the response"));
        }
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::ToolCallStarted { index, id, name } => {
                if index != self.calls.len() {
                    return Err(invalid(format!("tool call {index} began when call {} was due", self.calls.len())));
                }
                self.calls.push(PartialCall { id, name, json: String::new() });
            }
            Delta::ToolCallArguments { index, json } => match self.calls.get_mut(index) {
                Some(call) => call.json.push_str(&json),
                None => return Err(invalid(format!("arguments came for tool call {index}, which never began"))),
            },
            Delta::Finished { finish_reason, usage } => self.finished = Some((finish_reason, usage)),
        }
        Ok(())
    }

    /// The whole response.
    ///
    /// # Errors
    /// `connection` if the end never came; `invalid-response` if a call's arguments are not JSON.
    pub fn finish(self) -> Result<ModelResponse, ModelError> {
        let Some((finish_reason, usage)) = self.finished else {
            return Err(ModelError::new(ModelErrorKind::Connection, "the stream ended before the response did"));
        };
        let mut message = Message::assistant(self.text);
        for (index, PartialCall { id, name, json }) in self.calls.into_iter().enumerate() {
            let text = if json.is_empty() { "{}" } else { &json };
            let arguments = parse(text, Bounds::DEFAULT).map_err(|ParseError { line, column, .. }| {
                // The error's own text may quote the arguments, which may be secret.
                invalid(format!("the arguments of tool call {index} are not JSON at line {line}, column {column}"))
            })?;
            message.tool_calls.push(ToolCall { id, name, arguments });
        }
        Ok(ModelResponse { message, finish_reason, usage })
    }
}

fn invalid(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidResponse, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn built(deltas: impl IntoIterator<Item = Delta>) -> Result<ModelResponse, String> {
        let mut builder = ResponseBuilder::default();
        for delta in deltas {
            builder.push(delta).map_err(|error| error.to_string())?;
        }
        builder.finish().map_err(|error| error.to_string())
    }

    fn call(index: usize) -> Delta {
        Delta::ToolCallStarted { index, id: format!("call-{index}"), name: "search".to_owned() }
    }

    fn arguments(index: usize, json: &str) -> Delta {
        Delta::ToolCallArguments { index, json: json.to_owned() }
    }

    fn end() -> Delta {
        Delta::Finished { finish_reason: FinishReason::ToolCalls, usage: Usage { input_tokens: 3, output_tokens: 2 } }
    }

    #[test]
    fn interleaved_calls_come_together() {
        let pieces = [call(0), call(1), arguments(1, "{\"k\""), arguments(0, "{}"), arguments(1, ":1}"), end()];
        let response = built(pieces).unwrap();
        assert_eq!(response.message.tool_calls[1].arguments, json!({"k": 1}));
        assert_eq!(response.usage.output_tokens, 2);
    }

    #[test]
    fn broken_streams_are_errors() {
        let cut = built([Delta::Text("half".to_owned())]).unwrap_err();
        assert_eq!(cut, "the model failed (connection): the stream ended before the response did");
        assert!(built([call(1)]).unwrap_err().contains("tool call 1 began when call 0 was due"));
        assert!(built([arguments(0, "{}")]).unwrap_err().contains("which never began"));
        assert!(built([end(), end()]).unwrap_err().contains("after the end"));
        assert!(built([call(0), arguments(0, "{"), end()]).unwrap_err().contains("are not JSON at line 1"));
    }
}
