//! What a durable workflow comes to (D2, D3, D5).

use serde_json::{Value, json};
use windtunnel_core::durable::{ActivationHistory, Decision, Wake, WorkflowHistory};

use crate::cases::{ActivationCase, CallableEnding, Manners, NextCase, StepCase, WorkflowCase, operation_key};
use crate::violation::{Violation, require};

/// The arithmetic of a [`WorkflowCase`], which both its model and the entries that act it out follow.
pub mod arithmetic {
    /// What operations are given: the number that the activation began with, and their places.
    pub fn result(begun_with: u64, operation: usize) -> u64 {
        (begun_with * 31 + operation as u64 * 7 + 1) % 1_000_003
    }

    /// What becomes of the number with a result, a payload, or the lack of one.
    pub fn with(number: u64, value: u64) -> u64 {
        (number * 17 + value) % 1_000_003
    }

    /// Stands for the result of an operation that failed without harm.
    pub const NO_RESULT: u64 = 999;
    /// Stands for the payload of an event that did not come.
    pub const NO_EVENT: u64 = 998;
}

/// A workflow's end, by plain interpretation: every operation runs once and nothing is lost. Whether an event came in time
/// is taken over from the history; nothing else is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowPrediction {
    /// What each activation begins with.
    pub begun_with: Vec<u64>,
    /// How it ends.
    pub end: WorkflowEnd,
}

/// How a workflow ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkflowEnd {
    /// It completes with a number.
    Completes(u64),
    /// It fails with a kind, and names the key of an operation if one is to blame.
    Fails(&'static str, Option<String>),
    /// It waits for an event.
    Waits,
}

impl WorkflowPrediction {
    /// Interprets a case.
    pub fn of(case: &WorkflowCase, history: &WorkflowHistory) -> Self {
        let mut begun_with = vec![0];
        let mut number = 0;
        let mut waited = Vec::new();
        let last = case.activations.len() - 1;
        for (place, activation) in case.activations.iter().enumerate() {
            let woken = history.activations.get(place).and_then(|read| read.wake.as_ref());
            let waits = place > 0 && matches!(case.activations[place - 1].next, NextCase::WaitEvent { .. });
            number = match woken {
                None => return Self { begun_with, end: WorkflowEnd::Waits },
                Some(Wake::Event { payload, .. }) if waits => {
                    arithmetic::with(number, payload.as_u64().unwrap_or_default())
                }
                Some(_) if waits => arithmetic::with(number, arithmetic::NO_EVENT),
                Some(_) => number,
            };
            number = match interpreted(activation, begun_with[place], number) {
                Ok(number) => number,
                Err(key) => {
                    let end = match activation.manners {
                        Manners::PassesOn | Manners::Ignores => WorkflowEnd::Fails("call-failed", Some(key)),
                        Manners::Hides => WorkflowEnd::Fails("entry-failed", None),
                        Manners::Panics => WorkflowEnd::Fails("entry-panicked", None),
                    };
                    return Self { begun_with, end };
                }
            };
            if place == last {
                let end =
                    if case.completes { WorkflowEnd::Completes(number) } else { WorkflowEnd::Fails("refused", None) };
                return Self { begun_with, end };
            }
            if let NextCase::WaitEvent { key, .. } = activation.next {
                if waited.contains(&key) {
                    return Self { begun_with, end: WorkflowEnd::Fails("decision-refused", None) };
                }
                waited.push(key);
            }
            begun_with.push(number);
        }
        Self { begun_with, end: WorkflowEnd::Waits }
    }

    /// Whether the history is the predicted one.
    ///
    /// # Errors
    /// [`Violation`] with what is not.
    pub fn check(&self, case: &WorkflowCase, history: &WorkflowHistory) -> Result<(), Violation> {
        let id = &history.workflow_id;
        require(history.activations.len() == self.begun_with.len(), "D5", || {
            format!("{id:?} has {} activations, and {} are right", history.activations.len(), self.begun_with.len())
        })?;
        let mut runs = Vec::new();
        for (place, activation) in history.activations.iter().enumerate() {
            let state = json!({"activation": place, "number": self.begun_with[place], "runs": runs});
            require(**activation.checkpoint.state() == state, "D5", || {
                format!(
                    "activation {place} of {id:?} begins with {}, and {state} is right",
                    activation.checkpoint.state()
                )
            })?;
            check_records(&case.activations[place], activation, self.begun_with[place])?;
            runs.extend(used_runs(&case.activations[place], activation));
        }
        let end = history.outcome();
        let is_so = match (&self.end, end) {
            (WorkflowEnd::Waits, None) => true,
            (WorkflowEnd::Completes(number), Some(Decision::Complete(output))) => {
                **output == json!({"number": number, "runs": runs})
            }
            (WorkflowEnd::Fails(kind, key), Some(Decision::Fail { kind: failed, message })) => {
                **failed == **kind && key.as_ref().is_none_or(|key| message.contains(key.as_str()))
            }
            _ => false,
        };
        require(is_so, "D5", || {
            format!("{id:?} ends with {end:?}, and {:?} is right, with the runs {runs:?}", self.end)
        })
    }
}

/// The number that an activation passes on, or the key of the operation that it fails with.
fn interpreted(activation: &ActivationCase, begun_with: u64, number: u64) -> Result<u64, String> {
    let steps = activation.steps.iter().filter_map(|step| match step {
        StepCase::AtOnce(places) => Some(places),
        StepCase::Dropped { .. } => None,
    });
    steps.flatten().try_fold(number, |number, place| {
        let operation = activation.operation(*place);
        match activation.operations[operation].ending {
            CallableEnding::Succeeds | CallableEnding::FailsFirst => {
                Ok(arithmetic::with(number, arithmetic::result(begun_with, operation)))
            }
            CallableEnding::FailsUnminded => Ok(arithmetic::with(number, arithmetic::NO_RESULT)),
            CallableEnding::Fails => Err(operation_key(operation)),
        }
    })
}

/// Only operations of the case are recorded, with their results; and, where a decision was made, all of those it needs.
fn check_records(case: &ActivationCase, read: &ActivationHistory, begun_with: u64) -> Result<(), Violation> {
    for record in read.records.iter().map(|committed| &committed.record) {
        let place = (0..case.operations.len()).find(|place| operation_key(*place) == **record.key());
        let value = record.output().get("value").and_then(Value::as_u64);
        let is_so = place.is_some_and(|place| value == Some(arithmetic::result(begun_with, place)));
        require(is_so, "D2", || format!("{} is recorded in {read:?}", record.canonical()))?;
    }
    Ok(())
}

/// The numbers of the runs whose results an activation used, in the order of their use.
fn used_runs(case: &ActivationCase, read: &ActivationHistory) -> Vec<Value> {
    let used = case.steps.iter().flat_map(|step| match step {
        StepCase::AtOnce(places) => &places[..],
        StepCase::Dropped { .. } => &[],
    });
    let record = |place: &usize| {
        let key = operation_key(case.operation(*place));
        read.records.iter().map(|committed| &committed.record).find(|record| **record.key() == *key)
    };
    used.filter_map(record).map(|record| record.output()["run"].clone()).collect()
}
