//! Approvals (E8): who decides whether a call may run.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::ToolCall;
use super::flow::{Flow, Stop, guarded};
use super::guard::Identity;
use crate::BoxError;
use crate::causes;
use crate::event::EventKind;
use crate::tool::{CallError, Confirm, ErrorKind, Interrupted, PreparedTool};

/// Asks somebody whether a call may run.
pub trait ApprovalPort: Send + Sync {
    /// Asks for one decision.
    ///
    /// # Errors
    /// Any error denies the call, with the reason "the approval port failed"; control flow passes through.
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>>;
}

/// A shared port.
impl<T: ApprovalPort + ?Sized> ApprovalPort for Arc<T> {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        (**self).decide(request)
    }
}

/// What a reviewer is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRequest {
    /// The approval; the same when a pending call is made again.
    pub approval_id: Arc<str>,
    /// The run.
    pub run_id: Arc<str>,
    /// The call.
    pub call_id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments, after the before-hooks.
    pub arguments: Arc<Value>,
}

/// A reviewer's decision. As JSON `{"approve": {"edited_arguments": …}}`, `{"deny": {"reason": …}}` or `"pending"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// The call may run.
    Approve {
        /// Arguments to run it with instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited_arguments: Option<Value>,
    },
    /// The call may not run.
    Deny {
        /// Why; the model reads it.
        reason: String,
    },
    /// The decision comes later.
    Pending,
}

impl Decision {
    /// Approves the call as it is.
    pub fn approve() -> Self {
        Self::Approve { edited_arguments: None }
    }

    /// Denies the call.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }
}

/// The approvals that calls wait for, so that a call made again asks under the same id.
#[derive(Debug)]
pub(super) struct PendingApprovals {
    /// By call id.
    waiting: BTreeMap<Arc<str>, Vec<Waiting>>,
    /// Their call ids by the order in which they came.
    order: BTreeMap<u64, Arc<str>>,
    inserts: u64,
    calls_max: usize,
}

#[derive(Debug)]
struct Waiting {
    identity: Identity,
    run_id: Arc<str>,
    approval_id: Arc<str>,
    place: u64,
}

impl PendingApprovals {
    /// Remembers at most `calls_max` calls, the newest.
    pub(super) fn new(calls_max: usize) -> Self {
        Self { waiting: BTreeMap::new(), order: BTreeMap::new(), inserts: 0, calls_max }
    }

    /// The approval that this call of this run waits for. `run_id` is empty for calls in fresh runs.
    pub(super) fn find(&self, run_id: &str, identity: &Identity) -> Option<Arc<str>> {
        let waiting = self.waiting.get(&identity.call_id)?;
        let entry = waiting.iter().find(|entry| &*entry.run_id == run_id && entry.identity == *identity)?;
        Some(Arc::clone(&entry.approval_id))
    }

    /// Remembers that the call waits for `approval_id`.
    pub(super) fn insert(&mut self, run_id: Arc<str>, identity: Identity, approval_id: Arc<str>) {
        self.remove(&run_id, &identity);
        self.inserts += 1;
        let (call_id, place) = (Arc::clone(&identity.call_id), self.inserts);
        self.order.insert(place, Arc::clone(&call_id));
        self.waiting.entry(call_id).or_default().push(Waiting { identity, run_id, approval_id, place });
        while self.order.len() > self.calls_max
            && let Some((oldest, call_id)) = self.order.pop_first()
        {
            self.forget(&call_id, |entry| entry.place == oldest);
        }
    }

    /// Forgets the call: it is decided.
    pub(super) fn remove(&mut self, run_id: &str, identity: &Identity) {
        self.forget(&identity.call_id, |entry| &*entry.run_id == run_id && entry.identity == *identity);
    }

    fn forget(&mut self, call_id: &str, is_meant: impl Fn(&Waiting) -> bool) {
        let Some(waiting) = self.waiting.get_mut(call_id) else { return };
        for entry in waiting.extract_if(.., |entry| is_meant(entry)) {
            self.order.remove(&entry.place);
        }
        if waiting.is_empty() {
            self.waiting.remove(call_id);
        }
    }
}

