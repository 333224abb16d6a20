//! A tool, its policy and its script.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::case::wire::{Delay, Rate, Retries, Seconds, WireParameter, present};
use crate::script::{Failure, Then};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a tool (an object)")]
pub(in crate::case) struct WireTool {
    pub(in crate::case) name: String,
    pub(in crate::case) description: Option<String>,
    pub(in crate::case) kind: Option<String>,
    pub(in crate::case) parameters: Option<IndexMap<String, WireParameter>>,
    pub(in crate::case) schema: Option<Value>,
    #[serde(default)]
    pub(in crate::case) retries: Retries,
    pub(in crate::case) timeout_s: Option<Seconds>,
    #[serde(default = "yes")]
    pub(in crate::case) parallel_safe: bool,
    #[serde(default)]
    pub(in crate::case) once_per_run: bool,
    #[serde(default)]
    pub(in crate::case) confirm: bool,
    pub(in crate::case) cache_ttl_s: Option<Seconds>,
    #[serde(default)]
    pub(in crate::case) cache_scope: WireCacheScope,
    #[serde(default)]
    pub(in crate::case) script: Vec<WireStep>,
    pub(in crate::case) random: Option<WireRandom>,
    pub(in crate::case) cassette: Option<String>,
}

pub(in crate::case) fn yes() -> bool {
    true
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireCacheScope {
    #[default]
    Run,
    Global,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step of a script (an object)")]
pub(in crate::case) struct WireStep {
    #[serde(default)]
    pub(in crate::case) delay_ms: Delay,
    pub(in crate::case) fail: Option<WireFail>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) ok: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireFail {
    Foreign,
    Busy,
    ToolError,
    Hang,
    Panic,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what is random")]
pub(in crate::case) struct WireRandom {
    #[serde(default)]
    pub(in crate::case) fail: WireRates,
    #[serde(default)]
    pub(in crate::case) delay_ms: Delay,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "an object of rates")]
pub(in crate::case) struct WireRates {
    #[serde(default)]
    pub(in crate::case) foreign: Rate,
    #[serde(default)]
    pub(in crate::case) busy: Rate,
    #[serde(default)]
    pub(in crate::case) tool_error: Rate,
    #[serde(default)]
    pub(in crate::case) hang: Rate,
    #[serde(default)]
    pub(in crate::case) panic: Rate,
}

impl From<WireFail> for Then {
    fn from(fail: WireFail) -> Self {
        match fail {
            WireFail::Foreign => Self::Fail(Failure::Foreign),
            WireFail::Busy => Self::Fail(Failure::Busy),
            WireFail::ToolError => Self::Fail(Failure::ToolError),
            WireFail::Hang => Self::Hang,
            WireFail::Panic => Self::Panic,
        }
    }
}

impl WireRates {
    /// The ways to fail with their rates, in the order in which a draw goes through them.
    pub(in crate::case) fn endings(self) -> [(Then, f64); 5] {
        [
            (WireFail::Foreign.into(), self.foreign.0),
            (WireFail::Busy.into(), self.busy.0),
            (WireFail::ToolError.into(), self.tool_error.0),
            (WireFail::Hang.into(), self.hang.0),
            (WireFail::Panic.into(), self.panic.0),
        ]
    }
}
