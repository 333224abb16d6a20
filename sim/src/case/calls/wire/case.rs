//! A case, its calls and the rules around them.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use super::{WireExpect, WireTool};
use crate::case::cassettes::WireReplay;
use crate::case::wire::{
    Cap, Milliseconds, PositiveSeconds, Unit, WireAlways, WireFault, WireKind, WireRandomFaults, present,
};

/// A case of kind `calls`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a case (an object)")]
pub(in crate::case) struct WireCase {
    pub(in crate::case) id: Option<String>,
    #[serde(rename = "kind")]
    pub(in crate::case) _kind: Option<WireKind>,
    pub(in crate::case) tools: Vec<WireTool>,
    #[serde(default)]
    pub(in crate::case) backoff: WireBackoff,
    pub(in crate::case) rng: Option<Unit>,
    #[serde(default)]
    pub(in crate::case) seed: u64,
    #[serde(default)]
    pub(in crate::case) run_limits: WireRunLimits,
    pub(in crate::case) approval_port: Option<bool>,
    #[serde(default)]
    pub(in crate::case) approvals: Vec<WireApproval>,
    pub(in crate::case) calls: Vec<WireCall>,
    #[serde(default)]
    pub(in crate::case) batch: bool,
    #[serde(default)]
    pub(in crate::case) faults: Vec<WireFault>,
    pub(in crate::case) random_faults: Option<WireRandomFaults>,
    pub(in crate::case) heal_after_s: Option<PositiveSeconds>,
    pub(in crate::case) replay: Option<WireReplay>,
    pub(in crate::case) expect: Option<WireExpect>,
    #[serde(default)]
    pub(in crate::case) always: Vec<WireAlways<WireEach>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of backoff settings")]
pub(in crate::case) struct WireBackoff {
    pub(in crate::case) base_s: Option<f64>,
    pub(in crate::case) max_s: Option<f64>,
    pub(in crate::case) multiplier: Option<f64>,
    pub(in crate::case) jitter: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of run limits")]
pub(in crate::case) struct WireRunLimits {
    pub(in crate::case) max_calls: Option<u64>,
    #[serde(default)]
    pub(in crate::case) per_kind: IndexMap<String, Cap>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an approval (an object)")]
pub(in crate::case) struct WireApproval {
    pub(in crate::case) decision: WireDecision,
    pub(in crate::case) reason: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) edited_arguments: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireDecision {
    Approve,
    Deny,
    Pending,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a call (an object)")]
pub(in crate::case) struct WireCall {
    pub(in crate::case) id: Option<String>,
    pub(in crate::case) name: String,
    #[serde(default = "no_arguments")]
    pub(in crate::case) arguments: Value,
    pub(in crate::case) wait_ms: Option<Milliseconds>,
}

pub(in crate::case) fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireEach {
    Results,
    Events,
    Ledger,
    Invocations,
    Faults,
}

impl From<WireEach> for &'static str {
    fn from(each: WireEach) -> Self {
        match each {
            WireEach::Results => "results",
            WireEach::Events => "events",
            WireEach::Ledger => "ledger",
            WireEach::Invocations => "invocations",
            WireEach::Faults => "faults",
        }
    }
}
