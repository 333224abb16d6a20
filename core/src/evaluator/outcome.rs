//! How an evaluation, or one branch of it, ends.

use serde_json::{Value, json};

use super::budget::Consumption;
use super::error::{ErrorKind, EvaluationError};

/// How one expression of a parallel program ended, where failures are collected (V8).
#[derive(Clone, Debug, PartialEq)]
pub enum BranchOutcome {
    /// With a value.
    Success(Value),
    /// With an error.
    Failure {
        /// Its kind.
        kind: ErrorKind,
        /// Its message.
        message: String,
    },
}

impl BranchOutcome {
    /// `{"success": true, "value": …}` or `{"success": false, "error": kind, "message": …}`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Success(value) => json!({"success": true, "value": value}),
            Self::Failure { kind, message } => json!({"success": false, "error": kind.as_str(), "message": message}),
        }
    }
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The value of its only expression, or the list of its values.
    Value(Value),
    /// One outcome for each expression, in order, where failures are collected (V8).
    Branches(Vec<BranchOutcome>),
}

impl Answer {
    /// The value, or the list of the outcomes' JSON.
    pub fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Branches(branches) => branches.iter().map(BranchOutcome::to_json).collect(),
        }
    }
}

/// What came of an evaluation, and what it used.
#[derive(Debug)]
pub struct Evaluation {
    /// What the program came to.
    pub result: Result<Answer, EvaluationError>,
    /// What it used up.
    pub consumption: Consumption,
}

impl Evaluation {
    /// The value, or the list of the outcomes' JSON where failures are collected.
    ///
    /// # Errors
    /// The evaluation's [`EvaluationError`].
    pub fn into_value(self) -> Result<Value, EvaluationError> {
        self.result.map(Answer::into_value)
    }
}
