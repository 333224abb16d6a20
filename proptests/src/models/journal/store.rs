//! What a store of journals answers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::durable::{
    ActivationHistory, Checkpoint, Claim, Claimed, Commit, Decision, Delivery, Fence, JOURNAL_BYTES_MAX, RECORDS_MAX,
    Record, Refusal, Started, Wake, WorkflowHistory,
};
use windtunnel_core::json::canonical;

use super::{StoreAnswer, StoreCall};
use crate::violation::{Violation, require};

/// The laws of `JournalStore` as a small interpreter: it is told every request and every answer, and says which answer is
/// wrong. What the laws leave open it takes over from the answer: which of several activations that are due for equally
/// long is claimed, and how activations are called.
#[derive(Clone, Debug, Default)]
pub struct StoreModel {
    now: Duration,
    /// In the order of their starts.
    workflows: Vec<WorkflowModel>,
}

#[derive(Clone, Debug)]
struct WorkflowModel {
    id: String,
    name: String,
    activations: Vec<ActivationModel>,
    events: Vec<(String, Value)>,
}

#[derive(Clone, Debug)]
struct ActivationModel {
    /// Once the store has told it.
    id: Option<Arc<str>>,
    checkpoint: Checkpoint,
    /// Nothing while it waits for an event.
    wake: Option<Wake>,
    /// From when on it can be claimed; never by itself, if there is no time.
    free_from: Option<Duration>,
    attempts: u64,
    /// The attempts that failed.
    failed: BTreeSet<u64>,
    records: Vec<Arc<Record>>,
    /// The attempts that committed them.
    committed_by: Vec<u64>,
    decision: Option<(Decision, u64)>,
}

impl StoreModel {
    /// A store with nothing in it, at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets time pass.
    pub fn advance(&mut self, duration: Duration) {
        self.now += duration;
    }

