//! What the strategies of the suites make, measured: the shares that their documentation promises.

use serde_json::Value;
use windtunnel_core::durable::{Claimed, Commit, Refusal, Wake};
use windtunnel_proptests::cases::{
    ModelAnswer, RecordedCall, ReplayAnswer, ReplayAsk, SessionEnding, StoreLaw, StoreOperation, ToolSession,
};
use windtunnel_proptests::models::{StoreAnswer, StoreCall};
use windtunnel_proptests::played::Exchange;
use windtunnel_proptests::properties::journals::check_memory;
use windtunnel_proptests::strategies::{
    ReplayScope, edge_json_values, known_secrets, model_failures, model_traffic, replay_asks, replay_sessions,
    store_operations_about, tool_sessions,
};

use crate::distribution::{check, some_cases};

#[test]
fn json_values_have_what_is_often_lost() {
    let values = some_cases(edge_json_values(), 1_000);
    check(&values, "are an array or an object", 40, |value| value.is_array() || value.is_object());
    check(&values, "have a float that is whole", 4, has_whole_float);
}

fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|float| float.fract() == 0.0),
        Value::Array(elements) => elements.iter().any(has_whole_float),
        Value::Object(members) => members.values().any(has_whole_float),
        _ => false,
    }
}

#[test]
fn model_traffic_has_every_kind_of_answer() {
    let traffic: Vec<_> = some_cases(model_traffic(), 500).into_iter().map(|traffic| traffic.exchanges).collect();
    let has = |is_it: fn(&ModelAnswer) -> bool| {
        move |exchanges: &Vec<_>| {
            exchanges.iter().any(|exchange: &windtunnel_proptests::cases::ModelExchangeCase| is_it(&exchange.answer))
        }
    };
    check(&traffic, "have several exchanges", 50, |exchanges| exchanges.len() > 1);
    check(
        &traffic,
        "have a response that calls tools",
        50,
        has(|answer| matches!(answer, ModelAnswer::Response(response) if !response.message.tool_calls.is_empty())),
    );
    check(&traffic, "have a failure", 40, has(|answer| matches!(answer, ModelAnswer::Failure(_))));
    check(
        &traffic,
        "say when to come again",
        15,
        has(|answer| matches!(answer, ModelAnswer::Failure(failure) if failure.retry_after.is_some())),
    );
    check(&traffic, "have a stream that breaks", 40, has(|answer| matches!(answer, ModelAnswer::Broken { .. })));
    let failures = some_cases(model_failures(), 500);
    let answers: Vec<_> = failures.into_iter().flat_map(|traffic| traffic.exchanges).collect();
    check(&answers, "fail at once", 45, |exchange| matches!(exchange.answer, ModelAnswer::Failure(_)));
    check(&answers, "break", 45, |exchange| matches!(exchange.answer, ModelAnswer::Broken { .. }));
}

#[test]
fn tool_sessions_end_in_every_way() {
    let sessions = some_cases(tool_sessions(), 500);
    let has = |is_it: fn(&SessionEnding) -> bool| {
        move |session: &ToolSession| session.calls.iter().any(|call| is_it(&call.ending))
    };
    check(&sessions, "have several tools", 60, |session| session.tools.len() > 1);
    check(&sessions, "return", 60, has(|ending| matches!(ending, SessionEnding::Value(_))));
    check(
        &sessions,
        "may pass",
        40,
        has(|ending| matches!(ending, SessionEnding::Fails { .. } | SessionEnding::TimesOut)),
    );
    check(
        &sessions,
        "are refused",
        30,
        has(|ending| matches!(ending, SessionEnding::Refused { .. } | SessionEnding::RejectsArguments { .. })),
    );
    check(&sessions, "are ended by control flow", 15, has(|ending| *ending == SessionEnding::Interrupted));
}

