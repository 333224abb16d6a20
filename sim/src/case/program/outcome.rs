//! What came of a program.

use serde_json::{Value, json};
use windtunnel_core::evaluator::{Answer, BranchOutcome, Evaluation, EvaluationError};

use super::offence::ProgramOffence;

/// What came of the program of a case.
///
/// ```
/// use windtunnel_sim::case::{Case, CaseOutcome, Format};
///
/// let text = r#"{
///     "tools": [{"name": "add", "fn": "add"}],
///     "program": {"type": "program", "mode": "single", "body": [{"type": "function", "name": "add", "params": [
///         {"type": "value", "name": "a", "value": 20},
///         {"type": "value", "name": "b", "value": 22}
///     ]}]},
///     "expect": {"ok": 42, "nodes": 4}
/// }"#;
/// let cases = Case::parse("sum.json", Format::Json, text)?;
/// let run = cases[0].run(0);
/// assert!(cases[0].judge(&run).passed());
/// let CaseOutcome::Program(outcome) = &run.outcome else { panic!("a program is a program") };
/// assert_eq!(outcome.to_json()["value"], 42);
/// # Ok::<(), windtunnel_sim::case::LoadError>(())
/// ```
#[derive(Debug)]
pub enum ProgramOutcome {
    /// It was refused, and not evaluated.
    Refused(Vec<ProgramOffence>),
    /// It was evaluated to its end.
    Evaluated(Evaluation),
    /// Its evaluation came to no end.
    Unfinished,
}

impl ProgramOutcome {
    /// The evaluation, if it came to an end.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        match self {
            Self::Evaluated(evaluation) => Some(evaluation),
            Self::Refused(_) | Self::Unfinished => None,
        }
    }

    /// `ok`, `error`, `refused` or `unfinished`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Evaluated(evaluation) if evaluation.result.is_ok() => "ok",
            Self::Evaluated(_) => "error",
            Self::Unfinished => "unfinished",
        }
    }

    /// The error, if it came to one.
    pub fn error(&self) -> Option<&EvaluationError> {
        self.evaluation()?.result.as_ref().err()
    }

    /// The result as JSON, with the names that case files use; what is absent is `null`.
    pub fn to_json(&self) -> Value {
        let (error, limit) = (self.error(), self.error().and_then(EvaluationError::limit));
        json!({
            "status": self.status(),
            "value": self.value(),
            "error": error.and_then(EvaluationError::kind).map(|kind| kind.as_str()),
            "message": error.map(ToString::to_string),
            "resource": limit.map(|limit| limit.resource.as_str()),
            "limit": limit.map(|limit| limit.limit.clone()),
        })
    }

    /// The value, if it came to one: where failures are collected, the list of its outcomes.
    pub fn value(&self) -> Option<Value> {
        match self.evaluation()?.result.as_ref().ok()? {
            Answer::Value(value) => Some(value.clone()),
            Answer::Branches(branches) => Some(branches.iter().map(BranchOutcome::to_json).collect()),
        }
    }

    /// What it used, as JSON.
    pub fn consumption_to_json(&self) -> Value {
        self.evaluation().map(|evaluation| evaluation.consumption).unwrap_or_default().to_json()
    }

    /// The outcomes of branches where failures are collected; what is absent is `null`.
    pub(super) fn branches_to_json(&self) -> Value {
        let branch = |(index, branch): (usize, &BranchOutcome)| match branch {
            BranchOutcome::Success(value) => {
                json!({"index": index, "success": true, "value": value, "error": null, "message": null})
            }
            BranchOutcome::Failure { kind, message } => {
                json!({"index": index, "success": false, "value": null, "error": kind.as_str(), "message": message})
            }
        };
        match self.evaluation().map(|evaluation| &evaluation.result) {
            Some(Ok(Answer::Branches(branches))) => branches.iter().enumerate().map(branch).collect(),
            _ => Value::Array(Vec::new()),
        }
    }
}