    /// What time it is.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// The times to come at which an activation can be claimed, in order.
    pub fn dues(&self) -> Vec<Duration> {
        let free = self.workflows.iter().filter_map(|workflow| workflow.open()?.free_from);
        free.filter(|due| *due > self.now).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How many more bytes a record may have that is committed with this fence, so that the journal is not over its bound.
    pub fn room(&self, fence: &Fence) -> usize {
        let activation = self.workflow(&fence.workflow_id).and_then(|workflow| {
            workflow.activations.iter().find(|activation| activation.id.as_ref() == Some(&fence.activation_id))
        });
        let records = activation.map_or(&[][..], |activation| &activation.records);
        let comma = usize::from(!records.is_empty());
        JOURNAL_BYTES_MAX.saturating_sub(journal_text(records).len() + comma)
    }

    /// Takes in a request with its answer.
    ///
    /// # Errors
    /// [`Violation`] if the laws ask for another answer.
    pub fn check(&mut self, call: &StoreCall, answer: &StoreAnswer) -> Result<(), Violation> {
        match (call, answer) {
            (StoreCall::Claim { workflows, lease }, StoreAnswer::Claimed(claimed)) => {
                self.check_claim(workflows, *lease, claimed)
            }
            (StoreCall::Read { workflow_id }, StoreAnswer::History(history)) => {
                self.check_history(workflow_id, history.as_ref())
            }
            _ => {
                let expected = self.expected(call);
                let answered = told(answer);
                require(answered == expected, call.name(), || {
                    format!("{call:?} at {:?} is answered with {answered}, and {expected} is right", self.now)
                })
            }
        }
    }

    /// The answer to whatever has only one.
    fn expected(&mut self, call: &StoreCall) -> String {
        let (now, ok_or) = (self.now, |done: Result<(), Refusal>| format!("{:?}", Commit::from(done)));
        match call {
            StoreCall::Start { workflow_id, workflow, checkpoint } => self.start(workflow_id, workflow, checkpoint),
            StoreCall::Extend { fence, lease } => {
                ok_or(self.current(fence).map(|open| open.free_from = Some(now + *lease)))
            }
            StoreCall::Retry { fence, after, is_failure } => ok_or(self.current(fence).map(|open| {
                open.free_from = Some(now + *after);
                if *is_failure {
                    open.failed.insert(fence.attempt);
                }
            })),
            StoreCall::CommitRecord { fence, record } => {
                ok_or(self.current(fence).and_then(|open| open.commit(record)))
            }
            StoreCall::CommitDecision { fence, decision } => ok_or(self.decide(fence, decision)),
            StoreCall::Deliver { workflow_id, key, payload } => self.deliver(workflow_id, key, payload),
            StoreCall::WorkflowIds => {
                format!("{:?}", self.workflows.iter().map(|workflow| &workflow.id).collect::<Vec<_>>())
            }
            StoreCall::Claim { .. } | StoreCall::Read { .. } => "an answer".to_owned(),
        }
    }

    fn workflow(&self, id: &str) -> Option<&WorkflowModel> {
        self.workflows.iter().find(|workflow| workflow.id == id)
    }

    fn start(&mut self, id: &str, name: &str, checkpoint: &Checkpoint) -> String {
        if !is_name(id) || !is_name(name) {
            return FAILED.to_owned();
        }
        let started = match self.workflow(id) {
            None => {
                let first = ActivationModel::new(checkpoint, Some(Wake::Started), Some(self.now));
                let (id, name) = (id.to_owned(), name.to_owned());
                self.workflows.push(WorkflowModel { id, name, activations: vec![first], events: Vec::new() });
                Started::New
            }
            Some(known) if known.name == name && same_checkpoint(&known.activations[0].checkpoint, checkpoint) => {
                Started::Already
            }
            Some(_) => Started::Conflict,
        };
        format!("{started:?}")
    }

    /// The activation of a fence, with the place of its workflow, if that attempt is the last one.
    fn fenced(&mut self, fence: &Fence) -> Result<(&mut WorkflowModel, usize), Refusal> {
        let workflow = self.workflows.iter_mut().find(|workflow| *workflow.id == *fence.workflow_id);
        let workflow = workflow.ok_or(Refusal::NoActivation)?;
        let place = workflow.activations.iter().position(|known| known.id.as_ref() == Some(&fence.activation_id));
        let place = place.ok_or(Refusal::NoActivation)?;
        let claimed = workflow.activations[place].attempts;
        if fence.attempt > claimed {
            return Err(Refusal::NoActivation);
        }
        if fence.attempt < claimed { Err(Refusal::Superseded) } else { Ok((workflow, place)) }
    }

    /// The same, if it has no decision yet.
    fn current(&mut self, fence: &Fence) -> Result<&mut ActivationModel, Refusal> {
        let (workflow, place) = self.fenced(fence)?;
        let activation = &mut workflow.activations[place];
        if activation.decision.is_some() { Err(Refusal::Closed) } else { Ok(activation) }
    }

    fn decide(&mut self, fence: &Fence, decision: &Decision) -> Result<(), Refusal> {
        let now = self.now;
        let (workflow, place) = self.fenced(fence)?;
        if let Some((decided, _)) = &workflow.activations[place].decision {
            return if decision_text(decided) == decision_text(decision) { Ok(()) } else { Err(Refusal::Closed) };
        }
        let next = match decision {
            Decision::Complete(_) | Decision::Fail { .. } => None,
            Decision::Continue(checkpoint) => Some((checkpoint, Some(Wake::Continued), Some(now))),
            Decision::Sleep { key, duration, checkpoint } => {
                Some((checkpoint, Some(Wake::Timer { key: Arc::clone(key) }), Some(now + *duration)))
            }
            Decision::WaitEvent { key, .. } if workflow.has_waited_for(key) => return Err(Refusal::EventKeyUsed),
            Decision::WaitEvent { key, timeout, checkpoint } => match workflow.event(key) {
                Some(payload) => {
                    let wake = Wake::Event { key: Arc::clone(key), payload: Arc::new(payload.clone()) };
                    Some((checkpoint, Some(wake), Some(now)))
                }
                None => Some((checkpoint, None, timeout.map(|timeout| now + timeout))),
            },
        };
        workflow.activations[place].decision = Some((decision.clone(), fence.attempt));
        if let Some((checkpoint, wake, free_from)) = next {
            workflow.activations.push(ActivationModel::new(checkpoint, wake, free_from));
        }
        Ok(())
    }

    fn deliver(&mut self, workflow_id: &str, key: &str, payload: &Value) -> String {
        if !is_name(key) || canonical(payload).len() > 64 * 1024 {
            return FAILED.to_owned();
        }
        let now = self.now;
        let workflow = self.workflows.iter_mut().find(|workflow| workflow.id == workflow_id);
        let delivery = workflow.map_or(Delivery::NoWorkflow, |workflow| workflow.deliver(key, payload, now));
        format!("{delivery:?}")
    }

    fn check_claim(&mut self, names: &[Arc<str>], lease: Duration, claimed: &Claimed) -> Result<(), Violation> {
        let now = self.now;
        let due = self.workflows.iter().filter(|workflow| names.iter().any(|name| **name == *workflow.name));
        let first = due.filter_map(|workflow| workflow.open()?.free_from).min();
        let claim = match (claimed, first) {
            (Claimed::Activation(claim), Some(first)) if first <= now => claim,
            (Claimed::Nothing { next }, _) if first.is_none_or(|first| first > now) => {
                let expected = first.map(|first| first - now);
                return require(*next == expected, "claim", || {
                    format!("at {now:?} the next is said to be due after {next:?}, and is after {expected:?}")
                });
            }
            _ => {
                let message =
                    format!("at {now:?} it gives {claimed:?}, and the first of {names:?} is due at {first:?}");
                return Err(Violation::new("claim", message));
            }
        };
        let workflow = self.workflows.iter_mut().find(|workflow| *workflow.id == *claim.fence.workflow_id);
        let workflow = workflow.filter(|workflow| workflow.open().is_some_and(|open| open.free_from == first));
        let Some(workflow) = workflow.filter(|workflow| names.iter().any(|name| **name == *workflow.name)) else {
            return Err(Violation::new("claim", format!("at {now:?} {:?} is not the first that is due", claim.fence)));
        };
        workflow.check_claimed(claim, now + lease)
    }

    fn check_history(&mut self, workflow_id: &str, history: Option<&WorkflowHistory>) -> Result<(), Violation> {
        let workflow = self.workflows.iter_mut().find(|workflow| workflow.id == workflow_id);
        match (workflow, history) {
            (None, None) => Ok(()),
            (Some(workflow), Some(history)) => workflow.check_history(history),
            (workflow, _) => {
                let is = if workflow.is_some() { "is not there" } else { "was never started" };
                Err(Violation::new("read", format!("{workflow_id:?} {is}")))
            }
        }
    }
}

const FAILED: &str = "an error";

fn told(answer: &StoreAnswer) -> String {
    match answer {
        StoreAnswer::Started(started) => format!("{started:?}"),
        StoreAnswer::Commit(commit) => format!("{commit:?}"),
        StoreAnswer::Delivery(delivery) => format!("{delivery:?}"),
        StoreAnswer::WorkflowIds(ids) => format!("{ids:?}"),
        StoreAnswer::Claimed(_) | StoreAnswer::History(_) => "an answer".to_owned(),
        StoreAnswer::Failed(_) => FAILED.to_owned(),
    }
}

impl WorkflowModel {
    fn open(&self) -> Option<&ActivationModel> {
        self.activations.last().filter(|last| last.decision.is_none())
    }