#[test]
fn replay_sessions_make_calls_again() {
    let scope = ReplayScope { lanes_max: 3, has_streams: true, has_failures: true };
    let sessions: Vec<_> = some_cases(replay_sessions(scope), 500).into_iter().map(|session| session.calls).collect();
    let has_two = |is_same_lane: bool| {
        move |calls: &Vec<RecordedCall>| {
            calls.iter().enumerate().any(|(place, one)| {
                calls[..place].iter().any(|other| {
                    let mut call = other.call.clone();
                    call.lane = one.call.lane;
                    call.is(&one.call) && (other.call.lane == one.call.lane) == is_same_lane
                })
            })
        }
    };
    check(&sessions, "have the same call twice in one lane", 30, has_two(true));
    check(&sessions, "have the same call in two lanes", 30, has_two(false));
    check(&sessions, "have an answer in pieces", 60, |calls| {
        calls.iter().any(|recorded| matches!(recorded.answer, ReplayAnswer::Stream { .. }))
    });
    check(&sessions, "have an error", 60, |calls| {
        calls.iter().any(|recorded| {
            matches!(recorded.answer, ReplayAnswer::Failure(_) | ReplayAnswer::Stream { failure: Some(_), .. })
        })
    });
    let asks: Vec<_> = some_cases(replay_asks(), 500).into_iter().flatten().collect();
    check(&asks, "were not recorded so", 14, |ask| !matches!(ask, ReplayAsk::Recorded(_)));
}

#[test]
fn known_secrets_have_every_form() {
    let secrets = some_cases(known_secrets(), 1_000);
    for beginning in ["ghp_", "sk-", "AKIA", "xoxb-", "hf_"] {
        check(&secrets, beginning, 15, |secret| secret.starts_with(beginning));
    }
}

#[test]
fn operations_about_a_law_come_to_what_it_is_about() {
    for law in StoreLaw::ALL {
        let cases = some_cases(store_operations_about(law), 100);
        let play = |operations: Vec<_>| (check_memory(&operations).unwrap(), operations);
        let played: Vec<_> = cases.into_iter().map(play).collect();
        check(&played, &format!("come to what {law:?} is about"), 30, |(exchanges, operations)| {
            let is_reopened = operations.contains(&StoreOperation::Reopen);
            is_about(law, exchanges) && (law != StoreLaw::Reopening || is_reopened)
        });
    }
}

fn is_about(law: StoreLaw, exchanges: &[Exchange]) -> bool {
    let is_refused = |refusal: Refusal| {
        exchanges.iter().any(
            |exchange| matches!(&exchange.answer, StoreAnswer::Commit(Commit::Refused(refused)) if *refused == refusal),
        )
    };
    let claims: Vec<_> = exchanges
        .iter()
        .filter_map(|exchange| match &exchange.answer {
            StoreAnswer::Claimed(Claimed::Activation(claim)) => Some(claim),
            _ => None,
        })
        .collect();
    match law {
        StoreLaw::Fences => is_refused(Refusal::Superseded),
        StoreLaw::OneDecision => is_refused(Refusal::Closed),
        StoreLaw::Bounds => is_refused(Refusal::OverBound),
        StoreLaw::Leases => claims.len() > 1,
        StoreLaw::Events => claims.iter().any(|claim| matches!(claim.wake, Wake::Event { .. } | Wake::Timeout { .. })),
        StoreLaw::Repeats => exchanges.iter().enumerate().any(|(place, exchange)| {
            let call = format!("{:?}", exchange.call);
            exchanges[..place].iter().any(|earlier| format!("{:?}", earlier.call) == call)
        }),
        StoreLaw::Order | StoreLaw::Reopening => {
            let due = if law == StoreLaw::Order { 2 } else { 1 };
            let stored = exchanges.iter().filter(|exchange| {
                matches!(exchange.call, StoreCall::CommitRecord { .. })
                    && matches!(exchange.answer, StoreAnswer::Commit(Commit::Acknowledged))
            });
            stored.count() >= due
        }
    }
}
