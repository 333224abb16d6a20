//! A tool, its policy and its script.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use super::number::{Delay, Rate, Retries, Seconds};
use super::present::present;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a tool (an object)")]
pub(in crate::case) struct WireTool {
    pub(in crate::case) name: String,
    #[serde(default)]
    pub(in crate::case) description: String,
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
}

fn yes() -> bool {
    true
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireParameter {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    Any,
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