    fn event(&self, key: &str) -> Option<&Value> {
        self.events.iter().find(|(known, _)| known == key).map(|(_, payload)| payload)
    }

    fn has_waited_for(&self, key: &str) -> bool {
        let decisions = self.activations.iter().filter_map(|activation| activation.decision.as_ref());
        decisions
            .into_iter()
            .any(|(decision, _)| matches!(decision, Decision::WaitEvent { key: waited, .. } if **waited == *key))
    }

    fn deliver(&mut self, key: &str, payload: &Value, now: Duration) -> Delivery {
        if let Some(delivered) = self.event(key) {
            return if canonical(delivered) == canonical(payload) { Delivery::Already } else { Delivery::Conflict };
        }
        let is_awaited = self.awaited().is_some_and(|awaited| *awaited == *key);
        let has_waited = self.has_waited_for(key);
        let Some(open) = self.activations.last_mut().filter(|last| last.decision.is_none()) else {
            return Delivery::NoWorkflow;
        };
        if is_awaited && open.free_from.is_none_or(|timeout_at| now < timeout_at) {
            open.wake = Some(Wake::Event { key: key.into(), payload: Arc::new(payload.clone()) });
            open.free_from = Some(now);
        } else if has_waited {
            return Delivery::TooLate;
        }
        self.events.push((key.to_owned(), payload.clone()));
        Delivery::Accepted
    }

    /// The key of the event that it waits for.
    fn awaited(&self) -> Option<Arc<str>> {
        let [.., before, last] = &self.activations[..] else { return None };
        match &before.decision {
            Some((Decision::WaitEvent { key, .. }, _)) if last.wake.is_none() => Some(Arc::clone(key)),
            _ => None,
        }
    }

    fn check_claimed(&mut self, claim: &Claim, lease_until: Duration) -> Result<(), Violation> {
        let timeout = self.awaited().map(|key| Wake::Timeout { key });
        self.know(self.activations.len() - 1, &claim.fence.activation_id, "claim")?;
        let Some(open) = self.activations.last_mut() else { return Ok(()) };
        open.wake = open.wake.take().or(timeout);
        open.attempts += 1;
        open.free_from = Some(lease_until);
        let is_so = claim.fence.attempt == open.attempts
            && *claim.workflow == *self.name
            && same_checkpoint(&claim.checkpoint, &open.checkpoint)
            && same_wake(Some(&claim.wake), open.wake.as_ref())
            && journal_text(&claim.records) == journal_text(&open.records)
            && claim.failures as usize == open.failed.len();
        require(is_so, "claim", || format!("{claim:?} is given of {open:?}"))
    }