impl Flow<'_> {
    /// The arguments that the call may run with: as they are, or as the reviewer edited them.
    pub(super) async fn approve(
        &self,
        tool: &PreparedTool,
        arguments: Arc<Value>,
        preapproval: Option<Decision>,
    ) -> Result<Arc<Value>, Stop> {
        if preapproval.is_none() && !self.needs_approval(tool, &arguments) {
            return Ok(arguments);
        }
        let run_id: Arc<str> = if self.is_fresh_run { Arc::from("") } else { Arc::clone(&self.run.id) };
        let waited_for = self.engine.pending.lock().find(&run_id, &self.identity);
        let approval_id = waited_for.unwrap_or_else(|| self.engine.env.next_id("approval"));
        let decision = match preapproval {
            Some(decision) => decision,
            None => self.ask(Arc::clone(&approval_id), Arc::clone(&arguments)).await?,
        };
        match decision {
            Decision::Approve { edited_arguments } => {
                self.decided(&run_id, approval_id, true, edited_arguments.is_some()).await;
                match edited_arguments {
                    Some(edited) => self.prepare(tool, Arc::new(edited)).await,
                    None => Ok(arguments),
                }
            }
            Decision::Deny { reason } => {
                self.decided(&run_id, approval_id, false, false).await;
                Err(denied(reason))
            }
            Decision::Pending => {
                let mut pending = self.engine.pending.lock();
                pending.insert(run_id, self.identity.clone(), Arc::clone(&approval_id));
                Err(Stop::Pending { approval_id })
            }
        }
    }

    async fn decided(&self, run_id: &str, approval_id: Arc<str>, approved: bool, edited: bool) {
        self.engine.pending.lock().remove(run_id, &self.identity);
        let tool = Arc::clone(&self.identity.tool);
        self.emit(|| EventKind::ApprovalDecided { tool, approval_id, approved, edited }).await;
    }

    fn needs_approval(&self, tool: &PreparedTool, arguments: &Value) -> bool {
        match &tool.spec().confirm {
            Confirm::Never => false,
            Confirm::Always => true,
            Confirm::When(rule) => {
                let call = ToolCall::new(&*self.identity.tool, arguments.clone()).with_id(&*self.identity.call_id);
                let context = &*self.executor.context;
                catch_unwind(AssertUnwindSafe(|| rule(&call, context))).unwrap_or(true)
            }
        }
    }

    async fn ask(&self, approval_id: Arc<str>, arguments: Arc<Value>) -> Result<Decision, Stop> {
        let ports = &self.executor.context.ports;
        let Some(port) = ports.approval.as_ref().or(self.engine.ports.approval.as_ref()) else {
            let reason = "no approval port configured";
            tracing::warn!(tool = &*self.identity.tool, "a call needs approval and is denied: {reason}");
            return Err(denied(reason));
        };
        let tool = Arc::clone(&self.identity.tool);
        let call_id = Arc::clone(&self.identity.call_id);
        let request = ApprovalRequest { approval_id, run_id: Arc::clone(&self.run.id), call_id, tool, arguments };
        self.emit(|| EventKind::ApprovalRequested {
            tool: Arc::clone(&request.tool),
            approval_id: Arc::clone(&request.approval_id),
        })
        .await;
        let waiting =
            self.shown.as_ref().map(|shown| shown.waits_for(format!("a decision on {}", request.approval_id)));
        let decision = guarded(async { port.decide(&request).await }).await;
        drop(waiting);
        match decision {
            Ok(decision) => Ok(decision),
            Err(error) if self.engine.is_control_flow(&error) => Err(Stop::Interrupted(Interrupted::new(error))),
            Err(error) => {
                tracing::warn!(tool = &*request.tool, "the approval port failed: the call is denied");
                tracing::debug!(cause = causes::text(&*error), "the approval port's error");
                Ok(Decision::deny("the approval port failed"))
            }
        }
    }
}

fn denied(reason: impl Into<String>) -> Stop {
    CallError::new(ErrorKind::ApprovalDenied, reason).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: Value) -> Identity {
        Identity { call_id: id.into(), tool: "pay".into(), arguments: Arc::new(arguments) }
    }

    #[test]
    fn only_the_same_call_of_the_same_run_finds_its_approval() {
        let mut pending = PendingApprovals::new(8);
        pending.insert("run-1".into(), call("a", json!({"n": 1})), "approval-1".into());
        pending.insert("run-2".into(), call("a", json!({"n": 1})), "approval-2".into());
        assert_eq!(pending.find("run-1", &call("a", json!({"n": 2}))), None);
        assert_eq!(pending.find("run-3", &call("a", json!({"n": 1}))), None);
        assert_eq!(pending.find("run-2", &call("a", json!({"n": 1}))).as_deref(), Some("approval-2"));
        pending.remove("run-2", &call("a", json!({"n": 1})));
        assert_eq!(pending.find("run-2", &call("a", json!({"n": 1}))), None);
        assert_eq!(pending.find("run-1", &call("a", json!({"n": 1}))).as_deref(), Some("approval-1"));
    }

    #[test]
    fn the_oldest_calls_are_forgotten_past_the_bound() {
        let mut pending = PendingApprovals::new(2);
        for id in ["a", "b", "c"] {
            pending.insert("".into(), call(id, json!({})), format!("approval-{id}").into());
        }
        assert_eq!(pending.find("", &call("a", json!({}))), None);
        assert!(pending.find("", &call("b", json!({}))).is_some());
        assert!(pending.find("", &call("c", json!({}))).is_some());
    }
}
