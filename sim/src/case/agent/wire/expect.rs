//! What must come out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::WirePoint;
use crate::case::wire::{Attempts, Milliseconds};

/// A field that is absent is not compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what is expected")]
pub(in crate::case) struct WireExpect {
    pub(in crate::case) outcome: Option<WireOutcome>,
    pub(in crate::case) activations: Option<u64>,
    pub(in crate::case) attempts: Option<u64>,
    pub(in crate::case) executed: Option<u64>,
    pub(in crate::case) replayed: Option<u64>,
    pub(in crate::case) journal: Option<Vec<Vec<String>>>,
    pub(in crate::case) effects: Option<BTreeMap<String, u64>>,
    pub(in crate::case) repeats: Option<BTreeMap<String, u64>>,
    pub(in crate::case) invocations: Option<Vec<WireInvocation>>,
    pub(in crate::case) crashes: Option<Vec<WireCrashed>>,
    pub(in crate::case) approvals: Option<Vec<WireDelivery>>,
    pub(in crate::case) model_requests: Option<u64>,
    pub(in crate::case) read: Option<Vec<String>>,
    pub(in crate::case) elapsed_ms: Option<Milliseconds>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an outcome (an object)")]
pub(in crate::case) struct WireOutcome {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) end: Option<WireEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) turns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) failed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::case) waits_for: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireEnd {
    Answer,
    TurnLimit,
    CallLimit,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an invocation (an object)")]
pub(in crate::case) struct WireInvocation {
    pub(in crate::case) tool: String,
    pub(in crate::case) arguments: Value,
}

/// A crash that must come, by any of its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a crash (an object)")]
pub(in crate::case) struct WireCrashed {
    pub(in crate::case) at: Option<WirePoint>,
    pub(in crate::case) operation: Option<String>,
    pub(in crate::case) activation: Option<Attempts>,
    pub(in crate::case) worker: Option<Attempts>,
    pub(in crate::case) at_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireDelivery {
    Accepted,
    Already,
    Conflict,
    TooLate,
    NoWorkflow,
}
