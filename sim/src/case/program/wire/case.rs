//! A case, its program, and what it runs under.

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::evaluator::ErrorKind;

use super::{WireExpect, WireTool};
use crate::case::cassettes::WireReplay;
use crate::case::wire::{Attempts, Limit, PositiveSeconds, Seconds, WireAlways, WireFault, WireKind, WireRandomFaults};

/// A case of kind `program`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a case (an object)")]
pub(in crate::case) struct WireCase {
    pub(in crate::case) id: Option<String>,
    #[serde(rename = "kind")]
    pub(in crate::case) _kind: Option<WireKind>,
    #[serde(default)]
    pub(in crate::case) seed: u64,
    pub(in crate::case) tools: Vec<WireTool>,
    pub(in crate::case) program: Value,
    #[serde(default)]
    pub(in crate::case) limits: WireLimits,
    #[serde(default)]
    pub(in crate::case) policy: WirePolicy,
    #[serde(default)]
    pub(in crate::case) shuffle: bool,
    #[serde(default)]
    pub(in crate::case) faults: Vec<WireFault>,
    pub(in crate::case) random_faults: Option<WireRandomFaults>,
    pub(in crate::case) heal_after_s: Option<PositiveSeconds>,
    pub(in crate::case) replay: Option<WireReplay>,
    pub(in crate::case) expect: Option<WireExpect>,
    #[serde(default)]
    pub(in crate::case) always: Vec<WireAlways<WireEach>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of limits")]
pub(in crate::case) struct WireLimits {
    pub(in crate::case) max_nodes: Option<Limit>,
    pub(in crate::case) max_depth: Option<Limit>,
    pub(in crate::case) max_call_depth: Option<Limit>,
    pub(in crate::case) max_tool_calls: Option<Limit>,
    pub(in crate::case) max_concurrency: Option<Limit>,
    pub(in crate::case) max_bytes: Option<Limit>,
    pub(in crate::case) timeout_seconds: Option<PositiveSeconds>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a policy (an object)")]
pub(in crate::case) struct WirePolicy {
    #[serde(default)]
    pub(in crate::case) retry: WireRetry,
    #[serde(default)]
    pub(in crate::case) parallel_failures: WireParallelFailures,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object that says when to try again")]
pub(in crate::case) struct WireRetry {
    pub(in crate::case) max_attempts: Option<Attempts>,
    #[serde(default)]
    pub(in crate::case) delay_seconds: Seconds,
    #[serde(default)]
    pub(in crate::case) idempotent_tools: Vec<String>,
    pub(in crate::case) retryable: Option<Vec<ErrorKind>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireParallelFailures {
    #[default]
    Raise,
    Collect,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireEach {
    Branches,
    Events,
    Invocations,
    Faults,
}

impl From<WireEach> for &'static str {
    fn from(each: WireEach) -> Self {
        match each {
            WireEach::Branches => "branches",
            WireEach::Events => "events",
            WireEach::Invocations => "invocations",
            WireEach::Faults => "faults",
        }
    }
}
