//! What crosses from one activation of a loop to the next (D5).

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::durable::history::WorkflowHistory;
use crate::durable::store::{Delivery, JournalStore, StoreError};
use crate::executor::{CountedCalls, Decision};
use crate::model::{Message, ModelRequest, Usage};

/// How much a loop may do over all its activations. Both bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLoopBudget {
    /// How many times the model may be asked. Default 16.
    pub turns_max: u32,
    /// How many tool calls may be made. A turn that asks for more than are left has none of its calls made. Default 64.
    pub calls_max: u32,
}

impl Default for ToolLoopBudget {
    fn default() -> Self {
        Self { turns_max: 16, calls_max: 64 }
    }
}

/// The transcript, and what of the budget is used: the state of a loop's checkpoint. At most 64 KiB as JSON, so a workflow
/// whose conversations grow long shortens `request.messages` between two steps.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLoopState {
    /// The model, its settings and the conversation so far. Without tools, all that the executor has are offered.
    pub request: ModelRequest,
    /// How many times the model was asked.
    #[serde(default)]
    pub turns: u32,
    /// How many tool calls were made.
    #[serde(default)]
    pub calls: u32,
    /// Tokens read and written.
    #[serde(default)]
    pub usage: Usage,
    /// The calls of the last turn that wait for approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingApproval>,
    /// What the executor's run guards have counted (E2): the loop is one run to them.
    #[serde(default)]
    pub counted: CountedCalls,
}

/// A call that waits for approval.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingApproval {
    /// The approval, and the key of the event that decides it.
    pub approval_id: Arc<str>,
    /// The call.
    pub call_id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments that are to be approved. If they are others when the call is made, it is denied.
    pub arguments: Value,
    /// The decision, once it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

impl ToolLoopState {
    /// The beginning of a loop.
    ///
    /// ```
    /// use windtunnel_core::durable::ToolLoopState;
    /// use windtunnel_core::model::{Message, ModelRequest};
    ///
    /// let request = ModelRequest { messages: vec![Message::user("Refund order 7.")], ..ModelRequest::default() };
    /// assert_eq!(ToolLoopState::new(request).turns, 0);
    /// ```
    pub fn new(request: ModelRequest) -> Self {
        Self { request, ..Self::default() }
    }

    /// The state that the last activation of a workflow began with, if that workflow is nothing but a loop and has not ended:
    /// what waits for approval is in it.
    pub fn of(history: &WorkflowHistory) -> Option<Self> {
        let open = history.activations.last().filter(|last| last.decision.is_none())?;
        Self::deserialize(&**open.checkpoint.state()).ok()
    }

    /// The conversation.
    pub fn messages(&self) -> &[Message] {
        &self.request.messages
    }
}

impl PendingApproval {
    /// Delivers the decision. It counts once: a second one that differs is a [`Delivery::Conflict`].
    ///
    /// ```
    /// use windtunnel_core::durable::{Delivery, JournalStore, StoreError, ToolLoopState};
    /// use windtunnel_core::executor::Decision;
    ///
    /// async fn approve_all(store: &dyn JournalStore, workflow_id: &str) -> Result<(), StoreError> {
    ///     let history = store.read(workflow_id).await?;
    ///     let state = history.and_then(|history| ToolLoopState::of(&history));
    ///     for pending in state.iter().flat_map(|state| &state.pending) {
    ///         let delivery = pending.decide(store, workflow_id, &Decision::approve()).await?;
    ///         assert_eq!(delivery, Delivery::Accepted);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`StoreError`], after which the decision may be delivered or not.
    pub async fn decide(
        &self,
        store: &dyn JournalStore,
        workflow_id: &str,
        decision: &Decision,
    ) -> Result<Delivery, StoreError> {
        store.deliver(workflow_id, &self.approval_id, json!(decision)).await
    }
}

/// Without the conversation, which may be secret.
impl fmt::Debug for ToolLoopState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolLoopState")
            .field("messages", &self.messages().len())
            .field("turns", &self.turns)
            .field("calls", &self.calls)
            .field("pending", &self.pending)
            .finish_non_exhaustive()
    }
}

/// Without the arguments, which may be secret.
impl fmt::Debug for PendingApproval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PendingApproval")
            .field("approval_id", &self.approval_id)
            .field("tool", &self.tool)
            .field("is_decided", &self.decision.is_some())
            .finish_non_exhaustive()
    }
}
