//! What models are asked and answer.

use windtunnel_core::model::{Delta, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse, Usage};

/// Requests of one model, with what it answers each. All requests differ: the last message of the one at `n` begins with
/// `#n `, so that it is known again whatever else becomes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelTraffic {
    /// In no order: any of them may be asked at any time, and again.
    pub exchanges: Vec<ModelExchangeCase>,
}

/// One request, and what it is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelExchangeCase {
    /// What is asked.
    pub request: ModelRequest,
    /// What is answered.
    pub answer: ModelAnswer,
    /// How many characters each piece of a stream has at most. At least 1.
    pub piece_chars: usize,
    /// How many turns of others each part of the answer takes.
    pub pauses: u8,
}

/// What a model answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelAnswer {
    /// A response, whole or in pieces as it was asked for.
    Response(ModelResponse),
    /// An error, and no stream begins.
    Failure(ModelError),
    /// A stream that ends before the response does. A whole response fails.
    Broken {
        /// What would have been the response.
        response: ModelResponse,
        /// How many pieces come.
        pieces: usize,
        /// What breaks it; nothing, if it just ends.
        failure: Option<ModelError>,
    },
}

impl ModelTraffic {
    /// The exchange of a request, by how its last message begins.
    pub fn exchange(&self, request: &ModelRequest) -> Option<&ModelExchangeCase> {
        let (number, _) = request.messages.last()?.content.strip_prefix('#')?.split_once(' ')?;
        self.exchanges.get(number.parse::<usize>().ok()?)
    }
}

impl ModelExchangeCase {
    /// The whole response, if there is one.
    ///
    /// # Errors
    /// The error that is answered instead.
    pub fn whole(&self) -> Result<ModelResponse, ModelError> {
        match &self.answer {
            ModelAnswer::Response(response) => Ok(response.clone()),
            ModelAnswer::Failure(failure) | ModelAnswer::Broken { failure: Some(failure), .. } => Err(failure.clone()),
            ModelAnswer::Broken { failure: None, .. } => {
                Err(ModelError::new(ModelErrorKind::Connection, "the connection was closed"))
            }
        }
    }

    /// The pieces of the stream, with what breaks it.
    ///
    /// # Errors
    /// The error that is answered instead of one.
    pub fn pieces(&self) -> Result<Vec<Result<Delta, ModelError>>, ModelError> {
        match &self.answer {
            ModelAnswer::Response(response) => Ok(self.deltas(response).into_iter().map(Ok).collect()),
            ModelAnswer::Failure(failure) => Err(failure.clone()),
            ModelAnswer::Broken { response, pieces, failure } => {
                let mut deltas = self.deltas(response);
                // Never the end.
                deltas.truncate((*pieces).min(deltas.len().saturating_sub(1)));
                Ok(deltas.into_iter().map(Ok).chain(failure.clone().map(Err)).collect())
            }
        }
    }

    fn deltas(&self, response: &ModelResponse) -> Vec<Delta> {
        let mut deltas: Vec<_> = self.cut(&response.message.content).into_iter().map(Delta::Text).collect();
        for (index, call) in response.message.tool_calls.iter().enumerate() {
            deltas.push(Delta::ToolCallStarted { index, id: call.id.clone(), name: call.name.clone() });
            let arguments = self.cut(&call.arguments.to_string());
            deltas.extend(arguments.into_iter().map(|json| Delta::ToolCallArguments { index, json }));
        }
        deltas.push(Delta::Finished { finish_reason: response.finish_reason.clone(), usage: response.usage });
        deltas
    }

    fn cut(&self, text: &str) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(self.piece_chars.max(1)).map(|piece| piece.iter().collect()).collect()
    }
}

impl ModelAnswer {
    /// What its response costs, if it comes to its end.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Self::Response(response) => Some(response.usage),
            Self::Failure(_) | Self::Broken { .. } => None,
        }
    }

    /// Why its response ends, if it comes to its end.
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        match self {
            Self::Response(response) => Some(&response.finish_reason),
            Self::Failure(_) | Self::Broken { .. } => None,
        }
    }
}
