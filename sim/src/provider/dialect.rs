//! How providers refuse.

use std::time::SystemTime;

use serde_json::Value;
use windtunnel_core::model::ModelError;

use super::limiter::Refused;
use super::{anthropic, gemini, openai};

/// Whose words a refusal is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// 429 with `retry-after`, `x-ratelimit-*` such as `6m0s` and "Please try again in 20s."; `insufficient_quota`; 503.
    /// Requests that are refused count as requests.
    OpenAi,
    /// 429 `rate_limit_error` with `retry-after` and `anthropic-ratelimit-*`, in times of RFC 3339; 529 `overloaded_error`.
    Anthropic,
    /// 429 `RESOURCE_EXHAUSTED` with `google.rpc.RetryInfo` and `google.rpc.QuotaFailure`; 402; 503 `UNAVAILABLE`.
    Gemini,
}

/// A response that is no answer, as a server would send it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// Names, in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

impl Dialect {
    /// A refused request of this model.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use windtunnel_sim::provider::{Cost, Decision, Dialect, Limits, Rate, RateLimiter};
    ///
    /// let now = SystemTime::UNIX_EPOCH;
    /// let requests = Some(Rate::per_minute(0));
    /// let mut limiter = RateLimiter::new(Limits { requests, ..Limits::default() });
    /// let Decision::Refused(refused) = limiter.decide(Cost::default(), Duration::ZERO) else { panic!("nothing is allowed") };
    /// assert_eq!(Dialect::Gemini.refusal(&refused, "gemini-2.5-flash", now).status, 429);
    /// ```
    pub fn refusal(self, refused: &Refused, model: &str, now_wall: SystemTime) -> Refusal {
        match self {
            Self::OpenAi => openai::refusal(refused, model),
            Self::Anthropic => anthropic::refusal(refused, model, now_wall),
            Self::Gemini => gemini::refusal(refused, model),
        }
    }

    /// Whether requests that are refused count as requests too. OpenAI's guide to rate limits says that unsuccessful ones do;
    /// the others' guides say nothing of it.
    pub fn counts_refused(self) -> bool {
        self == Self::OpenAi
    }

    /// There is no capacity, whoever asks. No provider says for how long.
    pub fn overload(self) -> Refusal {
        match self {
            Self::OpenAi => openai::overload(),
            Self::Anthropic => anthropic::overload(),
            Self::Gemini => gemini::overload(),
        }
    }
}

impl Refusal {
    pub(super) fn new(status: u16, headers: impl IntoIterator<Item = (String, String)>, body: Value) -> Self {
        let content_type = ("content-type".to_owned(), "application/json".to_owned());
        Self { status, headers: std::iter::once(content_type).chain(headers).collect(), body }
    }

    /// What a transport makes of it ([`ModelError::from_response`]).
    pub fn to_error(&self, now_wall: SystemTime) -> ModelError {
        ModelError::from_response(self.status, &self.headers, &self.body.to_string(), now_wall)
    }
}
