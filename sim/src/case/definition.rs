//! A case that has been loaded and checked.

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::executor::{Backoff, Decision, RunLimits, ToolCall};
use windtunnel_core::tool::{CacheScope, Confirm, ToolSpec};

use super::always::Assertion;
use super::error::Place;
use super::expectation::Expectation;
use super::script::ToolScript;

/// A case: tools, calls, the rules around them, and what must come out.
///
/// ```
/// use windtunnel_sim::case::{Case, Format};
///
/// let text = r#"{
///     "tools": [{"name": "search", "parameters": {"q": "string"}, "retries": 2, "script": [{"fail": "busy"}]}],
///     "rng": 0.0,
///     "calls": [{"name": "search", "arguments": {"q": "warranty"}}],
///     "expect": {"results": [{"status": "ok", "attempts": 2, "delays_s": [0.5]}]},
///     "always": [{"each": "results", "that": "it.attempts <= it.retries + 1"}]
/// }"#;
/// let cases = Case::parse("retries.json", Format::Json, text)?;
/// let run = cases[0].run(cases[0].seed());
/// assert!(cases[0].judge(&run).passed());
/// # Ok::<(), windtunnel_sim::case::LoadError>(())
/// ```
#[derive(Debug)]
pub struct Case {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) seed: u64,
    pub(super) tools: Vec<CaseTool>,
    pub(super) backoff: Backoff,
    /// The backoff's settings ask for a drawn jitter.
    pub(super) jitters: bool,
    pub(super) rng: Option<f64>,
    pub(super) limits: RunLimits,
    /// What the reviewer decides; `None` for no reviewer.
    pub(super) decisions: Option<Vec<Decision>>,
    pub(super) calls: Vec<CaseCall>,
    pub(super) is_batch: bool,
    pub(super) expectation: Option<Expectation>,
    pub(super) assertions: Vec<Assertion>,
}

#[derive(Debug)]
pub(super) struct CaseTool {
    pub(super) spec: ToolSpec,
    pub(super) script: ToolScript,
}

#[derive(Debug)]
pub(super) struct CaseCall {
    pub(super) call: ToolCall,
    /// How long to wait before the call is made.
    pub(super) wait: Duration,
}

impl Case {
    /// The id, unique in its file.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the case begins in its file.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The seed that the file gives, or 0.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether other seeds can give other results: something is drawn from a range, by a rate, or as jitter.
    pub fn draws(&self) -> bool {
        let jitter_is_drawn = self.jitters && self.rng.is_none() && self.tools.iter().any(|tool| tool.spec.retries > 0);
        jitter_is_drawn || self.tools.iter().any(|tool| tool.script.draws())
    }

    /// Whether anything can make it fail: it expects or asserts something.
    pub fn says_what_must_hold(&self) -> bool {
        self.expectation.is_some() || !self.assertions.is_empty()
    }

    pub(super) fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().map(|tool| &tool.spec).find(|spec| spec.name == name)
    }
}

/// A tool's policy as JSON, with the names that case files use; what is absent is `null`.
pub(super) fn spec_to_json(spec: &ToolSpec) -> Value {
    let seconds = |duration: Option<Duration>| duration.map(|duration| duration.as_secs_f64());
    json!({
        "name": spec.name,
        "kind": spec.kind,
        "retries": spec.retries,
        "timeout_s": seconds(spec.timeout),
        "parallel_safe": spec.parallel_safe,
        "once_per_run": spec.once_per_run,
        "confirm": !matches!(spec.confirm, Confirm::Never),
        "cache_ttl_s": seconds(spec.cache_ttl),
        "cache_scope": match spec.cache_scope {
            CacheScope::Run => "run",
            CacheScope::Global => "global",
        },
    })
}
