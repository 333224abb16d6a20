//! Calls that are recorded and replayed.

use std::fmt;

use serde_json::Value;
use windtunnel_core::json::canonical;

/// Calls, in the order in which they are recorded, each with what it is answered. No two answers are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplaySession {
    /// In their order. Calls of different lanes may be under way at once.
    pub calls: Vec<RecordedCall>,
}

/// One call, with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// What is called.
    pub call: ReplayCall,
    /// What it is answered.
    pub answer: ReplayAnswer,
    /// How many turns of others the answer takes.
    pub pauses: u8,
}

/// What is called. Calls that are equal are the same call, made again.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayCall {
    /// By which of several agents that run at once.
    pub lane: u8,
    /// What is called: a tool, or a model.
    pub name: String,
    /// With what.
    pub arguments: Value,
    /// Whether the answer is to come in pieces.
    pub is_streamed: bool,
}

/// What a call is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayAnswer {
    /// A value, of a call that is not streamed.
    Value(Value),
    /// An error, and no stream.
    Failure(ReplayFailure),
    /// Pieces, of a call that is streamed.
    Stream {
        /// The pieces, none of them empty.
        pieces: Vec<String>,
        /// What breaks it after them; nothing, if it is whole.
        failure: Option<ReplayFailure>,
    },
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayFailure {
    /// What it says.
    pub message: String,
    /// Whether another call may succeed.
    pub may_pass: bool,
}

/// Whether the order of calls counts in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplayOrder {
    /// Within a lane, calls come in the order in which they were recorded.
    Strict,
    /// What a call is answered depends on the call alone: the first answer of the same call that was not given yet.
    Keyed,
}

/// One call of a replay. It says which by what was recorded, so that a case keeps its sense when calls are taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayAsk {
    /// As one that was recorded, in a circle.
    Recorded(usize),
    /// As one that was recorded, with other arguments.
    Changed(usize),
    /// By another name than any.
    Unknown(usize),
}

impl ReplaySession {
    /// The call that is made.
    pub fn call(&self, ask: ReplayAsk) -> Option<ReplayCall> {
        let (ReplayAsk::Recorded(place) | ReplayAsk::Changed(place) | ReplayAsk::Unknown(place)) = ask;
        let call = self.calls.get(place.checked_rem(self.calls.len())?)?.call.clone();
        Some(match ask {
            ReplayAsk::Recorded(_) => call,
            ReplayAsk::Changed(_) => ReplayCall { arguments: Value::from(vec![call.arguments]), ..call },
            ReplayAsk::Unknown(_) => ReplayCall { name: "never-recorded".to_owned(), ..call },
        })
    }
}

impl ReplayCall {
    /// Whether it is the same call, by the same lane.
    pub fn is(&self, other: &Self) -> bool {
        self.lane == other.lane
            && self.name == other.name
            && self.is_streamed == other.is_streamed
            && canonical(&self.arguments) == canonical(&other.arguments)
    }
}

impl fmt::Display for ReplayCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lane, name, arguments, is_streamed } = self;
        let streamed = if *is_streamed { ", streamed" } else { "" };
        write!(formatter, "{name}({arguments}) in lane {lane}{streamed}")
    }
}
