//! What an attempt says of itself, as events. No values are in them.

use std::sync::Arc;
use std::time::Duration;

use super::binding::Binding;
use super::claim::{Claim, Fence};
use super::error::ErrorKind;
use super::record::Record;
use crate::event::{Emitter, EventKind, Subject};

/// Emits the events of one attempt.
#[derive(Clone)]
pub(super) struct Report {
    emitter: Emitter,
    workflow: Arc<str>,
    fence: Fence,
}

/// How an attempt ended.
pub(super) struct Finish {
    pub(super) status: &'static str,
    pub(super) decision: Option<&'static str>,
    pub(super) error: Option<&'static str>,
    pub(super) executed: usize,
    pub(super) replayed: usize,
    pub(super) duration: Duration,
}

impl Report {
    pub(super) fn new(emitter: Emitter, claim: &Claim) -> Self {
        Self { emitter, workflow: Arc::clone(&claim.workflow), fence: claim.fence.clone() }
    }

    async fn own(&self, event: impl FnOnce(Arc<str>, u64) -> EventKind) {
        let event = || event(Arc::clone(&self.workflow), self.fence.attempt);
        self.emitter.emit(&self.subject(), event).await;
    }

    fn subject(&self) -> Subject {
        Subject {
            run_id: Arc::clone(&self.fence.workflow_id),
            call_id: Some(Arc::clone(&self.fence.activation_id)),
            parent_id: None,
        }
    }

    pub(super) async fn started(&self, claim: &Claim) {
        let (entry, wake, records) = (Arc::clone(claim.checkpoint.entry()), claim.wake.name(), claim.records.len());
        self.own(|workflow, attempt| EventKind::ActivationStarted { workflow, entry, attempt, wake, records }).await;
    }

    pub(super) async fn decided(&self, decision: &'static str) {
        self.own(|workflow, attempt| EventKind::ActivationDecided { workflow, attempt, decision }).await;
    }

    pub(super) async fn reconciled(&self, status: &'static str) {
        self.own(|workflow, attempt| EventKind::ActivationReconciled { workflow, attempt, status }).await;
    }

    pub(super) async fn replaying(&self, records: usize) {
        self.own(|workflow, attempt| EventKind::ActivationReplayed { workflow, attempt, records }).await;
    }

    pub(super) async fn retrying(&self, cause: &'static str, delay: Duration) {
        let delay_s = delay.as_secs_f64();
        self.own(|workflow, attempt| EventKind::ActivationRetry { workflow, attempt, cause, delay_s }).await;
    }

    pub(super) async fn finished(&self, finish: Finish) {
        self.own(|workflow, attempt| finish.event(workflow, attempt)).await;
    }

    /// The attempt was dropped: nothing can wait in a destructor, so the world does not act here.
    pub(super) fn dropped(&self, finish: Finish) {
        let event = || finish.event(Arc::clone(&self.workflow), self.fence.attempt);
        self.emitter.emit_now(&self.subject(), event);
    }

    pub(super) async fn operation_started(&self, binding: &Binding) {
        let event = || EventKind::OperationStarted {
            operation: Arc::clone(binding.key()),
            kind: binding.kind().as_str(),
            callable: Arc::clone(binding.callable()),
            attempt: self.fence.attempt,
        };
        self.operation(binding.key(), event).await;
    }

    pub(super) async fn operation_executed(&self, key: &Arc<str>, error: Option<ErrorKind>, duration: Duration) {
        let event = || EventKind::OperationExecuted {
            operation: Arc::clone(key),
            status: if error.is_none() { "ok" } else { "error" },
            error: error.map(ErrorKind::as_str),
            duration_s: duration.as_secs_f64(),
        };
        self.operation(key, event).await;
    }

    pub(super) async fn operation_commit(&self, record: &Record) {
        let event = || EventKind::OperationCommit { operation: Arc::clone(record.key()), bytes: record.bytes() };
        self.operation(record.key(), event).await;
    }

    pub(super) async fn operation_committed(&self, key: &Arc<str>, status: &'static str) {
        self.operation(key, || EventKind::OperationCommitted { operation: Arc::clone(key), status }).await;
    }

    pub(super) async fn operation_replayed(&self, binding: &Binding) {
        let event = || EventKind::OperationReplayed {
            operation: Arc::clone(binding.key()),
            kind: binding.kind().as_str(),
            callable: Arc::clone(binding.callable()),
        };
        self.operation(binding.key(), event).await;
    }

    pub(super) async fn operation_refused(&self, key: &Arc<str>, error: ErrorKind) {
        let event = || EventKind::OperationRefused { operation: Arc::clone(key), error: error.as_str() };
        self.operation(key, event).await;
    }

    async fn operation(&self, key: &Arc<str>, event: impl FnOnce() -> EventKind) {
        let subject = Subject {
            run_id: Arc::clone(&self.fence.workflow_id),
            call_id: Some(Arc::clone(key)),
            parent_id: Some(Arc::clone(&self.fence.activation_id)),
        };
        self.emitter.emit(&subject, event).await;
    }
}

impl Finish {
    fn event(self, workflow: Arc<str>, attempt: u64) -> EventKind {
        let Self { status, decision, error, executed, replayed, duration } = self;
        let duration_s = duration.as_secs_f64();
        EventKind::ActivationFinished { workflow, attempt, status, decision, error, executed, replayed, duration_s }
    }
}
