//! What is promised, held against what is on disk and what happened outside.

use std::collections::BTreeMap;
use std::path::Path;

use windtunnel::durable::sqlite::SqliteStore;
use windtunnel::durable::{ActivationHistory, Decision, Fence, JournalStore, WorkflowHistory};
use windtunnel::env::Env;

use crate::effects::Line;
use crate::program::{OPERATIONS_PER_ROUND, ROUNDS, WORKFLOWS, keys, workflow_id};

/// What was found, all of it as promised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) operations: usize,
    pub(crate) released: usize,
    pub(crate) effects: usize,
    /// Effects beyond the first of their operation: the documented window (D8).
    pub(crate) repeats: usize,
    pub(crate) attempts: u64,
}

/// Checks everything when all workflows have ended.
pub(crate) fn check(file: &Path, lines: &[Line]) -> Counts {
    let mut counts = Counts::default();
    let effects = effects_by_key(lines);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let histories = runtime.block_on(read(file));
    for (index, history) in histories.iter().enumerate() {
        assert_eq!(history.activations.len(), ROUNDS as usize);
        let mut answers = Vec::new();
        for (round, activation) in (0..).zip(&history.activations) {
            check_activation(history, activation, round, &effects, &mut answers);
            counts.attempts += activation.attempts;
        }
        let completed = Decision::complete(serde_json::json!(answers)).unwrap();
        assert_eq!(history.outcome(), Some(&completed), "{} used what was committed", workflow_id(index));
        counts.operations += answers.len();
    }
    counts.released = check_released(lines, &histories);
    counts.effects = effects.values().map(Vec::len).sum();
    assert_eq!(effects.len(), counts.operations, "each operation has one idempotency key, and no other has it");
    counts.repeats = counts.effects - counts.operations;
    counts
}

/// The answers to the effects of each idempotency key, which is always of the same operation.
fn effects_by_key(lines: &[Line]) -> BTreeMap<&str, Vec<u64>> {
    let mut operations = BTreeMap::new();
    let mut effects = BTreeMap::<_, Vec<_>>::new();
    for line in lines {
        if let Line::Effect { key, operation, answer } = line {
            assert_eq!(operations.entry(key.as_str()).or_insert(operation), &operation);
            effects.entry(key.as_str()).or_default().push(*answer);
        }
    }
    effects
}

async fn read(file: &Path) -> Vec<WorkflowHistory> {
    let store = SqliteStore::open(file, Env::system()).await.unwrap();
    assert_eq!(store.workflow_ids().await.unwrap().len(), WORKFLOWS);
    let mut histories = Vec::new();
    for index in 0..WORKFLOWS {
        histories.push(store.read(&workflow_id(index)).await.unwrap().unwrap());
    }
    histories
}

fn check_activation(
    history: &WorkflowHistory,
    activation: &ActivationHistory,
    round: u32,
    effects: &BTreeMap<&str, Vec<u64>>,
    answers: &mut Vec<u64>,
) {
    assert_eq!(activation.records.len(), OPERATIONS_PER_ROUND);
    let fence = Fence {
        workflow_id: history.workflow_id.clone(),
        activation_id: activation.activation_id.clone(),
        attempt: activation.attempts,
    };
    for key in keys(round) {
        let committed = activation.records.iter().find(|committed| **committed.record.key() == *key).unwrap();
        let answer = committed.record.output().as_u64().unwrap();
        let happened = &effects[&*fence.idempotency_key(&key)];
        // Numbers are never given again, so a higher one would be of a call after the commit.
        assert_eq!(happened.last(), Some(&answer), "{key} ran again after it was committed: {happened:?}");
        answers.push(answer);
    }
}

/// Whether what workflows were given is what was read back, each time.
fn check_released(lines: &[Line], histories: &[WorkflowHistory]) -> usize {
    let mut released = 0;
    for line in lines {
        let Line::Released { workflow_id, activation_id, operation, answer } = line else { continue };
        let history = histories.iter().find(|history| *history.workflow_id == **workflow_id).unwrap();
        let activation = history.activation(activation_id).unwrap();
        let committed = activation.records.iter().find(|committed| **committed.record.key() == **operation).unwrap();
        assert_eq!(
            committed.record.output().as_u64(),
            Some(*answer),
            "{operation} was acknowledged with another result"
        );
        released += 1;
    }
    released
}
