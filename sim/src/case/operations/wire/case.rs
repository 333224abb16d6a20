//! A case, its steps and its acknowledgments.

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::durable::OperationKind;

use super::WireExpect;
use crate::case::wire::{PositiveSeconds, WireAlways, WireFault, WireKind, WireRandomFaults, present};

/// A case of kind `operations`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a case (an object)")]
pub(in crate::case) struct WireCase {
    pub(in crate::case) id: Option<String>,
    #[serde(rename = "kind")]
    pub(in crate::case) _kind: Option<WireKind>,
    #[serde(default)]
    pub(in crate::case) seed: u64,
    /// Read as records, with their own messages.
    #[serde(default)]
    pub(in crate::case) journal: Vec<Value>,
    pub(in crate::case) steps: Vec<WireStep>,
    #[serde(default)]
    pub(in crate::case) acks: Vec<WireAcknowledgment>,
    #[serde(default)]
    pub(in crate::case) faults: Vec<WireFault>,
    pub(in crate::case) random_faults: Option<WireRandomFaults>,
    pub(in crate::case) heal_after_s: Option<PositiveSeconds>,
    pub(in crate::case) expect: Option<WireExpect>,
    #[serde(default)]
    pub(in crate::case) always: Vec<WireAlways<WireEach>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step (an object)")]
pub(in crate::case) struct WireStep {
    pub(in crate::case) key: String,
    pub(in crate::case) kind: OperationKind,
    pub(in crate::case) callable: String,
    pub(in crate::case) version: String,
    pub(in crate::case) arguments: Value,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) returns: Option<Value>,
    pub(in crate::case) raises: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireAcknowledgment {
    Ok,
    Lost,
    Rejected,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireEach {
    Results,
    Journal,
    Events,
    Invocations,
    Faults,
}

impl From<WireEach> for &'static str {
    fn from(each: WireEach) -> Self {
        match each {
            WireEach::Results => "results",
            WireEach::Journal => "journal",
            WireEach::Events => "events",
            WireEach::Invocations => "invocations",
            WireEach::Faults => "faults",
        }
    }
}
