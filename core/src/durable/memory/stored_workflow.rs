//! One workflow in the store: a line of activations, of which the last one may be open. Knows no clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::super::checkpoint::Checkpoint;
use super::super::claim::{Claim, Fence, Wake};
use super::super::commit::Refusal;
use super::super::decision::Decision;
use super::super::error::DurableError;
use super::super::history::{ActivationHistory, CommittedRecord, WorkflowHistory};
use super::super::journal::Journal;
use super::super::record::Record;
use super::super::rules::{Arrival, Begins, Expectation, activation_id, check_fence, decided_again, is_same};
use super::super::store::Delivery;

/// A workflow. `now` is always the time of the store's clock.
#[derive(Debug)]
pub(super) struct StoredWorkflow {
    id: Arc<str>,
    name: Arc<str>,
    activations: Vec<StoredActivation>,
    events: BTreeMap<Arc<str>, Arc<Value>>,
    /// The keys of events that it has waited for: each once.
    waited: BTreeSet<Arc<str>>,
}

#[derive(Debug)]
struct StoredActivation {
    id: Arc<str>,
    checkpoint: Checkpoint,
    begins: Begins,
    journal: Journal,
    /// The attempts that committed its records; 0 for what none did.
    committed_by: Vec<u64>,
    attempt: u64,
    failures: u32,
    /// The last attempt that is counted there.
    failed: u64,
    /// Until when the last attempt has it alone.
    lease_until: Option<Duration>,
    decision: Option<(Decision, u64)>,
}

