//! A stream, read to its end.

use futures_util::StreamExt;
use serde_json::Value;
use windtunnel_core::executor::ToolCall;
use windtunnel_core::model::{Delta, Message, ModelError, ModelRequest, ModelTransport};

/// More pieces than any case has.
const ITEMS_MAX: usize = 20_000;

/// What a stream gave.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) deltas: Vec<Delta>,
    /// What broke it.
    pub(super) failure: Option<ModelError>,
}

impl Reading {
    /// Reads the stream of a request.
    pub(super) async fn of(
        transport: &impl ModelTransport,
        request: &ModelRequest,
    ) -> Result<Result<Self, ModelError>, String> {
        let mut stream = match transport.stream(request).await {
            Ok(stream) => stream,
            Err(error) => return Ok(Err(error)),
        };
        let mut reading = Self::default();
        while let Some(item) = stream.next().await {
            if reading.failure.is_some() {
                return Err(format!("after {:?} the stream goes on with {item:?}", reading.failure));
            }
            match item {
                Ok(delta) => reading.deltas.push(delta),
                Err(failure) => reading.failure = Some(failure),
            }
            if reading.deltas.len() > ITEMS_MAX {
                return Err("the stream has no end".to_owned());
            }
        }
        Ok(Ok(reading))
    }

    /// Reads the stream of a request that has a response.
    pub(super) async fn whole(transport: &impl ModelTransport, request: &ModelRequest) -> Result<Self, String> {
        match Self::of(transport, request).await? {
            Ok(Self { failure: Some(failure), .. }) => Err(format!("the stream breaks: {failure}")),
            Ok(reading) => Ok(reading),
            Err(failure) => Err(format!("the stream does not begin: {failure}")),
        }
    }

    /// How many ends it has.
    pub(super) fn ends(&self) -> usize {
        self.deltas.iter().filter(|delta| matches!(delta, Delta::Finished { .. })).count()
    }

    /// The message that its pieces come to, whatever their order.
    pub(super) fn message(&self) -> Result<Message, String> {
        let (mut text, mut calls) = (String::new(), Vec::<(usize, ToolCall, String)>::new());
        for delta in &self.deltas {
            match delta {
                Delta::Text(piece) => text.push_str(piece),
                Delta::ToolCallStarted { index, id, name } => {
                    let call = ToolCall { id: id.clone(), name: name.clone(), arguments: Value::Null };
                    calls.push((*index, call, String::new()));
                }
                Delta::ToolCallArguments { index, json } => {
                    let call = calls.iter_mut().find(|(known, _, _)| known == index);
                    call.ok_or_else(|| format!("there are arguments of call {index}, which has not begun"))?.2 += json;
                }
                Delta::Finished { .. } => {}
            }
        }
        calls.sort_by_key(|(index, _, _)| *index);
        let read = |(index, call, json): (usize, ToolCall, String)| {
            let json = if json.is_empty() { "{}" } else { &json };
            let read = serde_json::from_str(json);
            let arguments = read.map_err(|error| format!("the arguments of call {index} are {json:?}: {error}"))?;
            Ok(ToolCall { arguments, ..call })
        };
        let tool_calls = calls.into_iter().map(read).collect::<Result<_, String>>()?;
        Ok(Message { tool_calls, ..Message::assistant(text) })
    }
}
