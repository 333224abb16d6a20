//! JSON-RPC 2.0: requests with an identifier, and their responses.

use std::fmt;

use serde_json::{Map, Value};

use super::error::ProtocolError;
use super::frame::{FRAME_BYTES_MAX, FrameError, frame};
use super::request::Request;
use crate::durable::limits::DEPTH_MAX;
use crate::json::{Bounds, parse};

/// The deepest value that is stored, in a record of an activation of a page of a response.
const BOUNDS: Bounds = Bounds { bytes_max: FRAME_BYTES_MAX, depth_max: DEPTH_MAX + 16 };

/// Why a server does not do what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// -32700: the text is not JSON within the bounds.
    NotJson,
    /// -32600: the value is no request, or its identifier is in flight.
    NotRequest,
    /// -32601: the method is unknown.
    UnknownMethod,
    /// -32602: the parameters are not those of the method, or could not be stored.
    InvalidParameters,
    /// -32603: the answer cannot be written, or is longer than a frame.
    Unanswerable,
    /// -32000: the store failed.
    StoreFailed,
    /// -32001: the version of the protocol is unknown.
    UnknownVersion,
    /// -32002: `hello` is the first request of a stream, and no later one is.
    HelloMisplaced,
    /// Another number.
    Other(i64),
}

impl ErrorCode {
    const KNOWN: [Self; 8] = [
        Self::NotJson,
        Self::NotRequest,
        Self::UnknownMethod,
        Self::InvalidParameters,
        Self::Unanswerable,
        Self::StoreFailed,
        Self::UnknownVersion,
        Self::HelloMisplaced,
    ];

    /// The number on the wire.
    pub fn number(self) -> i64 {
        match self {
            Self::NotJson => -32_700,
            Self::NotRequest => -32_600,
            Self::UnknownMethod => -32_601,
            Self::InvalidParameters => -32_602,
            Self::Unanswerable => -32_603,
            Self::StoreFailed => -32_000,
            Self::UnknownVersion => -32_001,
            Self::HelloMisplaced => -32_002,
            Self::Other(number) => number,
        }
    }

    fn of_number(number: i64) -> Self {
        Self::KNOWN.into_iter().find(|code| code.number() == number).unwrap_or(Self::Other(number))
    }
}

/// What is wrong, without values.
impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotJson => "the text is not JSON within the bounds",
            Self::NotRequest => "the value is no request, or its identifier is in flight",
            Self::UnknownMethod => "the method is unknown",
            Self::InvalidParameters => "the parameters are not those of the method, or could not be stored",
            Self::Unanswerable => "the answer cannot be written, or is longer than a frame",
            Self::StoreFailed => "the journal store failed; the cause is in the server's log",
            Self::UnknownVersion => "the version of the protocol is unknown; this is version 1",
            Self::HelloMisplaced => "the first request of a stream is hello, and no later one is",
            Self::Other(number) => return write!(formatter, "error {number}"),
        })
    }
}

/// The frame of a request.
pub(super) fn request_frame(id: u64, request: &Request) -> Result<Vec<u8>, FrameError> {
    // Nothing in a request fails to be written: its maps have strings for keys.
    let text = serde_json::to_string(request).unwrap_or_default();
    let members = text.strip_prefix('{').unwrap_or_default();
    frame(&format!(r#"{{"jsonrpc":"2.0","id":{id},{members}"#))
}

/// The frame of a response; the result is JSON already.
pub(super) fn response_frame(id: Option<u64>, outcome: Result<&str, ErrorCode>) -> Result<Vec<u8>, FrameError> {
    let id = Value::from(id);
    frame(&match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(code) => {
            let message = Value::from(code.to_string());
            let number = code.number();
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{number},"message":{message}}}}}"#)
        }
    })
}

/// A request as it was read: its identifier, and what is asked or why that cannot be done.
pub(super) struct Incoming {
    pub(super) id: u64,
    pub(super) request: Result<Request, ErrorCode>,
}

/// Reads a request.
pub(super) fn read_request(text: &str) -> Result<Incoming, ProtocolError> {
    let mut members = members(text)?;
    let id = members.shift_remove("id").as_ref().and_then(Value::as_u64).ok_or(ProtocolError::NotMessage)?;
    let method = members.get("method").and_then(Value::as_str).ok_or(ProtocolError::NotMessage)?;
    if !Request::METHODS.contains(&method) {
        return Ok(Incoming { id, request: Err(ErrorCode::UnknownMethod) });
    }
    // What serde says may hold values.
    let request = serde_json::from_value(Value::Object(members)).map_err(|_| ErrorCode::InvalidParameters);
    Ok(Incoming { id, request })
}

