//! How OpenAI refuses.
//!
//! Texts and members of rate limits, and of an account without credits, are those of responses that public repositories
//! have recorded. Types and codes of an overload are those of its guide to error codes, and its text is the one that its
//! older guide had. That a header says how long to wait is what its guide and its client libraries say. No response with
//! a limit on concurrent requests is known: its text follows the others.

use std::time::Duration;

use serde_json::json;

use super::dialect::Refusal;
use super::duration::{go_duration, whole_milliseconds, whole_seconds};
use super::limiter::{Limit, Refused, Standing};

const MORE: &str = "Visit https://platform.openai.com/account/rate-limits to learn more.";

pub(super) fn refusal(refused: &Refused, model: &str) -> Refusal {
    let Standing { limit, capacity, remaining, .. } = refused.standing;
    let (kind, unit) = match limit {
        Limit::Requests => ("requests", "requests per min (RPM)"),
        Limit::RequestsADay => ("requests", "requests per day (RPD)"),
        Limit::InputTokens | Limit::OutputTokens => ("tokens", "tokens per min (TPM)"),
        Limit::AtOnce => ("requests", "concurrent requests"),
        Limit::TokensPaidFor => return without_credits(),
    };
    let (used, requested) = (capacity.saturating_sub(remaining), refused.requested);
    let message = match refused.wait {
        _ if requested > capacity => format!(
            "Request too large for {model} in organization org-windtunnel on {unit}: Limit {capacity}, Requested {requested}. \
             The input or output tokens must be reduced in order to run successfully. {MORE}"
        ),
        None => format!(
            "Rate limit reached for {model} in organization org-windtunnel on {unit}: Limit {capacity}, Used {used}, \
             Requested {requested}. {MORE}"
        ),
        Some(wait) => format!(
            "Rate limit reached for {model} in organization org-windtunnel on {unit}: Limit {capacity}, Used {used}, \
             Requested {requested}. Please try again in {}. {MORE}",
            written(wait)
        ),
    };
    let body = json!({"error": {"message": message, "type": kind, "param": null, "code": "rate_limit_exceeded"}});
    let hints = refused.wait.into_iter().flat_map(|wait| {
        [
            ("retry-after-ms".to_owned(), whole_milliseconds(wait).to_string()),
            ("retry-after".to_owned(), whole_seconds(wait).to_string()),
        ]
    });
    Refusal::new(429, hints.chain(refused.standings.iter().flat_map(headers)), body)
}

/// It must not be tried again.
fn without_credits() -> Refusal {
    let message = "You have no credits remaining. Add credits to continue using the API at \
                   https://platform.openai.com/settings/organization/billing/.";
    let (kind, code) = ("insufficient_quota", "credit_balance_exhausted");
    Refusal::new(429, [], json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}

pub(super) fn overload() -> Refusal {
    let message = "The engine is currently overloaded, please try again later";
    let (kind, code) = ("service_unavailable_error", "server_is_overloaded");
    Refusal::new(503, [], json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}

fn headers(standing: &Standing) -> Vec<(String, String)> {
    let name = match standing.limit {
        Limit::Requests => "requests",
        // There is one limit of tokens, whoever wrote them.
        Limit::InputTokens => "tokens",
        _ => return Vec::new(),
    };
    let numbers = [("limit", standing.capacity), ("remaining", standing.remaining)];
    let numbers = numbers.map(|(what, number)| (format!("x-ratelimit-{what}-{name}"), number.to_string()));
    let reset = standing.reset.map(|reset| (format!("x-ratelimit-reset-{name}"), written(reset)));
    numbers.into_iter().chain(reset).collect()
}

/// In milliseconds that are not shorter.
fn written(duration: Duration) -> String {
    go_duration(Duration::from_millis(whole_milliseconds(duration)))
}
