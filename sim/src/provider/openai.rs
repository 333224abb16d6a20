//! How OpenAI refuses.

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;

use super::dialect::Refusal;
use super::limiter::{Limit, Refused, Standing};
use super::timestamp::whole_seconds;

const MORE: &str = "Visit https://platform.openai.com/account/rate-limits to learn more.";

pub(super) fn refusal(refused: &Refused, model: &str) -> Refusal {
    let Standing { limit, capacity, remaining, .. } = refused.standing;
    let (kind, unit) = match limit {
        Limit::Requests => ("requests", "requests per min (RPM)"),
        Limit::RequestsADay => ("requests", "requests per day (RPD)"),
        Limit::InputTokens | Limit::OutputTokens => ("tokens", "tokens per min (TPM)"),
        Limit::AtOnce => ("requests", "concurrent requests"),
        Limit::TokensPaidFor => return without_quota(),
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
            go_duration(wait)
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
fn without_quota() -> Refusal {
    let message = "You exceeded your current quota, please check your plan and billing details. For more information on this \
                   error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.";
    let kind = "insufficient_quota";
    Refusal::new(429, [], json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}))
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
    let reset = standing.reset.map(|reset| (format!("x-ratelimit-reset-{name}"), go_duration(reset)));
    numbers.into_iter().chain(reset).collect()
}

fn whole_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// As Go writes it, in milliseconds that are not shorter: `20ms`, `3.89s`, `6m0s`, `1h0m0s`.
pub(super) fn go_duration(duration: Duration) -> String {
    let total_ms = whole_milliseconds(duration);
    if (1..1000).contains(&total_ms) {
        return format!("{total_ms}ms");
    }
    let (minutes, ms) = (total_ms / 60_000, total_ms % 60_000);
    let mut text = String::new();
    let _infallible = match (minutes / 60, minutes % 60) {
        (0, 0) => Ok(()),
        (0, minutes) => write!(text, "{minutes}m"),
        (hours, minutes) => write!(text, "{hours}h{minutes}m"),
    };
    let fraction = format!("{:03}", ms % 1000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let _infallible = write!(text, "{}{point}{fraction}s", ms / 1000);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_does() {
        for (micros, expected) in [
            (0, "0s"),
            (1, "1ms"),
            (20_000, "20ms"),
            (999_001, "1s"),
            (3_890_000, "3.89s"),
            (90_000_000, "1m30s"),
            (360_000_000, "6m0s"),
            (3_600_000_000, "1h0m0s"),
            (3_725_041_000, "1h2m5.041s"),
        ] {
            assert_eq!(go_duration(Duration::from_micros(micros)), expected);
        }
    }
}
