//! The calls of one turn, each an operation.

use std::sync::Arc;

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::Value;

use super::approval::EventPort;
use super::result::{CallOutcome, CallRecord};
use super::state::{PendingApproval, ToolLoopState};
use super::steps::ToolLoop;
use crate::durable::binding::OperationKind;
use crate::durable::context::WorkflowContext;
use crate::durable::error::DurableError;
use crate::executor::{Asked, Decision, LoopRun, ToolCall, answer, unanswered};
use crate::tool::Interrupted;

/// What stands for a tool that the executor does not have.
const UNKNOWN_TOOL: &str = "unknown-tool";

/// What became of the calls of a turn.
pub(super) enum Made {
    /// All have their results in the conversation.
    All,
    /// At least one waits for approval.
    Some,
    /// None was made: they are more than are left.
    None,
}

/// All that a call depends on.
#[derive(Serialize)]
struct CallArguments {
    tool: String,
    arguments: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
}

impl ToolLoop {
    /// Makes the calls of the last turn that have no result and wait for no decision.
    pub(super) async fn make_calls(
        &self,
        context: &WorkflowContext,
        run: &Arc<LoopRun>,
        state: &mut ToolLoopState,
    ) -> Result<Made, DurableError> {
        let calls = unanswered(state.messages());
        if state.pending.is_empty() {
            let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
            match state.calls.checked_add(count) {
                Some(calls) if calls <= self.budget.calls_max => state.calls = calls,
                _ => return Ok(Made::None),
            }
        }
        let waits = |call: &ToolCall| state.pending.iter().any(|pending| pending.waits_for(call));
        let calls: Vec<_> = calls.into_iter().filter(|call| !waits(call)).collect();
        let turn = state.turns.checked_sub(1);
        self.count_recorded(context, run, turn, &calls);
        let made = calls.iter().map(|call| {
            let pending = state.pending.iter().find(|pending| *pending.call_id == *call.id);
            self.make_call(context, run, turn, call, pending)
        });
        // All of them come to their end: an error of one takes nothing from the others.
        let records = join_all(made).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        state.pending.retain(|pending| pending.decision.is_none());
        for (call, record) in calls.iter().zip(records) {
            self.take_in(context, turn, call, record, state);
        }
        Ok(if state.pending.is_empty() { Made::All } else { Made::Some })
    }

    /// Counts what earlier attempts made, before anything new is made.
    fn count_recorded(&self, context: &WorkflowContext, run: &LoopRun, turn: Option<u32>, calls: &[ToolCall]) {
        for call in calls {
            let recorded = context.recorded(&self.keys.tool(turn, &call.id));
            if recorded.is_some_and(|record| record["counted"] == Value::Bool(true)) {
                run.count(call);
            }
        }
    }

    async fn make_call(
        &self,
        context: &WorkflowContext,
        run: &Arc<LoopRun>,
        turn: Option<u32>,
        call: &ToolCall,
        pending: Option<&PendingApproval>,
    ) -> Result<CallRecord, DurableError> {
        let is_known = self.executor.registry().get(&call.name).is_some();
        let callable = if is_known { call.name.as_str() } else { UNKNOWN_TOOL };
        let arguments = CallArguments {
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            decision: pending.and_then(|pending| pending.decision.clone()),
        };
        let port = Arc::new(EventPort::new(run.approval_port().cloned(), pending));
        let approval_id = self.keys.approval(turn, &call.id).into();
        let (run, id) = (Arc::clone(run), call.id.clone());
        let key = self.keys.tool(turn, &call.id);
        let version = self.version_of(&call.name);
        context
            .operation(&key, OperationKind::Tool, callable, version, arguments, |arguments, operation| async move {
                let call = ToolCall { id, name: arguments.tool, arguments: arguments.arguments };
                let asked = Asked { approval_id, port: port.clone() };
                let result = run.call(call.clone(), operation.idempotency_key, asked).await?;
                Ok::<_, Interrupted>(CallRecord::new(result, port.asked_for(), run.has_counted(&call)))
            })
            .await
    }

    /// Puts the result where the model reads it, or the call where it waits.
    fn take_in(
        &self,
        context: &WorkflowContext,
        turn: Option<u32>,
        call: &ToolCall,
        record: CallRecord,
        state: &mut ToolLoopState,
    ) {
        let approval_id: Arc<str> = self.keys.approval(turn, &call.id).into();
        if let CallOutcome::Pending { arguments } = &record.outcome {
            state.pending.push(PendingApproval {
                approval_id,
                call_id: call.id.as_str().into(),
                tool: call.name.as_str().into(),
                arguments: arguments.clone(),
                decision: None,
            });
            return;
        }
        let run_id = Arc::clone(context.workflow_id());
        let result = record.into_result(run_id, &call.id, &call.name, approval_id);
        state.request.messages.extend(answer(&result));
    }
}

impl PendingApproval {
    fn waits_for(&self, call: &ToolCall) -> bool {
        *self.call_id == *call.id && self.decision.is_none()
    }
}
