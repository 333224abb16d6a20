//! A case of kind `calls`.

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::executor::{Backoff, Decision, RunLimits, ToolCall};
use windtunnel_core::tool::{CacheScope, Confirm, ToolSpec};
use windtunnel_fixtures::difference::Difference;

use super::expectation::Expectation;
use super::outcome::{CallsOutcome, FinishedCall, ledger_entry_to_json};
use crate::case::cassettes::Shelf;
use crate::case::definition::Kind;
use crate::case::script::ToolScript;
use crate::case::store::Keeping;
use crate::case::trouble::Setting;
use crate::case::{CaseOutcome, CaseRun};
use crate::script::Failure;

/// Tools, calls, and the rules around them.
#[derive(Debug)]
pub(super) struct CallsCase {
    pub(super) tools: Vec<CaseTool>,
    pub(super) shelf: Shelf,
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
}

#[derive(Debug)]
pub(in crate::case) struct CaseTool {
    pub(in crate::case) spec: ToolSpec,
    pub(in crate::case) script: ToolScript<Failure>,
    /// The cassette that answers in place of the script.
    pub(in crate::case) cassette: Option<usize>,
}

#[derive(Debug)]
pub(super) struct CaseCall {
    pub(super) call: ToolCall,
    /// How long to wait before the call is made.
    pub(super) wait: Duration,
}

/// The variables of assertions.
pub(super) const VARIABLES: [&str; 8] =
    ["results", "events", "ledger", "invocations", "tools", "elapsed_ms", "approval_requests", "faults"];

impl Kind for CallsCase {
    fn draws(&self) -> bool {
        let jitter_is_drawn = self.jitters && self.rng.is_none() && self.tools.iter().any(|tool| tool.spec.retries > 0);
        jitter_is_drawn || self.tools.iter().any(|tool| tool.script.draws())
    }

    fn expects(&self) -> bool {
        self.expectation.is_some()
    }

    fn run(&self, setting: &Setting, _keeping: &Keeping) -> CaseRun {
        self.play_with(setting)
    }

    fn differences(&self, run: &CaseRun) -> Vec<Difference> {
        let expectation = self.expectation.iter();
        expectation
            .flat_map(|expectation| with_outcome(run, |outcome| expectation.compare(outcome, &run.invocations)))
            .collect()
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn variable(&self, name: &str, run: &CaseRun) -> Value {
        with_outcome(run, |outcome| match name {
            "results" => {
                let finished =
                    outcome.calls.iter().enumerate().filter_map(|(index, call)| Some((index, call.as_ref()?)));
                finished.map(|(index, call)| self.result(index, call)).collect()
            }
            "ledger" => outcome.ledger.iter().map(ledger_entry_to_json).collect(),
            "tools" => self.tools.iter().map(|tool| (tool.spec.name.clone(), spec_to_json(&tool.spec))).collect(),
            "approval_requests" => json!(outcome.approval_requests),
            _ => run.variable(name),
        })
    }
}

impl CallsCase {
    /// A call with the place it has in the file, and how often its tool may try again.
    fn result(&self, index: usize, call: &FinishedCall) -> Value {
        let mut result = call.to_json();
        let spec = self.tools.iter().map(|tool| &tool.spec).find(|spec| spec.name == *call.result.tool);
        result["index"] = json!(index);
        result["retries"] = json!(spec.map_or(0, |spec| spec.retries));
        result
    }
}

/// What came of the calls: nothing, in the run of a case of another kind.
fn with_outcome<T>(run: &CaseRun, read: impl FnOnce(&CallsOutcome) -> T) -> T {
    match &run.outcome {
        CaseOutcome::Calls(outcome) => read(outcome),
        _ => read(&CallsOutcome::default()),
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
