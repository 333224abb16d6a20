//! What came of an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::durable::{ActivationHistory, Decision, ErrorKind, ToolLoopEnd, ToolLoopOutput, WorkflowHistory};
use windtunnel_core::model::{ModelRequest, Role};

use super::approvals::ReviewDelivery;
use super::crashes::Crash;
use super::effects::{Effect, counts};
use super::scene::Operations;

/// What came of the agent of a case.
///
/// ```
/// use windtunnel_sim::case::{AgentEnding, Case, CaseOutcome, Format};
///
/// let text = r#"{
///     "prompt": "Refund order 7.",
///     "model": {"turns": [{"calls": [{"id": "r", "name": "refund"}]}, {"says": "Refunded."}]},
///     "tools": [{"name": "refund"}],
///     "crashes": [{"at": "after-effect", "operation": "tool:turn:0:r"}],
///     "expect": {"outcome": {"end": "answer"}, "effects": {"refund": 2}, "repeats": {"refund": 1}}
/// }"#;
/// let cases = Case::parse("refund.json", Format::Json, text)?;
/// let run = cases[0].run(0);
/// assert!(cases[0].judge(&run).passed());
/// let CaseOutcome::Agent(outcome) = &run.outcome else { panic!("a model is an agent's") };
/// assert!(matches!(&outcome.ending, AgentEnding::Completed(output) if output.answer == "Refunded."));
/// assert_eq!(outcome.crashes.len(), 1);
/// # Ok::<(), windtunnel_sim::case::LoadError>(())
/// ```
#[derive(Debug, Default)]
pub struct AgentOutcome {
    /// How it ended.
    pub ending: AgentEnding,
    /// Its activations, in order.
    pub activations: Vec<ActivationSummary>,
    /// What its tools did, in order.
    pub effects: Vec<Effect>,
    /// The crashes that came, in order.
    pub crashes: Vec<Crash>,
    /// The decisions that were delivered, in order.
    pub approvals: Vec<ReviewDelivery>,
    /// What the model was asked, in order.
    pub requests: Vec<ModelRequest>,
    /// The crashes of the file that did not come, each as a sentence.
    pub unreached: Vec<String>,
}

/// How an agent ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AgentEnding {
    /// The loop came to its end.
    Completed(ToolLoopOutput),
    /// The workflow failed.
    Failed {
        /// The kind of its error.
        kind: Arc<str>,
        /// What it says.
        message: Arc<str>,
    },
    /// It waits for an approval that nobody delivers.
    Waiting {
        /// The approval.
        approval_id: Arc<str>,
    },
    /// It came to no end.
    #[default]
    Unfinished,
}

/// An activation: what is stored of it, and what all attempts at it did.
#[derive(Clone, Debug)]
pub struct ActivationSummary {
    /// What is stored.
    pub history: ActivationHistory,
    /// How many callables ran.
    pub executed: u64,
    /// How many requests were answered from the journal.
    pub replayed: u64,
}

impl AgentEnding {
    pub(super) fn of(history: &WorkflowHistory) -> Self {
        match history.outcome() {
            Some(Decision::Complete(output)) => {
                serde_json::from_value((**output).clone()).map_or(Self::Unfinished, Self::Completed)
            }
            Some(Decision::Fail { kind, message }) => {
                Self::Failed { kind: Arc::clone(kind), message: Arc::clone(message) }
            }
            _ => match history.activations.as_slice() {
                [.., before, last] if last.wake.is_none() => match &before.decision {
                    Some((Decision::WaitEvent { key, .. }, _)) => Self::Waiting { approval_id: Arc::clone(key) },
                    _ => Self::Unfinished,
                },
                _ => Self::Unfinished,
            },
        }
    }

