//! What models are asked and answer.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use windtunnel_core::executor::ToolCall;
use windtunnel_core::model::{
    FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ToolDefinition, Usage,
};

use super::edge_json_values;
use crate::cases::{ModelAnswer, ModelExchangeCase, ModelTraffic};

/// Traffic of 1 to 5 exchanges, whose requests and responses resemble each other.
///
/// Of 100 cases at least 50 have several exchanges and 50 a response that calls tools, 40 a failure, 15 one that says when
/// to come again, and 40 a stream that breaks.
pub fn model_traffic() -> impl Strategy<Value = ModelTraffic> {
    traffic(prop_oneof![
        6 => responses().prop_map(ModelAnswer::Response),
        2 => failures().prop_map(ModelAnswer::Failure),
        2 => broken(),
    ])
}

/// The same, where every exchange has a response.
pub fn model_responses() -> impl Strategy<Value = ModelTraffic> {
    traffic(responses().prop_map(ModelAnswer::Response))
}

/// The same, where no exchange has a response: half of them fail at once, and half in the middle of a stream.
pub fn model_failures() -> impl Strategy<Value = ModelTraffic> {
    traffic(prop_oneof![failures().prop_map(ModelAnswer::Failure), broken()])
}

fn traffic(answers: impl Strategy<Value = ModelAnswer>) -> impl Strategy<Value = ModelTraffic> {
    let exchange = (requests(), answers, 1_usize..=8, 0_u8..=3)
        .prop_map(|(request, answer, piece_chars, pauses)| ModelExchangeCase { request, answer, piece_chars, pauses });
    vec(exchange, 1..=5).prop_map(|mut exchanges| {
        for (number, exchange) in exchanges.iter_mut().enumerate() {
            if let Some(last) = exchange.request.messages.last_mut() {
                last.content = format!("#{number} {}", last.content);
            }
        }
        ModelTraffic { exchanges }
    })
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => Just(String::new()),
        2 => select(vec!["paid", "two words", "\u{e9}\u{2602}\u{1f600}", "a\n\nb", "data: [DONE]"]).prop_map(str::to_owned),
        3 => "[a-z\u{e9}\u{2602} ]{1,24}",
    ]
}

fn requests() -> impl Strategy<Value = ModelRequest> {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = ToolDefinition { name: "weather".to_owned(), description: "The weather.".to_owned(), parameters };
    let key = prop::option::of(select(vec!["key-1", "key-2"]).prop_map(str::to_owned));
    let numbers = (prop::option::of(select(vec![0.0, 0.5, 1.0])), prop::option::of(1_u64..5_000));
    (prop::option::of(texts()), texts(), any::<bool>(), numbers, key).prop_map(
        move |(system, user, has_tool, (temperature, output_tokens_max), idempotency_key)| ModelRequest {
            model: "model-1".to_owned(),
            messages: system.map(Message::system).into_iter().chain([Message::user(user)]).collect(),
            tools: if has_tool { vec![tool.clone()] } else { Vec::new() },
            temperature,
            output_tokens_max,
            idempotency_key,
        },
    )
}

fn responses() -> impl Strategy<Value = ModelResponse> {
    let arguments = vec((select(vec!["city", "unit", "\u{e9}"]), edge_json_values()), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()));
    let call = (select(vec!["weather", "pay"]), arguments);
    let reasons = select(vec![
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::Refusal,
        FinishReason::Other("pause".to_owned()),
    ]);
    (texts(), vec(call, 0..=3), reasons, (0_u64..2_000, 1_u64..500)).prop_map(|(text, calls, finish_reason, tokens)| {
        let calls = calls.into_iter().enumerate();
        let calls = calls.map(|(index, (name, arguments))| ToolCall {
            id: format!("call-{index}"),
            name: name.to_owned(),
            arguments,
        });
        ModelResponse {
            message: Message { tool_calls: calls.collect(), ..Message::assistant(text) },
            finish_reason,
            usage: Usage { input_tokens: tokens.0, output_tokens: tokens.1 },
        }
    })
}

/// What a service says, and not a replay. Only what may pass says when to come again, in whole seconds.
fn failures() -> impl Strategy<Value = ModelError> {
    let kinds: Vec<_> =
        ModelErrorKind::ALL.into_iter().filter(|kind| *kind != ModelErrorKind::ReplayMismatch).collect();
    (select(kinds), prop::option::of(0_u64..=120), select(vec!["busy", "no", ""])).prop_map(
        |(kind, wait_s, message)| {
            let retry_after = wait_s.map(Duration::from_secs).filter(|_| kind.is_retryable());
            ModelError { retry_after, ..ModelError::new(kind, message) }
        },
    )
}

fn broken() -> impl Strategy<Value = ModelAnswer> {
    (responses(), 0_usize..6, prop::option::of(failures()))
        .prop_map(|(response, pieces, failure)| ModelAnswer::Broken { response, pieces, failure })
}
