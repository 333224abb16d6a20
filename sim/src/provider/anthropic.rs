//! How Anthropic refuses.
//!
//! Texts and members are those of responses that public repositories have recorded; headers, and that a spending limit has
//! no `retry-after`, are those of its guide to rate limits. No response with a limit on requests a day is known: its text
//! follows the others.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::dialect::Refusal;
use super::duration::whole_seconds;
use super::limiter::{Limit, Refused, Standing};
use super::timestamp::rfc3339;

pub(super) fn refusal(refused: &Refused, model: &str, now_wall: SystemTime) -> Refusal {
    let capacity = refused.standing.capacity;
    let unit = match refused.standing.limit {
        Limit::Requests => "requests per minute",
        Limit::InputTokens => "input tokens per minute",
        Limit::OutputTokens => "output tokens per minute",
        Limit::RequestsADay => "requests per day",
        Limit::AtOnce => return too_many_connections(refused, now_wall),
        Limit::TokensPaidFor => return without_quota(),
    };
    let message = format!(
        "This request would exceed your organization's rate limit of {} {unit} (org: windtunnel, model: {model}). For \
         details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. \
         Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at \
         https://claude.com/contact-sales to discuss your options for a rate limit increase.",
        grouped(capacity)
    );
    limited(refused, &message, now_wall)
}

fn too_many_connections(refused: &Refused, now_wall: SystemTime) -> Refusal {
    let message = "Number of concurrent connections has exceeded your rate limit. Please try again later or contact sales at \
                   https://www.anthropic.com/contact-sales to discuss your options for a rate limit increase.";
    limited(refused, message, now_wall)
}

fn limited(refused: &Refused, message: &str, now_wall: SystemTime) -> Refusal {
    let hint = refused.wait.map(|wait| ("retry-after".to_owned(), whole_seconds(wait).to_string()));
    let standings = refused.standings.iter().flat_map(|standing| headers(standing, now_wall));
    let should_retry = ("x-should-retry".to_owned(), "true".to_owned());
    let body = error("rate_limit_error", message);
    Refusal::new(429, hint.into_iter().chain([should_retry]).chain(standings), body)
}

/// The account has reached what its tier may spend in a month. There is no `retry-after`, and the text says when the next
/// month begins, which is not told here: the limit of this world never comes back.
fn without_quota() -> Refusal {
    let message = "You have reached your API usage limits: your organization has crossed its monthly API usage threshold, \
                   set based on your organization's API tier.";
    let mut body = error("rate_limit_error", message);
    body["error"]["details"] = json!({"error_code": "enforced_spend_limit_reached"});
    Refusal::new(429, [], body)
}

pub(super) fn overload() -> Refusal {
    let should_retry = ("x-should-retry".to_owned(), "true".to_owned());
    Refusal::new(529, [should_retry], error("overloaded_error", "Overloaded"))
}

fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_windtunnel"})
}

fn headers(standing: &Standing, now_wall: SystemTime) -> Vec<(String, String)> {
    let name = match standing.limit {
        Limit::Requests => "requests",
        Limit::InputTokens => "input-tokens",
        Limit::OutputTokens => "output-tokens",
        _ => return Vec::new(),
    };
    let numbers = [("limit", standing.capacity), ("remaining", standing.remaining)];
    let numbers = numbers.map(|(what, number)| (format!("anthropic-ratelimit-{name}-{what}"), number.to_string()));
    let reset = standing.reset.and_then(|reset| now_wall.checked_add(reset));
    let reset = reset.map(|reset| (format!("anthropic-ratelimit-{name}-reset"), rfc3339(reset)));
    numbers.into_iter().chain(reset).collect()
}

/// With a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
