//! How an evaluation ends, without the wording of failures.

use serde_json::Value;
use windtunnel_core::evaluator::{Answer, BranchOutcome, ErrorKind, Evaluation, EvaluationError, Resource};

use crate::cases::without_messages;

/// How an evaluation ends.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramEnd {
    /// With a value.
    Value(Value),
    /// With the outcomes of its branches.
    Branches(Vec<BranchEnd>),
    /// With a failure.
    Failed(ProgramFailure),
    /// With control flow.
    Interrupted,
}

/// How a branch ends whose failures are collected.
#[derive(Clone, Debug, PartialEq)]
pub enum BranchEnd {
    /// With a value.
    Value(Value),
    /// With a failure of this kind.
    Failed(ErrorKind),
}

/// A failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramFailure {
    /// Its kind.
    pub kind: ErrorKind,
    /// What ran out, if a limit was crossed.
    pub resource: Option<Resource>,
}

impl ProgramFailure {
    /// A failure that is no limit's.
    pub fn of_kind(kind: ErrorKind) -> Self {
        Self { kind, resource: None }
    }

    /// A limit was crossed.
    pub fn limit(resource: Resource) -> Self {
        Self { kind: ErrorKind::ExecutionLimit, resource: Some(resource) }
    }
}

impl ProgramEnd {
    /// How an evaluation of Windtunnel's evaluator ended.
    pub fn of(evaluation: &Evaluation) -> Self {
        match &evaluation.result {
            Ok(Answer::Value(value)) => Self::Value(without_messages(value)),
            Ok(Answer::Branches(branches)) => Self::Branches(branches.iter().map(BranchEnd::of).collect()),
            Err(error) => Self::of_error(error),
        }
    }

    fn of_error(error: &EvaluationError) -> Self {
        let resource = error.limit().map(|limit| limit.resource);
        error.kind().map_or(Self::Interrupted, |kind| Self::Failed(ProgramFailure { kind, resource }))
    }

    /// The kind of the failure, if it is one.
    pub fn failure(&self) -> Option<ErrorKind> {
        match self {
            Self::Failed(failure) => Some(failure.kind),
            _ => None,
        }
    }

    /// Whether nothing failed, in no branch either.
    pub fn is_free_of_failures(&self) -> bool {
        match self {
            Self::Value(_) => true,
            Self::Branches(branches) => branches.iter().all(|branch| matches!(branch, BranchEnd::Value(_))),
            Self::Failed(_) | Self::Interrupted => false,
        }
    }
}

impl BranchEnd {
    fn of(outcome: &BranchOutcome) -> Self {
        match outcome {
            BranchOutcome::Success(value) => Self::Value(without_messages(value)),
            BranchOutcome::Failure { kind, .. } => Self::Failed(*kind),
        }
    }
}
