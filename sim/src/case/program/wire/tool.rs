//! A program's tool and its script.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::case::program::functions::Function;
use crate::case::wire::{Delay, Rate, WireParameter, present};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a tool (an object)")]
pub(in crate::case) struct WireTool {
    pub(in crate::case) name: String,
    #[serde(rename = "fn")]
    pub(in crate::case) function: Option<Function>,
    #[serde(default)]
    pub(in crate::case) delay_ms: Delay,
    pub(in crate::case) parameters: Option<IndexMap<String, WireParameter>>,
    pub(in crate::case) schema: Option<Value>,
    #[serde(default)]
    pub(in crate::case) script: Vec<WireStep>,
    pub(in crate::case) random: Option<WireRandom>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) ok: Option<Value>,
    #[serde(default)]
    pub(in crate::case) answers: Vec<WireAnswer>,
    pub(in crate::case) cassette: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an answer (an object)")]
pub(in crate::case) struct WireAnswer {
    pub(in crate::case) when: Map<String, Value>,
    pub(in crate::case) ok: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step of a script (an object)")]
pub(in crate::case) struct WireStep {
    pub(in crate::case) delay_ms: Option<Delay>,
    pub(in crate::case) fail: Option<WireFail>,
    pub(in crate::case) message: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(in crate::case) ok: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireFail {
    ToolExecution,
    Timeout,
    Unclassified,
    ToolNotFound,
    ProviderResponse,
    Hang,
    Panic,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of what is random")]
pub(in crate::case) struct WireRandom {
    #[serde(default)]
    pub(in crate::case) fail: WireRates,
    pub(in crate::case) delay_ms: Option<Delay>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "an object of rates")]
pub(in crate::case) struct WireRates {
    #[serde(default)]
    tool_execution: Rate,
    #[serde(default)]
    timeout: Rate,
    #[serde(default)]
    unclassified: Rate,
    #[serde(default)]
    tool_not_found: Rate,
    #[serde(default)]
    provider_response: Rate,
    #[serde(default)]
    hang: Rate,
    #[serde(default)]
    panic: Rate,
}

impl WireRates {
    /// The ways to fail with their rates, in the order in which a draw goes through them.
    pub(in crate::case) fn by_failure(self) -> [(WireFail, f64); 7] {
        [
            (WireFail::ToolExecution, self.tool_execution.0),
            (WireFail::Timeout, self.timeout.0),
            (WireFail::Unclassified, self.unclassified.0),
            (WireFail::ToolNotFound, self.tool_not_found.0),
            (WireFail::ProviderResponse, self.provider_response.0),
            (WireFail::Hang, self.hang.0),
            (WireFail::Panic, self.panic.0),
        ]
    }
}
