//! Where a response says how long to wait.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::date::{http_date, rfc3339};
use super::delay::{delay, leading_delay, milliseconds};
use crate::json::{Bounds, parse};

/// The longest wait that a hint can ask for; a longer one is cut to it.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How much of a body is looked at.
const BODY_BOUNDS: Bounds = Bounds { bytes_max: 64 * 1024, depth_max: 32 };

/// What stands before a duration in a message.
const PHRASES: [&str; 3] = ["try again in ", "retry in ", "retry after "];

/// How long a provider asks to wait before the next attempt, at most [`RETRY_AFTER_MAX`]; none, if it does not say so or in
/// no way that is known. A time that has passed is a wait of nothing.
///
/// The first of these that has a hint decides: the headers `retry-after-ms` and `retry-after` (seconds, a date, or `1m30s`);
/// the body, by the longer of its `google.rpc.RetryInfo` and its message ("Please try again in 20s."); the latest of the
/// reset headers `x-ratelimit-reset-…` and `anthropic-ratelimit-…-reset` of those limits that have nothing left. Only
/// responses that may pass have hints: 408, 425, 429 and 5xx.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use windtunnel_core::model::retry_after;
///
/// let headers = [("Retry-After", "Tue, 26 Mar 2024 20:00:09 GMT")];
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_711_483_200);
/// assert_eq!(retry_after(429, &headers, "", now), Some(Duration::from_secs(9)));
/// ```
pub fn retry_after<N: AsRef<str>, V: AsRef<str>>(
    status: u16,
    headers: &[(N, V)],
    body: &str,
    now_wall: SystemTime,
) -> Option<Duration> {
    if !matches!(status, 408 | 425 | 429 | 500..=599) {
        return None;
    }
    let header = |wanted: &str| {
        headers
            .iter()
            .find(|(name, _)| name.as_ref().eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.as_ref().trim())
    };
    header("retry-after-ms")
        .and_then(milliseconds)
        .or_else(|| header("retry-after").and_then(|value| delay_or_instant(value, now_wall)))
        .or_else(|| in_body(body))
        .or_else(|| {
            let names = headers.iter().map(|(name, _)| name.as_ref().to_ascii_lowercase());
            let is_used_up = |name: &String| remaining_beside(name).is_some_and(|name| header(&name) == Some("0"));
            names.filter(is_used_up).filter_map(|name| delay_or_instant(header(&name)?, now_wall)).max()
        })
        .map(|hint| hint.min(RETRY_AFTER_MAX))
}

fn delay_or_instant(text: &str, now_wall: SystemTime) -> Option<Duration> {
    delay(text).or_else(|| {
        let instant = http_date(text).or_else(|| rfc3339(text))?;
        Some(instant.duration_since(now_wall).unwrap_or_default())
    })
}

/// The header that says what is left of the limit whose reset this one tells.
fn remaining_beside(name: &str) -> Option<String> {
    if let Some(limit) = name.strip_prefix("x-ratelimit-reset-") {
        return Some(format!("x-ratelimit-remaining-{limit}"));
    }
    let limit = name.strip_prefix("anthropic-ratelimit-")?.strip_suffix("-reset")?;
    Some(format!("anthropic-ratelimit-{limit}-remaining"))
}

fn in_body(body: &str) -> Option<Duration> {
    match error_of(body) {
        Some(error) => retry_info(&error).max(error["message"].as_str().and_then(in_text)),
        None => in_text(body),
    }
}

/// The error that a body tells of: in a stream that has not begun, Gemini sends a list of one.
pub(in crate::model) fn error_of(body: &str) -> Option<Value> {
    let mut body = parse(body, BODY_BOUNDS).ok()?;
    if let Some(first) = body.get_mut(0) {
        body = first.take();
    }
    body.get_mut("error").map(Value::take).filter(Value::is_object)
}

fn retry_info(error: &Value) -> Option<Duration> {
    let is_retry_info =
        |detail: &&Value| detail["@type"].as_str().is_some_and(|name| name.ends_with("google.rpc.RetryInfo"));
    error["details"].as_array()?.iter().find(is_retry_info)?["retryDelay"].as_str().and_then(delay)
}

fn in_text(text: &str) -> Option<Duration> {
    // Within the bound, also where it falls inside a character.
    let text = &text[..text.floor_char_boundary(BODY_BOUNDS.bytes_max)];
    let lowercase = text.to_ascii_lowercase();
    let after = |phrase: &&str| lowercase.find(phrase).and_then(|at| leading_delay(&lowercase[at + phrase.len()..]));
    PHRASES.iter().find_map(after).map(|(delay, _)| delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    #[track_caller]
    fn check(headers: &[(&str, &str)], body: &str, expected_ms: impl Into<Option<u64>>) {
        assert_eq!(retry_after(429, headers, body, NOW), expected_ms.into().map(Duration::from_millis));
    }

    #[test]
    fn headers_win_over_the_body_and_the_body_over_resets() {
        let body = r#"{"error": {"message": "Please try again in 1.5s. Visit us."}}"#;
        let resets = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")];
        check(&[("retry-after", "20"), ("Retry-After-Ms", "19500")], body, 19_500);
        check(&[("RETRY-AFTER", "20")], body, 20_000);
        check(&[("retry-after", "soon")], body, 1_500);
        check(&resets, body, 1_500);
        check(&resets, "", 360_000);
        check(&[], "", None);
    }

    #[test]
    fn the_latest_reset_of_what_is_used_up_counts() {
        let resets = [
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "1970-01-01T00:00:05Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "1970-01-01T00:00:16Z"),
            ("anthropic-ratelimit-output-tokens-remaining", "80000"),
            ("anthropic-ratelimit-output-tokens-reset", "1970-01-01T00:01:00Z"),
        ];
        check(&resets, "", 16_000);
    }

    #[test]
    fn the_longer_of_what_a_body_says_counts() {
        let body = |delay: &str, text: &str| {
            let info = format!(r#"{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "{delay}"}}"#);
            format!(r#"[{{"error": {{"code": 429, "message": "{text}", "details": [{{}}, {info}]}}}}]"#)
        };
        check(&[], &body("36s", "Please retry in 36.429s."), 36_429);
        check(&[], &body("36s", "Quota exceeded"), 36_000);
        check(&[], &body("-1s", "Quota exceeded"), None);
        check(&[], "Please retry after 20 seconds.", 20_000);
    }

    #[test]
    fn a_hint_is_for_what_may_pass_and_for_a_day_at_most() {
        let headers = [("retry-after", "999999999")];
        assert_eq!(retry_after(503, &headers, "", NOW), Some(RETRY_AFTER_MAX));
        assert_eq!(retry_after(400, &headers, "", NOW), None);
        check(&[("retry-after", "Wed, 01 Jan 1969 00:00:00 GMT")], "", 0);
        check(&[("retry-after", "-3")], "", None);
    }
}
