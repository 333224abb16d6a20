//! How a model fails.

use std::time::Duration;

/// Why a model gave no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Too many requests (HTTP 429).
    RateLimited,
    /// The account has nothing left to pay with, and waiting does not help (HTTP 402, and some 429).
    QuotaExhausted,
    /// The provider has no capacity (HTTP 529, 503).
    Overloaded,
    /// The provider failed (HTTP 5xx).
    Server,
    /// The request is wrong (HTTP 4xx).
    InvalidRequest,
    /// No answer in time.
    Timeout,
    /// The connection failed, or the stream ended before the answer did.
    Connection,
    /// The answer cannot be understood.
    InvalidResponse,
    /// A replay met a request that was not recorded. Never retried (R1).
    ReplayMismatch,
}

impl ModelErrorKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::RateLimited,
        Self::QuotaExhausted,
        Self::Overloaded,
        Self::Server,
        Self::InvalidRequest,
        Self::Timeout,
        Self::Connection,
        Self::InvalidResponse,
        Self::ReplayMismatch,
    ];

    /// The kebab-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate-limited",
            Self::QuotaExhausted => "quota-exhausted",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::InvalidRequest => "invalid-request",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::InvalidResponse => "invalid-response",
            Self::ReplayMismatch => "replay-mismatch",
        }
    }

    /// Whether another attempt may succeed.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Overloaded | Self::Server | Self::Timeout | Self::Connection => true,
            Self::QuotaExhausted | Self::InvalidRequest | Self::InvalidResponse | Self::ReplayMismatch => false,
        }
    }
}

/// A model gave no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model failed ({}): {message}", kind.as_str())]
pub struct ModelError {
    /// Why.
    pub kind: ModelErrorKind,
    /// What the provider said; it must not hold secrets.
    pub message: String,
    /// How long the provider asks to wait before the next attempt.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error without advice on when to retry.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None }
    }
}
