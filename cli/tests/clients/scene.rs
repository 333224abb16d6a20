//! The scenes that clients play: a request says `scene: NAME`, and that decides its answer.

use std::time::Duration;

use serde_json::json;

use crate::answer::Answer;
use crate::dialects::{Dialect, Turn};

/// What models say, and what after the tool was called.
pub(crate) const TEXT: &str = "A naïve umbrella ☂ stays open.";
pub(crate) const TEXT_AFTER: &str = "It rains in Zürich: 11 °C.";

/// How long the service waits before each piece of a slow stream.
const PAUSE: Duration = Duration::from_millis(20);

/// What the service answers to a request. `repeat` counts the times that this one came before.
pub(crate) fn answer(path: &str, body: &str, repeat: usize) -> Answer {
    let Some(dialect) = Dialect::of(path) else { return other(path) };
    let is_stream = body.contains("\"stream\":true") || body.contains("\"stream\": true");
    let answer = match scene(body) {
        "limited" | "limited stream" if repeat == 0 => {
            let refusal = dialect.error("rate_limit_exceeded", "slow down");
            Answer::document(429, &refusal).with_header("retry-after", "1")
        }
        "broken" if repeat == 0 => Answer::document(500, &dialect.error("server_error", "the server stumbled")),
        "overloaded" if repeat == 0 => Answer::document(529, &dialect.error("overloaded_error", "Overloaded")),
        "refused" => Answer::document(400, &dialect.error("invalid_request_error", "no such model")),
        "coded" => Answer::document(200, &dialect.whole(Turn::Text(TEXT))).coded(),
        "failing stream" => {
            let mut events = dialect.events(Turn::Text(TEXT));
            events.truncate(6);
            events.push(dialect.error_event());
            Answer::stream(&events)
        }
        "cut" => Answer::document(200, &dialect.whole(Turn::Text(TEXT))).cut(),
        "cut stream" => Answer::stream(&dialect.events(Turn::Text(TEXT))).cut(),
        "slow stream" | "timed stream" => Answer::stream(&dialect.events(Turn::Text(TEXT))).slow(PAUSE),
        scene if is_stream => Answer::stream(&dialect.events(turn(scene, body))),
        scene => Answer::document(200, &dialect.whole(turn(scene, body))),
    };
    with_accounts(answer, dialect)
}

/// How many requests come at once.
pub(crate) const AT_ONCE: usize = 8;

/// Whether this request is one of several that come at once.
pub(crate) fn is_at_once(request: &[u8]) -> bool {
    String::from_utf8_lossy(request).contains("scene: parallel")
}

/// The scene that a request names.
fn scene(body: &str) -> &str {
    let named = body.split_once("scene: ").map_or("", |(_, rest)| rest);
    &named[..named.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != ' ').unwrap_or(named.len())]
}

fn turn<'a>(scene: &'a str, body: &str) -> Turn<'a> {
    let is_after = ["\"tool\"", "tool_result", "function_call_output"].iter().any(|mark| body.contains(mark));
    match scene {
        _ if !scene.starts_with("tool") => Turn::Text(if scene.starts_with("parallel") { scene } else { TEXT }),
        _ if is_after => Turn::Text(TEXT_AFTER),
        _ => Turn::Call,
    }
}

/// Answers of which no model is part.
fn other(path: &str) -> Answer {
    match path {
        "/v1/models" => {
            let model = json!({"id": "gpt-5.2", "object": "model", "created": 1_741_570_000, "owned_by": "system"});
            Answer::document(200, &json!({"object": "list", "data": [model]}))
        }
        "/v1/files" => {
            let file = json!({"id": "file-abc123", "object": "file", "bytes": 12, "created_at": 1_741_570_000,
                "filename": "notes.jsonl", "purpose": "batch", "status": "processed"});
            Answer::document(200, &file)
        }
        _ => Answer::document(404, &Dialect::Chat.error("not_found", "there is nothing here")),
    }
}

/// With the headers of providers that name the account, and others that are kept or dropped.
fn with_accounts(answer: Answer, dialect: Dialect) -> Answer {
    let answer = answer.with_header("set-cookie", "__cf_bm=Hq8vT3kXw0ZpLr5u; path=/; HttpOnly");
    if dialect == Dialect::Messages {
        let answer = answer.with_header("request-id", "req_011CRX").with_header("anthropic-organization-id", ACCOUNT);
        return answer.with_header("anthropic-ratelimit-requests-remaining", "41");
    }
    answer.with_header("x-request-id", "req_8f2c").with_header("openai-organization", ACCOUNT)
}

/// The account that headers of the service name.
pub(crate) const ACCOUNT: &str = "org-Vk3nQ8rXbT1mLw5yJc9dHs2f";
