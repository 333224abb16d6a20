//! Approvals as events: who is asked while a worker runs, and what a decision that came later covers (E8).

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use crate::durable::claim::Wake;
use crate::durable::rules::is_same;
use crate::durable::tool_loop::state::PendingApproval;
use crate::executor::{ApprovalPort, ApprovalRequest, Decision};
use crate::{BoxError, BoxFuture};

/// Answers with the decision that came, asks the executor's own port where there is none, and says what was asked for.
pub(super) struct EventPort {
    own: Option<Arc<dyn ApprovalPort>>,
    decided: Option<(Decision, Value)>,
    asked_for: Mutex<Option<Value>>,
}

impl EventPort {
    pub(super) fn new(own: Option<Arc<dyn ApprovalPort>>, pending: Option<&PendingApproval>) -> Self {
        let decided = pending.and_then(|pending| Some((pending.decision.clone()?, pending.arguments.clone())));
        Self { own, decided, asked_for: Mutex::default() }
    }

    /// The arguments of the call that waits now.
    pub(super) fn asked_for(&self) -> Option<Value> {
        self.asked_for.lock().clone()
    }
}

impl ApprovalPort for EventPort {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            if let Some((decision, approved)) = &self.decided {
                let changed = || Decision::deny("the arguments are not those that the reviewer saw");
                return Ok(if is_same(approved, &request.arguments) { decision.clone() } else { changed() });
            }
            let decision = match &self.own {
                Some(own) => own.decide(request).await?,
                None => Decision::Pending,
            };
            if decision == Decision::Pending {
                *self.asked_for.lock() = Some((*request.arguments).clone());
            }
            Ok(decision)
        })
    }
}

/// Gives the approval that the activation began with its decision: what the event says, or a denial.
pub(super) fn hear(pending: &mut [PendingApproval], wake: &Wake) {
    let (key, decision) = match wake {
        Wake::Event { key, payload } => (key, read(payload)),
        Wake::Timeout { key } => (key, Decision::deny("nobody decided in time")),
        Wake::Started | Wake::Continued | Wake::Timer { .. } => return,
    };
    let heard = pending.iter_mut().find(|pending| pending.approval_id == *key && pending.decision.is_none());
    if let Some(heard) = heard {
        heard.decision = Some(decision);
    }
}

/// What cannot be read approves nothing.
fn read(payload: &Value) -> Decision {
    match Decision::deserialize(payload) {
        Ok(Decision::Pending) | Err(_) => Decision::deny("the approval's event is no decision"),
        Ok(decision) => decision,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waiting() -> PendingApproval {
        PendingApproval {
            approval_id: "approval:turn:0:a".into(),
            call_id: "a".into(),
            tool: "pay".into(),
            arguments: json!({"amount": 1, "to": "Ada"}),
            decision: None,
        }
    }

    fn heard(wake: Wake) -> Option<Decision> {
        let mut pending = [waiting()];
        hear(&mut pending, &wake);
        pending[0].decision.clone()
    }

    #[test]
    fn only_its_own_event_decides_an_approval_and_what_is_no_decision_denies() {
        let event = |key: &str, payload: Value| Wake::Event { key: key.into(), payload: payload.into() };
        let own = "approval:turn:0:a";
        assert_eq!(heard(event(own, json!({"approve": {}}))), Some(Decision::approve()));
        assert_eq!(heard(event(own, json!({"deny": {"reason": "no"}}))), Some(Decision::deny("no")));
        assert_eq!(heard(event("approval:turn:0:b", json!({"approve": {}}))), None);
        assert_eq!(heard(Wake::Continued), None);
        for unreadable in [json!("pending"), json!(true), json!({"approve": {"edited": {}}}), json!(null)] {
            assert!(matches!(heard(event(own, unreadable)), Some(Decision::Deny { .. })));
        }
        assert!(matches!(heard(Wake::Timeout { key: own.into() }), Some(Decision::Deny { .. })));
    }

    #[test]
    fn a_decision_is_not_heard_twice() {
        let mut pending = [PendingApproval { decision: Some(Decision::deny("no")), ..waiting() }];
        let approved = Wake::Event { key: "approval:turn:0:a".into(), payload: json!({"approve": {}}).into() };
        hear(&mut pending, &approved);
        assert_eq!(pending[0].decision, Some(Decision::deny("no")));
    }

    #[tokio::test]
    async fn a_decision_covers_only_the_arguments_that_were_shown() {
        let decided = PendingApproval { decision: Some(Decision::approve()), ..waiting() };
        let port = EventPort::new(None, Some(&decided));
        let request = |arguments: Value| ApprovalRequest {
            approval_id: "approval:turn:0:a".into(),
            run_id: "run".into(),
            call_id: "a".into(),
            tool: "pay".into(),
            arguments: arguments.into(),
        };
        let same = port.decide(&request(json!({"to": "Ada", "amount": 1}))).await.unwrap();
        assert_eq!(same, Decision::approve());
        for other in [json!({"to": "Ada", "amount": 1.0}), json!({"to": "Eve", "amount": 1})] {
            assert!(matches!(port.decide(&request(other)).await.unwrap(), Decision::Deny { .. }));
        }
    }
}
