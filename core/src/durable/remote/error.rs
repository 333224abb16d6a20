//! How a call to a store across a network fails.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::frame::FrameError;
use super::message::ErrorCode;

/// A frame is whole, and what it says is not what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// It is not JSON within the bounds.
    #[error("a message is not JSON within the bounds")]
    NotJson,
    /// It is JSON, and not a message of its side.
    #[error("a message is not one of JSON-RPC 2.0 from the side that it came from")]
    NotMessage,
    /// It answers no request that is without an answer.
    #[error("a response came for a request that was not made, or for the second time")]
    UnknownId,
    /// It asks with an identifier whose request is under way.
    #[error("a request came with the identifier of one that is in flight")]
    IdInFlight,
    /// It asks for something else than it should first, or for that a second time.
    #[error("the first request of a stream is hello, and no later one is")]
    HelloMisplaced,
    /// It asks for a version of the protocol that is not known.
    #[error("the other side speaks another version of the protocol than 1")]
    UnknownVersion,
}

/// A call to a store across a network failed: the source of a [`StoreError`](crate::durable::StoreError).
///
/// No message holds a value, and no debug form a cause.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// There was no stream to be had. Nothing was sent; the next call connects again.
    #[error("the store could not be reached; see the cause")]
    Connect(#[source] Arc<io::Error>),
    /// The stream failed, or what came on it was damaged. The next call connects again.
    #[error("the stream to the store cannot be used any more; see the cause")]
    Frame(#[from] FrameError),
    /// The server closed the stream. The next call connects again.
    #[error("the server closed the stream before it answered")]
    Closed,
    /// The server breaks the protocol. The next call connects again.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The server did not do it.
    #[error("the server answered with error {}: {code}", code.number())]
    Refused {
        /// Why.
        code: ErrorCode,
    },
    /// The answer is not one to this call.
    #[error("the server's answer is not one to this call")]
    Unintelligible,
    /// No answer came in time.
    #[error("no answer came within {} ms", timeout.as_millis())]
    TimedOut {
        /// The time.
        timeout: Duration,
    },
    /// Nothing at all came on the stream while another call waited for as long as it may. The next call connects again.
    #[error("the stream was given up, since nothing came on it for as long as a call may take")]
    Silent,
    /// The request does not fit into a frame. Nothing was sent.
    #[error("the request has {bytes} bytes, more than the {bytes_max} allowed, and was not sent")]
    TooLong {
        /// How many it has.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// More calls wait for their turn than may. Nothing was sent.
    #[error("{waiting_max} calls wait for their turn already, and no more may; make fewer calls at once")]
    Busy {
        /// The bound.
        waiting_max: usize,
    },
    /// There is more to be read than a client takes.
    #[error("what is to be read has more than the {pages_max} pages allowed")]
    TooManyPages {
        /// The bound.
        pages_max: usize,
    },
}

/// As the message: a cause is not shown.
impl fmt::Debug for RemoteError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RemoteError({self})")
    }
}
