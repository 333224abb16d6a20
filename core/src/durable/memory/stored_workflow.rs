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
use super::super::history::{ActivationHistory, WorkflowHistory};
use super::super::journal::Journal;
use super::super::record::Record;
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
    attempt: u64,
    failures: u32,
    /// Until when the last attempt has it alone.
    lease_until: Option<Duration>,
    decision: Option<(Decision, u64)>,
}

/// When an activation is due, and why.
#[derive(Debug)]
enum Begins {
    At(Duration, Wake),
    /// When the event comes, or at the timeout.
    WithEvent {
        key: Arc<str>,
        timeout_at: Option<Duration>,
    },
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
        &*self.name == name && self.activations.first().is_some_and(|first| first.checkpoint == *checkpoint)
    }

    fn open(&mut self, checkpoint: Checkpoint, begins: Begins) {
        let id = format!("activation-{}", self.activations.len() + 1).into();
        self.activations.push(StoredActivation {
            id,
            checkpoint,
            begins,
            journal: Journal::new(),
            attempt: 0,
            failures: 0,
            lease_until: None,
            decision: None,
        });
    }

    /// When its open activation can be claimed, unless that depends on an event or there is none.
    pub(super) fn due(&self) -> Option<Duration> {
        let open = self.activations.last().filter(|last| last.decision.is_none())?;
        let due = match &open.begins {
            Begins::At(at, _) => *at,
            Begins::WithEvent { timeout_at, .. } => (*timeout_at)?,
        };
        Some(open.lease_until.map_or(due, |lease_until| lease_until.max(due)))
    }

    /// Claims the open activation, which must be due.
    pub(super) fn claim(&mut self, now: Duration, lease: Duration) -> Option<Claim> {
        let (workflow_id, workflow) = (Arc::clone(&self.id), Arc::clone(&self.name));
        let open = self.activations.last_mut()?;
        if let Begins::WithEvent { key, .. } = &open.begins {
            open.begins = Begins::At(now, Wake::Timeout { key: Arc::clone(key) });
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
        match fence.attempt.cmp(&stored.attempt) {
            std::cmp::Ordering::Equal => Ok(stored),
            std::cmp::Ordering::Less => Err(Refusal::Superseded),
            std::cmp::Ordering::Greater => Err(Refusal::NoActivation),
        }
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
        if is_failure {
            open.failures = open.failures.saturating_add(1);
        }
        Ok(())
    }

    pub(super) fn commit_record(&mut self, fence: &Fence, record: Arc<Record>) -> Result<(), Refusal> {
        let open = self.fenced_open(fence)?;
        match open.journal.get(record.key()) {
            Some(stored) if *stored == record => Ok(()),
            Some(_) => Err(Refusal::Conflict),
            None => open.journal.push(record).map_err(|_: DurableError| Refusal::OverBound),
        }
    }

    pub(super) fn commit_decision(&mut self, fence: &Fence, decision: Decision, now: Duration) -> Result<(), Refusal> {
        let stored = self.fenced(fence)?;
        if let Some((committed, by)) = &stored.decision {
            let is_repeat = *committed == decision && *by == fence.attempt;
            return if is_repeat { Ok(()) } else { Err(Refusal::Closed) };
        }
        let next = self.next(&decision, now)?;
        self.fenced(fence)?.decision = Some((decision, fence.attempt));
        if let Some((checkpoint, begins)) = next {
            self.open(checkpoint, begins);
        }
        Ok(())
    }

    /// What comes after a decision.
    fn next(&mut self, decision: &Decision, now: Duration) -> Result<Option<(Checkpoint, Begins)>, Refusal> {
        Ok(match decision {
            Decision::Complete(_) | Decision::Fail { .. } => None,
            Decision::Continue(checkpoint) => Some((checkpoint.clone(), Begins::At(now, Wake::Continued))),
            Decision::Sleep { key, duration, checkpoint } => {
                let wake = Wake::Timer { key: Arc::clone(key) };
                Some((checkpoint.clone(), Begins::At(now.saturating_add(*duration), wake)))
            }
            Decision::WaitEvent { key, timeout, checkpoint } => {
                if !self.waited.insert(Arc::clone(key)) {
                    return Err(Refusal::EventKeyUsed);
                }
                let begins = match self.events.get(key) {
                    Some(payload) => Begins::At(now, event(key, payload)),
                    None => Begins::WithEvent {
                        key: Arc::clone(key),
                        timeout_at: timeout.map(|timeout| now.saturating_add(timeout)),
                    },
                };
                Some((checkpoint.clone(), begins))
            }
        })
    }

    pub(super) fn deliver(&mut self, key: &str, payload: Arc<Value>, now: Duration) -> Delivery {
        if let Some(delivered) = self.events.get(key) {
            let is_repeat = crate::json::canonical(delivered) == crate::json::canonical(&payload);
            return if is_repeat { Delivery::Already } else { Delivery::Conflict };
        }
        let Some(open) = self.activations.last_mut().filter(|last| last.decision.is_none()) else {
            return Delivery::NoWorkflow;
        };
        match &open.begins {
            Begins::WithEvent { key: waits_for, timeout_at } if &**waits_for == key => {
                // At the timeout the wait is over, whether that was seen or not.
                if timeout_at.is_some_and(|timeout_at| now >= timeout_at) {
                    return Delivery::TooLate;
                }
                open.begins = Begins::At(now, event(key, &payload));
            }
            _ if self.waited.contains(key) => return Delivery::TooLate,
            _ => {}
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
            records: stored.journal.records().to_vec(),
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
        records.into_iter().try_for_each(|record| open.journal.push(record))
    }
}

fn event(key: &str, payload: &Arc<Value>) -> Wake {
    Wake::Event { key: key.into(), payload: Arc::clone(payload) }
}
