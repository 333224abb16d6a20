//! A case of kind `operations`.

use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::durable::{Acknowledgment, OperationKind, Record};
use windtunnel_fixtures::difference::Difference;

use super::expectation::Expectation;
use super::outcome::{FinishedOperation, OperationsOutcome};
use crate::case::definition::Kind;
use crate::case::store::Keeping;
use crate::case::trouble::Setting;
use crate::case::{CaseOutcome, CaseRun};

/// A journal, steps, and what happens to commits.
#[derive(Debug)]
pub(super) struct OperationsCase {
    pub(super) journal: Vec<Arc<Record>>,
    pub(super) steps: Arc<[CaseStep]>,
    pub(super) acknowledgments: Vec<Acknowledgment>,
    pub(super) expectation: Option<Expectation>,
}

/// An operation that is awaited before the next one.
#[derive(Debug)]
pub(super) struct CaseStep {
    pub(super) key: String,
    pub(super) kind: OperationKind,
    pub(super) callable: String,
    pub(super) version: String,
    pub(super) arguments: Value,
    /// What the callable returns, or the message that it fails with.
    pub(super) answer: Result<Value, String>,
}

/// The variables of assertions.
pub(super) const VARIABLES: [&str; 7] =
    ["results", "journal", "decided", "invocations", "events", "elapsed_ms", "faults"];

impl Kind for OperationsCase {
    fn draws(&self) -> bool {
        false
    }

    fn expects(&self) -> bool {
        self.expectation.is_some()
    }

    fn run(&self, setting: &Setting, keeping: &Keeping) -> CaseRun {
        self.play_with(setting, keeping)
    }

    #[cfg(feature = "sqlite")]
    fn has_journal(&self) -> bool {
        true
    }

    fn differences(&self, run: &CaseRun) -> Vec<Difference> {
        let expectation = self.expectation.iter();
        expectation.flat_map(|expectation| with_outcome(run, |outcome| expectation.compare(outcome))).collect()
    }

    fn variables(&self) -> &'static [&'static str] {
        &VARIABLES
    }

    fn variable(&self, name: &str, run: &CaseRun) -> Value {
        with_outcome(run, |outcome| match name {
            "results" => {
                let finished = self.steps.iter().zip(&outcome.operations).enumerate();
                finished
                    .filter_map(|(index, (step, operation))| Some(result(index, step, operation.as_ref()?)))
                    .collect()
            }
            "journal" => outcome.journal.iter().map(|record| record.to_json()).collect(),
            "decided" => json!(outcome.decided),
            _ => run.variable(name),
        })
    }
}

/// A result with what was asked.
fn result(index: usize, step: &CaseStep, operation: &FinishedOperation) -> Value {
    let mut result = operation.to_json();
    result["index"] = json!(index);
    result["kind"] = json!(step.kind);
    result["callable"] = json!(step.callable);
    result["version"] = json!(step.version);
    result
}

/// What came of the operations: nothing, in the run of a case of another kind.
fn with_outcome<T>(run: &CaseRun, read: impl FnOnce(&OperationsOutcome) -> T) -> T {
    match &run.outcome {
        CaseOutcome::Operations(outcome) => read(outcome),
        _ => read(&OperationsOutcome::default()),
    }
}
