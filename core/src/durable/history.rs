//! What a store holds of a workflow, read back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::claim::Wake;
use super::decision::Decision;
use super::record::Record;

/// A workflow with all its activations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowHistory {
    /// Its identifier.
    pub workflow_id: Arc<str>,
    /// Its name.
    pub workflow: Arc<str>,
    /// Its activations, in order. The last one is the only one that can be without a decision.
    pub activations: Vec<ActivationHistory>,
}

/// A record, and who committed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommittedRecord {
    /// The record.
    pub record: Arc<Record>,
    /// The attempt that made the call and committed it. Every later one is given the record instead. 0 for a record that was
    /// put there by no attempt, as [`MemoryStore::seed`](super::MemoryStore::seed) does.
    pub attempt: u64,
}

/// An activation with all that is committed of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivationHistory {
    /// Its identifier, unique in its workflow.
    pub activation_id: Arc<str>,
    /// Where it begins, and with what.
    pub checkpoint: Checkpoint,
    /// Why it began; nothing while it waits for an event.
    pub wake: Option<Wake>,
    /// How often it was claimed.
    pub attempts: u64,
    /// How many attempts said that they failed.
    pub failures: u32,
    /// Its records, in the order of their commits.
    pub records: Vec<CommittedRecord>,
    /// How it ended, and the attempt that committed that.
    pub decision: Option<(Decision, u64)>,
}

impl WorkflowHistory {
    /// How the workflow ended, if it did: [`Decision::Complete`] or [`Decision::Fail`].
    pub fn outcome(&self) -> Option<&Decision> {
        let (decision, _) = self.activations.last()?.decision.as_ref()?;
        decision.checkpoint().is_none().then_some(decision)
    }

    /// The activation with this identifier.
    pub fn activation(&self, activation_id: &str) -> Option<&ActivationHistory> {
        self.activations.iter().find(|activation| &*activation.activation_id == activation_id)
    }
}
