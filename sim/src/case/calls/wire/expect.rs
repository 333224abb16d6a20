//! What must come out.

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::tool::ErrorKind;

use crate::case::wire::present;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what is expected")]
pub(in crate::case) struct WireExpect {
    pub(in crate::case) results: Option<Vec<WireResult>>,
    pub(in crate::case) invocations: Option<Vec<WireInvocation>>,
    pub(in crate::case) invocations_unordered: Option<Vec<WireInvocation>>,
    pub(in crate::case) ledger_entries: Option<u64>,
    pub(in crate::case) approval_requests: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an invocation (an object)")]
pub(in crate::case) struct WireInvocation {
    pub(in crate::case) tool: String,
    pub(in crate::case) arguments: Value,
}

/// A field that is absent is not compared; `null` expects that there is nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a result (an object)")]
pub(in crate::case) struct WireResult {
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) status: Option<WireStatus>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) attempts: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) error: Option<Option<ErrorKind>>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) retryable: Option<Option<bool>>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) delays_s: Option<Vec<f64>>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) value: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) cached: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) finished_us: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireStatus {
    Ok,
    Error,
    Pending,
}
