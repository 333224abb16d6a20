//! What happened around durable workflows, seen from outside.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::durable::{Commit, Decision, Fence, Record};

/// A book outside of workers and stores, in which stores and callables write what they do. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct EffectLog {
    lines: Arc<Mutex<Vec<EffectLine>>>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectLine {
    /// When.
    pub at: Duration,
    /// In which attempt.
    pub fence: Fence,
    /// What.
    pub effect: Effect,
}

/// What can happen in an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The store gives the activation to it, with these records. Whether a worker hears of it is another question.
    Claimed(Vec<Arc<Record>>),
    /// The entry begins, or begins again within the attempt.
    EntryBegan,
    /// A callable begins.
    CallableStarted {
        /// The operation's key.
        key: Arc<str>,
        /// What the callable was given.
        idempotency_key: Arc<str>,
        /// Which run it is, of all.
        run: u64,
    },
    /// A callable ends.
    CallableEnded {
        /// Which run it was.
        run: u64,
        /// Whether it succeeded.
        is_ok: bool,
    },
    /// A callable is dropped before it ends.
    CallableDropped {
        /// Which run it was.
        run: u64,
    },
    /// A record is sent.
    RecordSent(Arc<Record>),
    /// The store has it, whether that is heard or not.
    RecordStored(Arc<Record>),
    /// The worker is told what became of it.
    RecordAnswered(Arc<Record>, Commit),
    /// The worker does not wait for the answer any more.
    RecordDropped(Arc<Record>),
    /// The entry is given the result of an operation.
    Released(Arc<str>, serde_json::Value),
    /// The entry does not wait for an operation any more.
    GivenUp(Arc<str>),
    /// A decision is sent.
    DecisionSent(Decision),
    /// The store has it.
    DecisionStored(Decision),
    /// The worker is told whether its lease begins anew.
    ExtensionAnswered(Commit),
}

impl EffectLog {
    /// An empty book.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a line.
    pub fn write(&self, at: Duration, fence: &Fence, effect: Effect) {
        self.lines.lock().push(EffectLine { at, fence: fence.clone(), effect });
    }

    /// A callable of this operation begins. Gives the number of the run, and how many there were of this operation before.
    pub fn begin_run(&self, at: Duration, fence: &Fence, key: &Arc<str>, idempotency_key: &Arc<str>) -> (u64, usize) {
        let mut lines = self.lines.lock();
        let runs = lines.iter().filter(|line| matches!(line.effect, Effect::CallableStarted { .. })).count() as u64;
        let before = lines.iter().filter(|line| {
            let is_run = matches!(&line.effect, Effect::CallableStarted { key: other, .. } if other == key);
            is_run && line.is_of(&fence.workflow_id, &fence.activation_id)
        });
        let before = before.count();
        let effect =
            Effect::CallableStarted { key: Arc::clone(key), idempotency_key: Arc::clone(idempotency_key), run: runs };
        lines.push(EffectLine { at, fence: fence.clone(), effect });
        (runs, before)
    }

    /// All that is written.
    pub fn lines(&self) -> Vec<EffectLine> {
        self.lines.lock().clone()
    }
}

impl EffectLine {
    /// Whether it is of this activation.
    pub fn is_of(&self, workflow_id: &str, activation_id: &str) -> bool {
        *self.fence.workflow_id == *workflow_id && *self.fence.activation_id == *activation_id
    }

    /// Whether it is of the same activation as another one.
    pub fn shares_activation(&self, other: &Self) -> bool {
        self.is_of(&other.fence.workflow_id, &other.fence.activation_id)
    }
}
