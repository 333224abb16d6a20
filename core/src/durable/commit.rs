//! What a store says to a commit.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What became of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[must_use = "only an acknowledged commit is one"]
pub enum Commit {
    /// It is stored and will be read back.
    Acknowledged,
    /// It is not stored.
    Refused(Refusal),
    /// It may or may not be stored: the acknowledgment did not come.
    Unknown,
}

/// Why a store refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// Another attempt has claimed the activation since.
    #[error("another attempt has claimed the activation")]
    Superseded,
    /// The activation has its decision.
    #[error("the activation has its decision")]
    Closed,
    /// There is no such activation.
    #[error("there is no such activation")]
    NoActivation,
    /// Something is over a bound (D4).
    #[error("it is over a bound")]
    OverBound,
    /// There is another record with that key.
    #[error("there is another record with its key")]
    Conflict,
    /// The workflow has waited for an event with that key before.
    #[error("the workflow has waited for an event with its key before")]
    EventKeyUsed,
    /// A reason of the store's own.
    #[error("the store rejects it")]
    Rejected,
}

impl Commit {
    /// `acknowledged`, `refused` or `unknown`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::Refused(_) => "refused",
            Self::Unknown => "unknown",
        }
    }
}

impl From<Result<(), Refusal>> for Commit {
    fn from(result: Result<(), Refusal>) -> Self {
        match result {
            Ok(()) => Self::Acknowledged,
            Err(refusal) => Self::Refused(refusal),
        }
    }
}

/// As the end of a sentence that begins with "the commit was".
impl fmt::Display for Commit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Acknowledged => formatter.write_str("acknowledged"),
            Self::Refused(refusal) => write!(formatter, "refused ({refusal})"),
            Self::Unknown => formatter.write_str("not acknowledged"),
        }
    }
}
