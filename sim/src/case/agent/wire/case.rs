//! A case, its budget, its approvals and its workers.

use std::num::NonZeroU32;

use serde::Deserialize;
use serde_json::Value;

use super::{WireAgentTool, WireCrash, WireExpect, WireMessage, WireModel};
use crate::Schedule;
use crate::case::calls::{WireBackoff, WireDecision, WireRunLimits};
use crate::case::cassettes::WireReplay;
use crate::case::operations::WireAcknowledgment;
use crate::case::wire::{
    Attempts, Count, PositiveSeconds, Rate, Seconds, Unit, WireAlways, WireFault, WireKind, WireRandomFaults, present,
};

/// A case of kind `agent`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a case (an object)")]
pub(in crate::case) struct WireCase {
    pub(in crate::case) id: Option<String>,
    #[serde(rename = "kind")]
    pub(in crate::case) _kind: Option<WireKind>,
    #[serde(default)]
    pub(in crate::case) seed: u64,
    pub(in crate::case) prompt: Option<String>,
    pub(in crate::case) messages: Option<Vec<WireMessage>>,
    pub(in crate::case) model: WireModel,
    #[serde(default)]
    pub(in crate::case) tools: Vec<WireAgentTool>,
    #[serde(default)]
    pub(in crate::case) backoff: WireBackoff,
    pub(in crate::case) rng: Option<Unit>,
    #[serde(default)]
    pub(in crate::case) run_limits: WireRunLimits,
    #[serde(default)]
    pub(in crate::case) budget: WireBudget,
    #[serde(default)]
    pub(in crate::case) approvals: Vec<WireApproval>,
    pub(in crate::case) approval_timeout_s: Option<Seconds>,
    #[serde(default)]
    pub(in crate::case) workers: WireWorkers,
    /// Read as records, with their own messages.
    #[serde(default)]
    pub(in crate::case) journal: Vec<Value>,
    #[serde(default)]
    pub(in crate::case) acks: Vec<WireAcknowledgment>,
    #[serde(default)]
    pub(in crate::case) decision_acks: Vec<WireAcknowledgment>,
    #[serde(default)]
    pub(in crate::case) crashes: Vec<WireCrash>,
    #[serde(default)]
    pub(in crate::case) crash_rate: Rate,
    pub(in crate::case) crashes_max: Option<Count>,
    #[serde(default)]
    pub(in crate::case) faults: Vec<WireFault>,
    pub(in crate::case) random_faults: Option<WireRandomFaults>,
    pub(in crate::case) heal_after_s: Option<PositiveSeconds>,
    #[serde(default)]
    pub(in crate::case) on_hosts: bool,
    pub(in crate::case) schedule: Option<Schedule>,
    pub(in crate::case) replay: Option<WireReplay>,
    pub(in crate::case) expect: Option<WireExpect>,
    #[serde(default)]
    pub(in crate::case) always: Vec<WireAlways<WireEach>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what the loop may do")]
pub(in crate::case) struct WireBudget {
    pub(in crate::case) turns_max: Option<Count>,
    pub(in crate::case) calls_max: Option<Count>,
    pub(in crate::case) turns_per_activation: Option<Attempts>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an approval (an object)")]
pub(in crate::case) struct WireApproval {
    pub(in crate::case) call: String,
    pub(in crate::case) turn: Option<Count>,
    pub(in crate::case) after_s: Option<Seconds>,
    pub(in crate::case) at_s: Option<Seconds>,
    pub(in crate::case) decision: WireDecision,
    pub(in crate::case) reason: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) edited_arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object about the workers")]
pub(in crate::case) struct WireWorkers {
    pub(in crate::case) count: Option<Workers>,
    pub(in crate::case) lease_s: Option<PositiveSeconds>,
    pub(in crate::case) failures_max: Option<Attempts>,
    pub(in crate::case) restart_after_s: Option<Seconds>,
}

/// A number of workers.
#[derive(Clone, Copy, Debug)]
pub(in crate::case) struct Workers(pub(in crate::case) NonZeroU32);

const WORKERS_MAX: u32 = 16;

impl<'de> Deserialize<'de> for Workers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Attempts(count) = Attempts::deserialize(deserializer)?;
        if count.get() > WORKERS_MAX {
            return Err(serde::de::Error::custom(format!("{count} workers; at most {WORKERS_MAX} are allowed")));
        }
        Ok(Self(count))
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireEach {
    Activations,
    Journal,
    Effects,
    Crashes,
    Approvals,
    Invocations,
    Faults,
    Events,
}

impl From<WireEach> for &'static str {
    fn from(each: WireEach) -> Self {
        match each {
            WireEach::Activations => "activations",
            WireEach::Journal => "journal",
            WireEach::Effects => "effects",
            WireEach::Crashes => "crashes",
            WireEach::Approvals => "approvals",
            WireEach::Invocations => "invocations",
            WireEach::Faults => "faults",
            WireEach::Events => "events",
        }
    }
}
