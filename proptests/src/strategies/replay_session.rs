//! Calls that are recorded and replayed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::edge_json_values;
use crate::cases::{RecordedCall, ReplayAnswer, ReplayAsk, ReplayCall, ReplayFailure, ReplaySession};

/// What the calls of a session may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayScope {
    /// How many lanes there are at most. At least 1.
    pub lanes_max: u8,
    /// Whether some answers come in pieces.
    pub has_streams: bool,
    /// Whether some answers are errors.
    pub has_failures: bool,
}

/// Sessions of 1 to 8 calls, of few names and arguments, so that many of them are made again.
///
/// Of 100 sessions of the widest scope at least 30 have the same call twice in one lane, 30 in two lanes, 60 an answer in
/// pieces and 60 an error.
pub fn replay_sessions(scope: ReplayScope) -> impl Strategy<Value = ReplaySession> {
    let arguments = select(vec![json!({"city": "Kyoto"}), json!({"city": "Kyoto", "days": 1})]);
    let calls = (0..scope.lanes_max.max(1), select(vec!["search", "weather"]), arguments, prop::bool::weighted(0.4));
    let call = calls.prop_map(move |(lane, name, arguments, is_streamed)| ReplayCall {
        lane,
        name: name.to_owned(),
        arguments,
        is_streamed: is_streamed && scope.has_streams,
    });
    let recorded = call.prop_flat_map(move |call| {
        let answer = if call.is_streamed { streams(scope).boxed() } else { values(scope).boxed() };
        (Just(call), answer, 0_u8..=3).prop_map(|(call, answer, pauses)| RecordedCall { call, answer, pauses })
    });
    vec(recorded, 1..=8).prop_map(|mut calls| {
        calls.iter_mut().enumerate().for_each(|(place, recorded)| number(&mut recorded.answer, place));
        ReplaySession { calls }
    })
}

/// Up to 12 calls of a replay, of which 1 in 6 was not recorded so.
pub fn replay_asks() -> impl Strategy<Value = Vec<ReplayAsk>> {
    let ask = prop_oneof![
        10 => (0_usize..8).prop_map(ReplayAsk::Recorded),
        1 => (0_usize..8).prop_map(ReplayAsk::Changed),
        1 => (0_usize..8).prop_map(ReplayAsk::Unknown),
    ];
    vec(ask, 0..=12)
}

fn failures() -> impl Strategy<Value = ReplayFailure> {
    (select(vec!["busy", "no such order"]), any::<bool>())
        .prop_map(|(message, may_pass)| ReplayFailure { message: message.to_owned(), may_pass })
}

fn values(scope: ReplayScope) -> impl Strategy<Value = ReplayAnswer> {
    let value = edge_json_values().prop_map(ReplayAnswer::Value);
    match scope.has_failures {
        true => prop_oneof![3 => value, 1 => failures().prop_map(ReplayAnswer::Failure)].boxed(),
        false => value.boxed(),
    }
}

fn streams(scope: ReplayScope) -> impl Strategy<Value = ReplayAnswer> {
    let pieces = vec(select(vec!["sun", "\u{e9}\u{2602}", " ", "a\nb"]).prop_map(str::to_owned), 0..5);
    let failure = prop::option::weighted(if scope.has_failures { 0.3 } else { 0.0 }, failures());
    let whole = (pieces, failure).prop_map(|(pieces, failure)| ReplayAnswer::Stream { pieces, failure });
    match scope.has_failures {
        true => prop_oneof![5 => whole, 1 => failures().prop_map(ReplayAnswer::Failure)].boxed(),
        false => whole.boxed(),
    }
}

/// Makes an answer like no other.
fn number(answer: &mut ReplayAnswer, place: usize) {
    match answer {
        ReplayAnswer::Value(value) => *value = json!({"answer": place, "value": value.take()}),
        ReplayAnswer::Failure(failure) => failure.message = format!("answer {place}: {}", failure.message),
        ReplayAnswer::Stream { pieces, .. } => pieces.insert(0, format!("answer {place}: ")),
    }
}
