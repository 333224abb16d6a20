//! A tool: as in cases of kind `calls`, and what the world outside remembers of it.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::case::calls::{WireCacheScope, WireFail, WireRandom, WireStep, WireTool, yes};
use crate::case::wire::{Delay, Retries, Seconds, WireParameter, present};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a tool (an object)")]
pub(in crate::case) struct WireAgentTool {
    name: String,
    description: Option<String>,
    kind: Option<String>,
    parameters: Option<IndexMap<String, WireParameter>>,
    schema: Option<Value>,
    #[serde(default)]
    retries: Retries,
    timeout_s: Option<Seconds>,
    #[serde(default = "yes")]
    parallel_safe: bool,
    #[serde(default)]
    once_per_run: bool,
    #[serde(default)]
    confirm: bool,
    cache_ttl_s: Option<Seconds>,
    #[serde(default)]
    cache_scope: WireCacheScope,
    #[serde(default)]
    idempotent: bool,
    host: Option<String>,
    #[serde(default)]
    script: Vec<WireAgentStep>,
    random: Option<WireRandom>,
    cassette: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step of a script (an object)")]
struct WireAgentStep {
    #[serde(default)]
    delay_ms: Delay,
    fail: Option<WireFail>,
    #[serde(default, deserialize_with = "present")]
    ok: Option<Value>,
    effect: Option<bool>,
}

/// What the world outside keeps to.
#[derive(Debug)]
pub(in crate::case) struct Manners {
    /// Whether a repeat is known by its idempotency key.
    pub(in crate::case) is_idempotent: bool,
    /// Whether each step of the script has an effect, where the file says so.
    pub(in crate::case) effects: Vec<Option<bool>>,
    /// The host that it runs on, where there are hosts.
    pub(in crate::case) host: Option<String>,
}

impl WireAgentTool {
    /// The tool as one of a case of kind `calls`, and the rest.
    pub(in crate::case) fn into_parts(self) -> (WireTool, Manners) {
        let effects = self.script.iter().map(|step| step.effect).collect();
        let manners = Manners { is_idempotent: self.idempotent, effects, host: self.host };
        let step = |WireAgentStep { delay_ms, fail, ok, effect: _ }| WireStep { delay_ms, fail, ok };
        let tool = WireTool {
            name: self.name,
            description: self.description,
            kind: self.kind,
            parameters: self.parameters,
            schema: self.schema,
            retries: self.retries,
            timeout_s: self.timeout_s,
            parallel_safe: self.parallel_safe,
            once_per_run: self.once_per_run,
            confirm: self.confirm,
            cache_ttl_s: self.cache_ttl_s,
            cache_scope: self.cache_scope,
            script: self.script.into_iter().map(step).collect(),
            random: self.random,
            cassette: self.cassette,
        };
        (tool, manners)
    }
}