/// A response as it was read.
pub(super) struct Response {
    /// Nothing, if the server could not tell which request it answers.
    pub(super) id: Option<u64>,
    pub(super) outcome: Result<Value, ErrorCode>,
}

/// Reads a response.
pub(super) fn read_response(text: &str) -> Result<Response, ProtocolError> {
    let mut members = members(text)?;
    let id = match members.shift_remove("id") {
        Some(Value::Null) => None,
        Some(id) => Some(id.as_u64().ok_or(ProtocolError::NotMessage)?),
        None => return Err(ProtocolError::NotMessage),
    };
    let outcome = match (members.shift_remove("result"), members.shift_remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => {
            // The message is for people who look at the stream: what it says follows from the number.
            Err(ErrorCode::of_number(error["code"].as_i64().ok_or(ProtocolError::NotMessage)?))
        }
        _ => return Err(ProtocolError::NotMessage),
    };
    if !members.is_empty() {
        return Err(ProtocolError::NotMessage);
    }
    Ok(Response { id, outcome })
}

/// The members of a message, but for the version of JSON-RPC.
fn members(text: &str) -> Result<Map<String, Value>, ProtocolError> {
    // What the parser says may hold values.
    let Value::Object(mut members) = parse(text, BOUNDS).map_err(|_| ProtocolError::NotJson)? else {
        return Err(ProtocolError::NotMessage);
    };
    if members.shift_remove("jsonrpc") != Some(Value::from("2.0")) {
        return Err(ProtocolError::NotMessage);
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_known_by_its_name() {
        for method in Request::METHODS {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":7}}"#);
            assert_eq!(read_request(&text).unwrap().request.err(), Some(ErrorCode::InvalidParameters), "{method}");
            let error = serde_json::from_str::<Request>(&format!(r#"{{"method":"{method}"}}"#)).err().unwrap();
            assert!(error.to_string().contains("missing field `params`"), "{method}: {error}");
        }
    }

    #[test]
    fn every_code_is_read_back() {
        for code in ErrorCode::KNOWN.into_iter().chain([ErrorCode::Other(7)]) {
            let frame = response_frame(Some(3), Err(code)).unwrap();
            let response = read_response(std::str::from_utf8(&frame[8..]).unwrap()).unwrap();
            assert_eq!((response.id, response.outcome), (Some(3), Err(code)));
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(80), "]".repeat(80));
        for text in ["", "{", "nul", r#"{"id":1,"id":1}"#, r#"{"id":1e999}"#, &deep] {
            assert_eq!(read_request(text).err(), Some(ProtocolError::NotJson), "{text}");
            assert_eq!(read_response(text).err(), Some(ProtocolError::NotJson), "{text}");
        }
        let requests = [
            r#"[{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1}}]"#,
            r#"{"id":1,"method":"hello","params":{"version":1}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"hello","params":{"version":1}}"#,
            r#"{"jsonrpc":"2.0","method":"hello","params":{"version":1}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"hello","params":{"version":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":1,"params":{"version":1}}"#,
        ];
        for text in requests {
            assert_eq!(read_request(text).err(), Some(ProtocolError::NotMessage), "{text}");
        }
        let responses = [
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","result":1}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"more":1}"#,
        ];
        for text in responses {
            assert_eq!(read_response(text).err(), Some(ProtocolError::NotMessage), "{text}");
        }
    }

    #[test]
    fn parameters_that_are_not_those_of_the_method_are_refused() {
        let requests = [
            r#"{"jsonrpc":"2.0","id":1,"method":"read","params":{"workflow_id":"w"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"read","params":{"workflow_id":"w","from":-1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"read","params":{"workflow_id":"w","from":0,"more":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"read","params":{"workflow_id":"w","from":0},"more":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"start","params":{"workflow_id":"w","workflow":"t","checkpoint":{"entry":"","state":1}}}"#,
        ];
        for text in requests {
            assert_eq!(read_request(text).unwrap().request.err(), Some(ErrorCode::InvalidParameters), "{text}");
        }
        let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"drop","params":{}}"#;
        assert_eq!(read_request(unknown).unwrap().request.err(), Some(ErrorCode::UnknownMethod));
    }
}
