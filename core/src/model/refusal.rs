//! What a provider's response that is no answer means.

use std::time::SystemTime;

use serde_json::Value;

use super::retry_after::{error_of, retry_after};
use super::{ModelError, ModelErrorKind};

/// How much of a provider's message is kept, in characters.
const MESSAGE_CHARS_MAX: usize = 1000;

/// How providers call an account that has nothing left to pay with.
const QUOTA_CODES: [&str; 3] = ["insufficient_quota", "credit_balance_exhausted", "enforced_spend_limit_reached"];

impl ModelError {
    /// The error that an HTTP response tells of, with the wait that it asks for ([`retry_after`]). Understands the bodies of
    /// OpenAI, Anthropic and Gemini; any other is told by its status.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use windtunnel_core::model::{ModelError, ModelErrorKind};
    ///
    /// let body = r#"{"error": {"message": "Rate limit reached. Please try again in 20s.", "code": "rate_limit_exceeded"}}"#;
    /// let error = ModelError::from_response(429, &[("content-type", "application/json")], body, SystemTime::UNIX_EPOCH);
    /// assert_eq!((error.kind, error.retry_after), (ModelErrorKind::RateLimited, Some(Duration::from_secs(20))));
    /// ```
    pub fn from_response<N: AsRef<str>, V: AsRef<str>>(
        status: u16,
        headers: &[(N, V)],
        body: &str,
        now_wall: SystemTime,
    ) -> Self {
        let error = error_of(body).unwrap_or_default();
        let kind = match status {
            402 => ModelErrorKind::QuotaExhausted,
            429 if has_no_quota(&error) => ModelErrorKind::QuotaExhausted,
            429 => ModelErrorKind::RateLimited,
            503 | 529 => ModelErrorKind::Overloaded,
            408 | 504 => ModelErrorKind::Timeout,
            500..=599 => ModelErrorKind::Server,
            _ => ModelErrorKind::InvalidRequest,
        };
        let message = match error["message"].as_str() {
            Some(message) => message.chars().take(MESSAGE_CHARS_MAX).collect(),
            None => format!("HTTP {status}"),
        };
        let retry_after = kind.is_retryable().then(|| retry_after(status, headers, body, now_wall)).flatten();
        Self { kind, message, retry_after }
    }
}

fn has_no_quota(error: &Value) -> bool {
    let codes = [&error["code"], &error["type"], &error["details"]["error_code"]];
    codes.into_iter().filter_map(Value::as_str).any(|code| QUOTA_CODES.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_what_failed_and_whether_it_may_pass() {
        let kind =
            |status| ModelError::from_response(status, &[("retry-after", "1")], "no JSON", SystemTime::UNIX_EPOCH);
        for (status, expected, retries) in [
            (400, "invalid-request", false),
            (402, "quota-exhausted", false),
            (408, "timeout", true),
            (429, "rate-limited", true),
            (500, "server", true),
            (503, "overloaded", true),
            (529, "overloaded", true),
        ] {
            let error = kind(status);
            assert_eq!((error.kind.as_str(), error.retry_after.is_some()), (expected, retries), "{status}");
            assert_eq!(error.message, format!("HTTP {status}"));
        }
    }

    #[test]
    fn an_account_without_quota_is_not_asked_again() {
        for body in [
            r#"{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": null}}"#,
            r#"{"error": {"message": "Please try again in 20s", "details": {"error_code": "enforced_spend_limit_reached"}}}"#,
        ] {
            let error = ModelError::from_response(429, &[("retry-after", "1")], body, SystemTime::UNIX_EPOCH);
            assert_eq!((error.kind, error.retry_after), (ModelErrorKind::QuotaExhausted, None));
        }
    }
}
