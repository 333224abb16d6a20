//! How talking to a service fails.

use std::io;

/// A call of a service, or a connection to one, came to no good end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// There is no connection.
    #[error("the service cannot be reached; see the cause")]
    Connect(#[source] io::Error),
    /// The connection broke.
    #[error("the connection broke; see the cause")]
    Stream(#[from] io::Error),
    /// The connection ended where more was to come.
    #[error("the connection ended before the answer did")]
    Ended,
    /// A message is longer than it may be.
    #[error("a message is longer than the {bytes_max} bytes allowed")]
    TooLong {
        /// The bound.
        bytes_max: usize,
    },
    /// A message is not one of this protocol.
    #[error("a message is not one of this protocol: {problem}")]
    Malformed {
        /// What is wrong with it, without its values.
        problem: String,
    },
    /// The other side refused the message.
    #[error("the service refused the message: {message} ({code})")]
    Refused {
        /// The code, as JSON-RPC has them.
        code: i64,
        /// What it said.
        message: String,
    },
}

impl ServiceError {
    pub(super) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed { problem: problem.into() }
    }

    /// Whether the same call may come to something later.
    pub(super) fn may_pass(&self) -> bool {
        !matches!(self, Self::TooLong { .. } | Self::Refused { .. })
    }
}
