//! What an evaluation says of itself, as events.

use std::sync::Arc;
use std::time::Duration;

use super::error::{ErrorKind, EvaluationError};
use super::outcome::Evaluation;
use super::syntax::Program;
use crate::event::{Emitter, EventKind, Subject};

/// Emits the events of one evaluation.
pub(super) struct Report<'p> {
    emitter: &'p Emitter,
    pub(super) run_id: Arc<str>,
    pub(super) evaluation_id: Arc<str>,
    parent_id: Option<Arc<str>>,
    /// Whether anybody listened when it began.
    pub(super) is_heard: bool,
}

impl<'p> Report<'p> {
    pub(super) fn new(
        emitter: &'p Emitter,
        run_id: Arc<str>,
        evaluation_id: Arc<str>,
        parent_id: Option<Arc<str>>,
    ) -> Self {
        Self { emitter, run_id, evaluation_id, parent_id, is_heard: emitter.is_heard() }
    }

    pub(super) async fn started(&self, program: &Program) {
        let event = || EventKind::ProgramStarted {
            program: program.name().unwrap_or_default().into(),
            version: program.version().as_str(),
        };
        self.emitter.emit(&self.own_subject(), event).await;
    }

    pub(super) async fn finished(&self, evaluation: &Evaluation, duration: Duration) {
        let event = || {
            let error = evaluation.result.as_ref().err();
            EventKind::ProgramFinished {
                status: match error {
                    None => "ok",
                    Some(EvaluationError::Interrupted(_)) => "interrupted",
                    Some(_) => "error",
                },
                error: error.and_then(EvaluationError::kind).map(ErrorKind::as_str),
                nodes: evaluation.consumption.nodes,
                tool_calls: evaluation.consumption.tool_calls,
                duration_s: duration.as_secs_f64(),
            }
        };
        self.emitter.emit(&self.own_subject(), event).await;
    }

    /// The evaluation was dropped: nothing can wait in a destructor, so the world does not act here.
    pub(super) fn dropped(&self, nodes: u64, tool_calls: u64, duration: Duration) {
        let event = || EventKind::ProgramFinished {
            status: "cancelled",
            error: None,
            nodes,
            tool_calls,
            duration_s: duration.as_secs_f64(),
        };
        self.emitter.emit_now(&self.own_subject(), event);
    }

    /// About one call of a tool.
    pub(super) async fn emit(&self, call_id: Arc<str>, event: EventKind) {
        let (run_id, parent_id) = (Arc::clone(&self.run_id), Some(Arc::clone(&self.evaluation_id)));
        self.emitter.emit(&Subject { run_id, call_id: Some(call_id), parent_id }, || event).await;
    }

    fn own_subject(&self) -> Subject {
        Subject {
            run_id: Arc::clone(&self.run_id),
            call_id: Some(Arc::clone(&self.evaluation_id)),
            parent_id: self.parent_id.clone(),
        }
    }
}
