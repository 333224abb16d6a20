//! A cassette, as cases are answered from it.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ResponseBuilder};
use windtunnel_fixtures::cassette::{
    Answer, Entry, Exchange, HttpExchange, ModelExchange, Operation, TimedDelta, load,
};
use windtunnel_fixtures::replay::PreparedCassette;
use windtunnel_fixtures::wire::view;

/// A cassette in which everything that a model said is a whole response: agents of case files ask for no other.
#[derive(Debug)]
pub(in crate::case) struct Recorded {
    /// As the case calls it.
    pub(super) name: String,
    pub(super) cassette: PreparedCassette,
    pub(super) model: RecordedTraffic,
}

/// How a cassette knows what a model said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordedTraffic {
    /// It does not.
    Absent,
    /// By typed calls, whose requests are compared.
    Typed,
    /// By requests over HTTP. They are those of a provider, which nothing that a case asks is the same as: only their order
    /// counts.
    Http,
}

/// A response of a model, and what failed around it.
pub(in crate::case) struct RecordedTurn {
    pub(in crate::case) failures: Vec<ModelError>,
    pub(in crate::case) response: ModelResponse,
}

impl Recorded {
    /// Reads a cassette, or says what is wrong with it, and where.
    pub(super) fn load(name: &str, path: &Path) -> Result<Self, String> {
        let mut cassette = load(path).map_err(|error| error.to_string())?;
        let has = |is_it: fn(&Exchange) -> bool| cassette.entries.iter().any(|entry| is_it(&entry.exchange));
        let model = match has(|exchange| matches!(exchange, Exchange::Model(_))) {
            true => RecordedTraffic::Typed,
            false if has(|exchange| response_over_http(exchange).is_some()) => RecordedTraffic::Http,
            false => RecordedTraffic::Absent,
        };
        for (index, entry) in cassette.entries.iter_mut().enumerate() {
            let problem = |problem| format!("{}: $.entries[{index}]: {problem}", path.display());
            match (&mut entry.exchange, model) {
                (Exchange::Model(exchange), _) => put_together(exchange).map_err(problem)?,
                (exchange @ Exchange::Http(_), RecordedTraffic::Http) => {
                    if let Some(typed) = response_over_http(exchange) {
                        *exchange = Exchange::Model(typed);
                    }
                }
                _ => {}
            }
        }
        let prepared = PreparedCassette::new(cassette);
        let cassette = prepared.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { name: name.to_owned(), cassette, model })
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.cassette.cassette().entries
    }

    /// What the model says, in the order of the entries.
    pub(super) fn turns(&self) -> Vec<RecordedTurn> {
        let (mut turns, mut failures) = (Vec::new(), Vec::new());
        for entry in self.entries() {
            let Exchange::Model(ModelExchange { answer, .. }) = &entry.exchange else { continue };
            match answer {
                Answer::Response { response, .. } => {
                    let Ok(response) = ModelResponse::deserialize(response) else { continue };
                    turns.push(RecordedTurn { failures: std::mem::take(&mut failures), response });
                }
                Answer::Failure { failure, .. } => failures.extend(ModelError::try_from(failure)),
                Answer::Stream { .. } => {}
            }
        }
        // What fails in the end fails after all that was said.
        if let Some(last) = turns.last_mut() {
            last.failures.append(&mut failures);
        }
        turns
    }

    /// How long the model took at the most.
    pub(super) fn slowest(&self) -> Duration {
        let after_us = self.entries().iter().filter_map(|entry| match &entry.exchange {
            Exchange::Model(ModelExchange { answer, .. }) => match answer {
                Answer::Response { after_us, .. } | Answer::Failure { after_us, .. } => Some(*after_us),
                Answer::Stream { end_us, .. } => Some(*end_us),
            },
            _ => None,
        });
        Duration::from_micros(after_us.max().unwrap_or_default())
    }

    /// The tools that were on offer or called.
    pub(super) fn tool_names(&self) -> Vec<&str> {
        let offered = self.cassette.cassette().tools.iter().filter_map(|tool| tool.get("name")?.as_str());
        let called = self.entries().iter().filter_map(|entry| match &entry.exchange {
            Exchange::Tool(exchange) => Some(exchange.name.as_str()),
            _ => None,
        });
        let mut names = Vec::new();
        for name in offered.chain(called) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// What was said of a tool when it was on offer: its description and the schema of its arguments.
    pub(super) fn offered(&self, name: &str) -> Option<(&str, &Value)> {
        let tool = self
            .cassette
            .cassette()
            .tools
            .iter()
            .find(|tool| tool.get("name").and_then(Value::as_str) == Some(name))?;
        let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
        Some((description, tool.get("parameters")?))
    }
}

/// Makes a whole response of a stream.
fn put_together(exchange: &mut ModelExchange) -> Result<(), String> {
    exchange.operation = Operation::Complete;
    let Answer::Stream { deltas, failure, end_us, .. } = &exchange.answer else { return Ok(()) };
    exchange.answer = match (failure, response_of(deltas)?) {
        (Some(failure), _) => Answer::Failure { after_us: *end_us, failure: failure.clone() },
        (None, result) => answer(*end_us, result),
    };
    Ok(())
}

fn response_of(deltas: &[TimedDelta]) -> Result<Result<ModelResponse, ModelError>, String> {
    let mut builder = ResponseBuilder::default();
    for TimedDelta { delta, .. } in deltas {
        let delta = Delta::deserialize(delta).map_err(|error| format!("the delta cannot be read: {error}"))?;
        if let Err(error) = builder.push(delta) {
            return Ok(Err(error));
        }
    }
    Ok(builder.finish())
}

/// What a model answered over HTTP, as the answer to any request.
fn response_over_http(exchange: &Exchange) -> Option<ModelExchange> {
    let Exchange::Http(exchange) = exchange else { return None };
    let HttpExchange { response, .. } = exchange;
    let answer = answer(response.end_us, view(exchange).ok()?.response());
    let request = serde_json::to_value(ModelRequest::default()).unwrap_or_default();
    Some(ModelExchange { operation: Operation::Complete, request, answer })
}

fn answer(after_us: u64, result: Result<ModelResponse, ModelError>) -> Answer {
    match result {
        Ok(response) => Answer::Response { after_us, response: serde_json::to_value(response).unwrap_or_default() },
        Err(error) => Answer::Failure { after_us, failure: (&error).into() },
    }
}