impl StoredWorkflow {
    pub(super) fn new(id: &str, name: &str, checkpoint: Checkpoint, now: Duration) -> Self {
        let mut workflow = Self {
            id: id.into(),
            name: name.into(),
            activations: Vec::new(),
            events: BTreeMap::new(),
            waited: BTreeSet::new(),
        };
        workflow.open(checkpoint, Begins::At(now, Wake::Started));
        workflow
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it was started so.
    pub(super) fn began_with(&self, name: &str, checkpoint: &Checkpoint) -> bool {
        &*self.name == name && self.activations.first().is_some_and(|first| is_same(&first.checkpoint, checkpoint))
    }

    fn open(&mut self, checkpoint: Checkpoint, begins: Begins) {
        let id = activation_id(self.activations.len() + 1);
        self.activations.push(StoredActivation {
            id,
            checkpoint,
            begins,
            journal: Journal::new(),
            committed_by: Vec::new(),
            attempt: 0,
            failures: 0,
            failed: 0,
            lease_until: None,
            decision: None,
        });
    }

    /// When its open activation can be claimed, unless that depends on an event or there is none.
    pub(super) fn due(&self) -> Option<Duration> {
        let open = self.activations.last().filter(|last| last.decision.is_none())?;
        let due = open.begins.due()?;
        Some(open.lease_until.map_or(due, |lease_until| lease_until.max(due)))
    }

    /// Claims the open activation, which must be due.
    pub(super) fn claim(&mut self, now: Duration, lease: Duration) -> Option<Claim> {
        let (workflow_id, workflow) = (Arc::clone(&self.id), Arc::clone(&self.name));
        let open = self.activations.last_mut()?;
        if let Begins::WithEvent { key, .. } = &open.begins {
            open.begins = Begins::timed_out(key, now);
        }
        let Begins::At(_, wake) = &open.begins else { return None };
        open.attempt += 1;
        open.lease_until = Some(now.saturating_add(lease));
        Some(Claim {
            fence: Fence { workflow_id, activation_id: Arc::clone(&open.id), attempt: open.attempt },
            workflow,
            checkpoint: open.checkpoint.clone(),
            wake: wake.clone(),
            records: open.journal.records().to_vec(),
            failures: open.failures,
        })
    }

    /// The activation, if this attempt of it is the last one.
    fn fenced(&mut self, fence: &Fence) -> Result<&mut StoredActivation, Refusal> {
        let stored = self.activations.iter_mut().find(|stored| stored.id == fence.activation_id);
        let stored = stored.ok_or(Refusal::NoActivation)?;
        check_fence(fence.attempt, stored.attempt)?;
        Ok(stored)
    }

    fn fenced_open(&mut self, fence: &Fence) -> Result<&mut StoredActivation, Refusal> {
        let stored = self.fenced(fence)?;
        if stored.decision.is_some() { Err(Refusal::Closed) } else { Ok(stored) }
    }

    pub(super) fn extend(&mut self, fence: &Fence, lease_until: Duration) -> Result<(), Refusal> {
        self.fenced_open(fence)?.lease_until = Some(lease_until);
        Ok(())
    }

    pub(super) fn retry(&mut self, fence: &Fence, due: Duration, is_failure: bool) -> Result<(), Refusal> {
        let open = self.fenced_open(fence)?;
        open.lease_until = Some(due);
        // A repeat does not count again.
        if is_failure && open.failed != fence.attempt {
            open.failed = fence.attempt;
            open.failures = open.failures.saturating_add(1);
        }
        Ok(())
    }

    pub(super) fn commit_record(&mut self, fence: &Fence, record: Arc<Record>) -> Result<(), Refusal> {
        let open = self.fenced_open(fence)?;
        match open.journal.get(record.key()) {
            Some(stored) if *stored == record => Ok(()),
            Some(_) => Err(Refusal::Conflict),
            None => open.push(record, fence.attempt).map_err(|_: DurableError| Refusal::OverBound),
        }
    }

    pub(super) fn commit_decision(&mut self, fence: &Fence, decision: Decision, now: Duration) -> Result<(), Refusal> {
        let stored = self.fenced(fence)?;
        if let Some((committed, by)) = &stored.decision {
            return decided_again(committed, *by, &decision, fence.attempt);
        }
        let kept = match &decision {
            Decision::WaitEvent { key, .. } if !self.waited.insert(Arc::clone(key)) => {
                return Err(Refusal::EventKeyUsed);
            }
            Decision::WaitEvent { key, .. } => self.events.get(key),
            _ => None,
        };
        let next = Begins::after(&decision, now, kept);
        self.fenced(fence)?.decision = Some((decision, fence.attempt));
        if let Some((checkpoint, begins)) = next {
            self.open(checkpoint, begins);
        }
        Ok(())
    }

    pub(super) fn deliver(&mut self, key: &str, payload: Arc<Value>, now: Duration) -> Delivery {
        let open = self.activations.last_mut().filter(|last| last.decision.is_none());
        let expectation = Expectation {
            delivered: self.events.get(key).map(|delivered| &**delivered),
            is_open: open.is_some(),
            waits_for: open.as_ref().and_then(|open| match &open.begins {
                Begins::WithEvent { key, timeout_at } => Some((&**key, *timeout_at)),
                Begins::At(..) => None,
            }),
            has_waited: self.waited.contains(key),
        };
        match expectation.meet(key, &payload, now) {
            Arrival::Refused(delivery) => return delivery,
            Arrival::Kept => {}
            Arrival::Wakes => {
                if let Some(open) = open {
                    open.begins = Begins::with_event(key, &payload, now);
                }
            }
        }
        self.events.insert(key.into(), payload);
        Delivery::Accepted
    }

    pub(super) fn history(&self) -> WorkflowHistory {
        let activation = |stored: &StoredActivation| ActivationHistory {
            activation_id: Arc::clone(&stored.id),
            checkpoint: stored.checkpoint.clone(),
            wake: match &stored.begins {
                Begins::At(_, wake) => Some(wake.clone()),
                Begins::WithEvent { .. } => None,
            },
            attempts: stored.attempt,
            failures: stored.failures,
            records: stored.records(),
            decision: stored.decision.clone(),
        };
        WorkflowHistory {
            workflow_id: Arc::clone(&self.id),
            workflow: Arc::clone(&self.name),
            activations: self.activations.iter().map(activation).collect(),
        }
    }

    /// Puts records where the first attempt finds them.
    pub(super) fn seed(&mut self, records: impl IntoIterator<Item = Arc<Record>>) -> Result<(), DurableError> {
        let Some(open) = self.activations.last_mut() else { return Ok(()) };
        records.into_iter().try_for_each(|record| open.push(record, 0))
    }
}

impl StoredActivation {
    fn push(&mut self, record: Arc<Record>, attempt: u64) -> Result<(), DurableError> {
        self.journal.push(record)?;
        self.committed_by.push(attempt);
        Ok(())
    }

    fn records(&self) -> Vec<CommittedRecord> {
        let records = self.journal.records().iter().zip(&self.committed_by);
        records.map(|(record, attempt)| CommittedRecord { record: Arc::clone(record), attempt: *attempt }).collect()
    }
}
