//! A case of kind `agent`.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::durable::{Acknowledgment, Record, ToolLoopBudget};
use windtunnel_core::executor::{Backoff, RunLimits};
use windtunnel_core::model::{Message, ModelError, ModelResponse, Role};
use windtunnel_fixtures::difference::Difference;

use super::approvals::PlannedReview;
use super::crashes::PlannedCrash;
use super::expectation::Expectation;
use super::hosts::TOOLS;
use super::outcome::AgentOutcome;
use super::wire::Manners;
use crate::case::calls::CaseTool;
use crate::case::cassettes::Shelf;
use crate::case::definition::Kind;
use crate::case::store::Keeping;
use crate::case::trouble::Setting;
use crate::case::wire::Delay;
use crate::case::{CaseOutcome, CaseRun};

/// A model, tools, and what befalls the workers that run them.
#[derive(Debug)]
pub(super) struct AgentCase {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    /// What the model says; where a cassette answers for it, what that holds.
    pub(super) turns: Vec<AgentTurn>,
    /// The cassette that answers for the model.
    pub(super) cassette: Option<usize>,
    pub(super) shelf: Shelf,
    pub(super) tools: Vec<AgentTool>,
    pub(super) backoff: Backoff,
    /// The backoff's settings ask for a drawn jitter.
    pub(super) jitters: bool,
    pub(super) rng: Option<f64>,
    pub(super) limits: RunLimits,
    pub(super) budget: ToolLoopBudget,
    pub(super) turns_per_activation: NonZeroU32,
    pub(super) reviews: Vec<PlannedReview>,
    pub(super) approval_timeout: Option<Duration>,
    pub(super) workers: Workers,
    pub(super) journal: Vec<Arc<Record>>,
    pub(super) record_acknowledgments: Vec<Acknowledgment>,
    pub(super) decision_acknowledgments: Vec<Acknowledgment>,
    pub(super) crashes: Vec<PlannedCrash>,
    pub(super) crash_rate: f64,
    pub(super) crashes_max: u32,
    /// Workers, model, tools and journal run on hosts of their own.
    pub(super) on_hosts: bool,
    pub(super) expectation: Option<Expectation>,
}

/// A turn of the model.
#[derive(Debug)]
pub(super) struct AgentTurn {
    /// What comes before the answer, each once.
    pub(super) failures: Vec<ModelError>,
    pub(super) delay: Delay,
    pub(super) answer: ModelResponse,
}

#[derive(Debug)]
pub(super) struct AgentTool {
    pub(super) tool: CaseTool,
    pub(super) manners: Manners,
}

impl AgentTool {
    /// The host that it runs on.
    pub(super) fn host(&self) -> &str {
        self.manners.host.as_deref().unwrap_or(TOOLS)
    }
}

#[derive(Debug)]
pub(super) struct Workers {
    pub(super) count: NonZeroU32,
    pub(super) lease: Duration,
    pub(super) failures_max: NonZeroU32,
    pub(super) restart_after: Duration,
}

/// The variables of assertions.
pub(super) const VARIABLES: [&str; 12] = [
    "outcome",
    "activations",
    "journal",
    "effects",
    "crashes",
    "approvals",
    "invocations",
    "read",
    "model_requests",
    "events",
    "elapsed_ms",
    "faults",
];

impl AgentCase {
    /// How often the model has spoken before the case begins.
    pub(super) fn spoken(&self) -> usize {
        self.messages.iter().filter(|message| message.role == Role::Assistant).count()
    }

    /// Whether an attempt of an activation may fail and wait for a drawn time.
    fn may_fail(&self) -> bool {
        let goes_wrong = |acknowledgments: &[Acknowledgment]| {
            acknowledgments.iter().any(|acknowledgment| *acknowledgment != Acknowledgment::Ok)
        };
        let ends_open = self.turns.last().is_none_or(|turn| !turn.answer.message.tool_calls.is_empty());
        goes_wrong(&self.record_acknowledgments)
            || goes_wrong(&self.decision_acknowledgments)
            || self.turns.iter().any(|turn| !turn.failures.is_empty())
            || !self.journal.is_empty()
            || ends_open
    }
}

impl Kind for AgentCase {
    fn hosts(&self) -> Vec<String> {
        if self.on_hosts { self.host_names() } else { Vec::new() }
    }

    fn draws(&self) -> bool {
        let tries_again = self.may_fail() || self.tools.iter().any(|tool| tool.tool.spec.retries > 0);
        let draws_jitter = self.jitters && self.rng.is_none() && tries_again;
        draws_jitter
            || self.on_hosts
            || self.crash_rate > 0.0
            || self.turns.iter().any(|turn| turn.delay.is_range())
            || self.tools.iter().any(|tool| tool.tool.script.draws())
    }

    fn expects(&self) -> bool {
        self.expectation.is_some()
    }

    fn run(&self, setting: &Setting, keeping: &Keeping) -> CaseRun {
        self.play_with(setting, keeping)
    }

    fn is_on_hosts(&self) -> bool {
        self.on_hosts
    }

    #[cfg(feature = "sqlite")]
    fn has_journal(&self) -> bool {
        true
    }

    fn differences(&self, run: &CaseRun) -> Vec<Difference> {
        let expectation = self.expectation.iter();
        expectation.flat_map(|expectation| with_outcome(run, |outcome| expectation.compare(outcome, run))).collect()
    }

    fn unreached(&self, run: &CaseRun) -> Vec<String> {
        with_outcome(run, |outcome| outcome.unreached.clone())
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn variable(&self, name: &str, run: &CaseRun) -> Value {
        match name {
            "events" | "invocations" | "elapsed_ms" | "faults" => run.variable(name),
            _ => with_outcome(run, |outcome| outcome.to_json()[name].take()),
        }
    }
}

/// What came of the agent: nothing, in the run of a case of another kind.
fn with_outcome<T>(run: &CaseRun, read: impl FnOnce(&AgentOutcome) -> T) -> T {
    match &run.outcome {
        CaseOutcome::Agent(outcome) => read(outcome),
        _ => read(&AgentOutcome::default()),
    }
}
