//! What must come out.

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::durable::ErrorKind;

use crate::case::wire::present;

/// A field that is absent is not compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what is expected")]
pub(in crate::case) struct WireExpect {
    pub(in crate::case) results: Option<Vec<WireResult>>,
    pub(in crate::case) journal: Option<Vec<Value>>,
    pub(in crate::case) decided: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a result (an object)")]
pub(in crate::case) struct WireResult {
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) ok: Option<Value>,
    pub(in crate::case) error: Option<ErrorKind>,
    pub(in crate::case) executed: Option<bool>,
}