    /// Takes over what an activation is called.
    fn know(&mut self, place: usize, id: &Arc<str>, rule: &'static str) -> Result<(), Violation> {
        let is_taken = self.activations.iter().enumerate().any(|(other, known)| {
            (other == place && known.id.as_ref().is_some_and(|known| known != id))
                || (other != place && known.id.as_ref() == Some(id))
        });
        self.activations[place].id = Some(Arc::clone(id));
        require(!is_taken, rule, || format!("activation {place} is called {id:?}, which is not its name or another's"))
    }

    fn check_history(&mut self, history: &WorkflowHistory) -> Result<(), Violation> {
        let is_so = *history.workflow_id == *self.id
            && *history.workflow == *self.name
            && history.activations.len() == self.activations.len();
        require(is_so, "read", || format!("{history:?} is read of {self:?}"))?;
        for (place, read) in history.activations.iter().enumerate() {
            self.know(place, &read.activation_id, "read")?;
            let known = &self.activations[place];
            require(known.is_read_as(read), "read", || format!("{read:?} is read of {known:?}"))?;
        }
        Ok(())
    }
}

impl ActivationModel {
    fn new(checkpoint: &Checkpoint, wake: Option<Wake>, free_from: Option<Duration>) -> Self {
        Self {
            id: None,
            checkpoint: checkpoint.clone(),
            wake,
            free_from,
            attempts: 0,
            failed: BTreeSet::new(),
            records: Vec::new(),
            committed_by: Vec::new(),
            decision: None,
        }
    }

    fn commit(&mut self, record: &Arc<Record>) -> Result<(), Refusal> {
        if let Some(stored) = self.records.iter().find(|stored| stored.key() == record.key()) {
            return if stored.canonical() == record.canonical() { Ok(()) } else { Err(Refusal::Conflict) };
        }
        let mut records = self.records.clone();
        records.push(Arc::clone(record));
        if records.len() > RECORDS_MAX || journal_text(&records).len() > JOURNAL_BYTES_MAX {
            return Err(Refusal::OverBound);
        }
        self.records = records;
        // Only the last attempt commits.
        self.committed_by.push(self.attempts);
        Ok(())
    }

    fn is_read_as(&self, read: &ActivationHistory) -> bool {
        let by = |decision: &Option<(Decision, u64)>| decision.as_ref().map(|(made, by)| (decision_text(made), *by));
        let records: Vec<_> = read.records.iter().map(|committed| Arc::clone(&committed.record)).collect();
        same_checkpoint(&read.checkpoint, &self.checkpoint)
            && same_wake(read.wake.as_ref(), self.wake.as_ref())
            && read.attempts == self.attempts
            && read.failures as usize == self.failed.len()
            && journal_text(&records) == journal_text(&self.records)
            && read.records.iter().map(|committed| committed.attempt).eq(self.committed_by.iter().copied())
            && by(&read.decision) == by(&self.decision)
    }
}

/// The canonical encoding of a journal, which its bound counts.
fn journal_text(records: &[Arc<Record>]) -> String {
    let records: Vec<&str> = records.iter().map(|record| record.canonical()).collect();
    format!("[{}]", records.join(","))
}

fn same_checkpoint(one: &Checkpoint, other: &Checkpoint) -> bool {
    one.entry() == other.entry() && canonical(one.state()) == canonical(other.state())
}

fn same_wake(one: Option<&Wake>, other: Option<&Wake>) -> bool {
    match (one, other) {
        (Some(Wake::Event { key, payload }), Some(Wake::Event { key: other_key, payload: other_payload })) => {
            key == other_key && canonical(payload) == canonical(other_payload)
        }
        _ => one == other,
    }
}

/// All of a decision, where numbers keep their identity.
fn decision_text(decision: &Decision) -> String {
    let values = match decision {
        Decision::Complete(output) => canonical(output),
        Decision::Fail { message, .. } => message.to_string(),
        Decision::Sleep { duration, .. } => format!("{duration:?}"),
        Decision::WaitEvent { timeout, .. } => format!("{timeout:?}"),
        Decision::Continue(_) => String::new(),
    };
    let state = decision.checkpoint().map(|next| canonical(next.state()));
    format!("{decision:?} {values} {state:?}")
}

/// A name that may be kept.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 128 && !name.chars().any(char::is_control)
}
