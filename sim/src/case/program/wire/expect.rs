//! What must come out.

use serde::Deserialize;
use serde_json::{Number, Value};
use windtunnel_core::evaluator::ErrorKind;

use crate::case::wire::{Milliseconds, present};

/// A field that is absent is not compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what is expected")]
pub(in crate::case) struct WireExpect {
    #[serde(default)]
    pub(in crate::case) rejected: bool,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) ok: Option<Value>,
    pub(in crate::case) error: Option<WireError>,
    pub(in crate::case) elapsed_ms: Option<Milliseconds>,
    pub(in crate::case) nodes: Option<u64>,
    pub(in crate::case) tool_calls_used: Option<u64>,
    pub(in crate::case) peak_depth: Option<u64>,
    pub(in crate::case) peak_call_depth: Option<u64>,
    pub(in crate::case) peak_concurrency: Option<u64>,
    pub(in crate::case) calls: Option<Vec<WireCall>>,
    pub(in crate::case) calls_unordered: Option<Vec<WireCall>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an error (an object)")]
pub(in crate::case) struct WireError {
    pub(in crate::case) kind: ErrorKind,
    pub(in crate::case) resource: Option<WireResource>,
    pub(in crate::case) limit: Option<Number>,
    pub(in crate::case) message: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::case) enum WireResource {
    Nodes,
    Depth,
    CallDepth,
    ToolCalls,
    WallClockSeconds,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a call (an object)")]
pub(in crate::case) struct WireCall {
    pub(in crate::case) name: String,
    pub(in crate::case) arguments: Value,
}
