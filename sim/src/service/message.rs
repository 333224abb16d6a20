//! Messages: JSON-RPC 2.0.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use windtunnel_core::json::{Bounds, parse};

use super::error::ServiceError;
use super::line::LINE_BYTES_MAX;

pub(super) const CALL_TOOL: &str = "tool.call";
pub(super) const COMPLETE: &str = "model.complete";
pub(super) const STREAM: &str = "model.stream";
/// A notification: one piece of a streamed response.
pub(super) const DELTA: &str = "model.delta";

/// What was asked for failed.
pub(super) const FAILED: i64 = -32_000;
pub(super) const NOT_JSON: i64 = -32_700;
pub(super) const NOT_A_REQUEST: i64 = -32_600;
pub(super) const UNKNOWN_METHOD: i64 = -32_601;
pub(super) const WRONG_PARAMETERS: i64 = -32_602;
/// There is an answer, and it cannot be written.
pub(super) const UNANSWERABLE: i64 = -32_603;

/// A connection has one call at a time.
pub(super) const ID: u64 = 1;

/// The bounds of a value that a message carries.
pub(super) const VALUE_BOUNDS: Bounds = Bounds { bytes_max: LINE_BYTES_MAX, ..Bounds::DEFAULT };

/// The deepest value is in a call of a tool of a message of a request.
const BOUNDS: Bounds = Bounds { depth_max: VALUE_BOUNDS.depth_max + 16, ..VALUE_BOUNDS };

/// A message as it is written.
#[derive(Serialize)]
pub(super) struct Outgoing<'a, T> {
    jsonrpc: &'static str,
    /// A refusal of what cannot be read has an identifier too: `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Refusal>,
}

impl<'a, T> Outgoing<'a, T> {
    const EMPTY: Self = Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

    pub(super) fn request(method: &'a str, params: T) -> Self {
        Self { id: Some(Some(ID)), ..Self::notification(method, params) }
    }

    pub(super) fn notification(method: &'a str, params: T) -> Self {
        Self { method: Some(method), params: Some(params), ..Self::EMPTY }
    }

    pub(super) fn result(id: u64, result: T) -> Self {
        Self { id: Some(Some(id)), result: Some(result), ..Self::EMPTY }
    }
}

impl<'a> Outgoing<'a, ()> {
    pub(super) fn error(id: Option<u64>, error: &'a Refusal) -> Self {
        Self { id: Some(id), error: Some(error), ..Self::EMPTY }
    }
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) data: Value,
}

impl Refusal {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }
}

impl From<Refusal> for ServiceError {
    fn from(Refusal { code, message, .. }: Refusal) -> Self {
        Self::Refused { code, message }
    }
}

/// A message as it is read.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request { id: u64, method: String, params: Value },
    Notification { method: String, params: Value },
    Result(Value),
    Error(Refusal),
}

impl Incoming {
    /// Reads a line. What is refused says how to answer it.
    pub(super) fn read(line: &str) -> Result<Self, Refusal> {
        let value = parse(line, BOUNDS).map_err(|error| {
            let place = format!("it is no JSON at line {}, column {}", error.line, error.column);
            Refusal::new(NOT_JSON, place)
        })?;
        Self::of(value).ok_or_else(|| Refusal::new(NOT_A_REQUEST, "it is no message of JSON-RPC 2.0"))
    }

    /// Takes a message apart, without copying what it carries.
    fn of(value: Value) -> Option<Self> {
        let Value::Object(mut members) = value else { return None };
        let is_of_protocol = members.remove("jsonrpc")? == "2.0";
        let id = match members.remove("id") {
            None | Some(Value::Null) => None,
            Some(id) => Some(id.as_u64()?),
        };
        let [method, params, result, error] = ["method", "params", "result", "error"].map(|name| members.remove(name));
        if !is_of_protocol || !members.is_empty() {
            return None;
        }
        match (id, method, params, result, error) {
            (Some(id), Some(Value::String(method)), Some(params), None, None) => {
                Some(Self::Request { id, method, params })
            }
            (None, Some(Value::String(method)), Some(params), None, None) => {
                Some(Self::Notification { method, params })
            }
            (Some(ID), None, None, Some(result), None) => Some(Self::Result(result)),
            (Some(ID) | None, None, None, None, Some(error)) => serde_json::from_value(error).ok().map(Self::Error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text<T: Serialize>(message: &Outgoing<'_, T>) -> String {
        serde_json::to_string(message).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let request = text(&Outgoing::request(CALL_TOOL, json!({"name": "pay"})));
        assert_eq!(request, r#"{"jsonrpc":"2.0","id":1,"method":"tool.call","params":{"name":"pay"}}"#);
        let params = json!({"name": "pay"});
        let expected = Incoming::Request { id: 1, method: CALL_TOOL.to_owned(), params };
        assert_eq!(Incoming::read(&request), Ok(expected));
        let piece = Incoming::read(&text(&Outgoing::notification(DELTA, json!({"text": "a"}))));
        assert_eq!(piece, Ok(Incoming::Notification { method: DELTA.to_owned(), params: json!({"text": "a"}) }));
        let result = Incoming::read(&text(&Outgoing::result(ID, json!({"value": 1.0}))));
        assert_eq!(result, Ok(Incoming::Result(json!({"value": 1.0}))));
        let refusal = Refusal { data: json!({"retryable": true}), ..Refusal::new(FAILED, "busy") };
        assert_eq!(Incoming::read(&text(&Outgoing::error(None, &refusal))), Ok(Incoming::Error(refusal)));
    }

    #[test]
    fn what_is_no_message_is_refused_with_a_reason() {
        let refused = |line: &str| Incoming::read(line).unwrap_err();
        let not_json = refused("{\"jsonrpc\": nonsense}");
        assert_eq!((not_json.code, &*not_json.message), (NOT_JSON, "it is no JSON at line 1, column 13"));
        let deep = "[".repeat(100_000);
        assert_eq!(refused(&deep).code, NOT_JSON);
        for line in [
            "[]",
            r#"{"jsonrpc":"1.0","id":1,"method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"1","method":"m","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"result":1}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"more":1}"#,
        ] {
            assert_eq!(refused(line).code, NOT_A_REQUEST, "{line}");
        }
    }
}