    /// `completed`, `failed`, `waiting` or `unfinished`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::Failed { .. } => "failed",
            Self::Waiting { .. } => "waiting",
            Self::Unfinished => "unfinished",
        }
    }

    /// What tells endings apart: why the loop is over, or the kind of the error, or the status.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed(output) => end_name(output.end),
            Self::Failed { kind, .. } => {
                serde_json::from_value(json!(kind)).map_or("failed", |kind: ErrorKind| kind.as_str())
            }
            Self::Waiting { .. } | Self::Unfinished => self.status(),
        }
    }

    /// The ending as JSON, with the names that case files use; what is absent is `null`.
    pub fn to_json(&self) -> Value {
        let output = match self {
            Self::Completed(output) => Some(output),
            _ => None,
        };
        let (failed, message) = match self {
            Self::Failed { kind, message } => (Some(&**kind), Some(&**message)),
            _ => (None, None),
        };
        let waits_for = match self {
            Self::Waiting { approval_id } => Some(&**approval_id),
            _ => None,
        };
        json!({
            "status": self.status(),
            "end": output.map(|output| end_name(output.end)),
            "answer": output.map(|output| output.answer.as_str()),
            "turns": output.map(|output| output.turns),
            "calls": output.map(|output| output.calls),
            "input_tokens": output.map(|output| output.usage.input_tokens),
            "output_tokens": output.map(|output| output.usage.output_tokens),
            "failed": failed,
            "message": message,
            "waits_for": waits_for,
        })
    }
}

fn end_name(end: ToolLoopEnd) -> &'static str {
    match end {
        ToolLoopEnd::Answer => "answer",
        ToolLoopEnd::TurnLimit => "turn-limit",
        ToolLoopEnd::CallLimit => "call-limit",
    }
}

impl ActivationSummary {
    /// One for each activation that is stored.
    pub(super) fn all(history: WorkflowHistory, operations: &BTreeMap<u64, Operations>) -> Vec<Self> {
        let summary = |(number, history): (u64, ActivationHistory)| {
            let Operations { executed, replayed } = operations.get(&number).copied().unwrap_or_default();
            Self { history, executed, replayed }
        };
        (1..).zip(history.activations).map(summary).collect()
    }

    /// The keys of what is committed, in order.
    pub fn keys(&self) -> Vec<&str> {
        self.history.records.iter().map(|committed| &**committed.record.key()).collect()
    }

    /// The activation as JSON; `index` is its place, from 1. What is absent is `null`.
    pub fn to_json(&self, index: usize) -> Value {
        let ActivationHistory { wake, attempts, failures, decision, .. } = &self.history;
        json!({
            "index": index,
            "wake": wake.as_ref().map(|wake| wake.name()),
            "attempts": attempts,
            "failures": failures,
            "executed": self.executed,
            "replayed": self.replayed,
            "decision": decision.as_ref().map(|(decision, _)| decision.name()),
            "keys": self.keys(),
        })
    }
}

impl AgentOutcome {
    /// How many attempts at activations were made.
    pub fn attempts(&self) -> u64 {
        self.activations.iter().map(|activation| activation.history.attempts).sum()
    }

    /// What the model read of its calls, when it was asked last.
    pub fn read(&self) -> Vec<&str> {
        let messages = self.requests.last().map_or(&[][..], |request| &request.messages);
        let results = messages.iter().filter(|message| message.role == Role::Tool);
        results.map(|message| message.content.as_str()).collect()
    }

    /// How often each tool did something.
    pub(super) fn effect_counts(&self) -> Value {
        json!(counts(&self.effects, |effect| effect.has_happened))
    }

    /// How often each tool came again to what it had done under the same key.
    pub(super) fn repeat_counts(&self) -> Value {
        json!(counts(&self.effects, |effect| effect.is_repeat))
    }

    /// The keys of what is committed, by activation.
    pub(super) fn keys(&self) -> Value {
        self.activations.iter().map(|activation| json!(activation.keys())).collect()
    }

    /// Everything as JSON, with the names that case files use.
    pub fn to_json(&self) -> Value {
        json!({
            "outcome": self.ending.to_json(),
            "activations": (1..).zip(&self.activations).map(|(index, one)| one.to_json(index)).collect::<Value>(),
            "journal": self.journal_to_json(),
            "effects": self.effects.iter().map(Effect::to_json).collect::<Value>(),
            "crashes": self.crashes.iter().map(Crash::to_json).collect::<Value>(),
            "approvals": self.approvals.iter().map(ReviewDelivery::to_json).collect::<Value>(),
            "model_requests": self.requests.len(),
            "read": self.read(),
        })
    }

    /// All records, each with its activation.
    fn journal_to_json(&self) -> Value {
        let records = (1_u64..).zip(&self.activations).flat_map(|(index, activation)| {
            activation.history.records.iter().map(move |committed| {
                let mut shown = committed.record.to_json();
                shown["activation"] = json!(index);
                shown
            })
        });
        records.collect()
    }
}
