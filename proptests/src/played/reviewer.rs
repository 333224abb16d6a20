//! A reviewer that acts out scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{ApprovalPort, ApprovalRequest, Decision};
use windtunnel_core::{BoxError, BoxFuture};

use super::CAUSE;
use crate::cases::{Answer, ApprovalScript};

/// An approval port with one script for each call id. Calls without a script are approved at once. Clones share it.
///
/// ```
/// use std::collections::BTreeMap;
/// use windtunnel_core::env::Env;
/// use windtunnel_proptests::played::PlayedReviewer;
///
/// let reviewer = PlayedReviewer::new(Env::system(), BTreeMap::new());
/// assert!(reviewer.requests().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct PlayedReviewer {
    env: Env,
    scripts: Arc<BTreeMap<String, ApprovalScript>>,
    requests: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl PlayedReviewer {
    /// A reviewer that thinks on the clock of `env`.
    pub fn new(env: Env, scripts: BTreeMap<String, ApprovalScript>) -> Self {
        Self { env, scripts: Arc::new(scripts), requests: Arc::default() }
    }

    /// What was asked so far, in order.
    pub fn requests(&self) -> Vec<ApprovalRequest> {
        self.requests.lock().clone()
    }

    /// Notes the request; how often this call was asked about before.
    fn note(&self, request: &ApprovalRequest) -> usize {
        let mut requests = self.requests.lock();
        let asked = requests.iter().filter(|asked| asked.call_id == request.call_id).count();
        requests.push(request.clone());
        asked
    }
}

impl ApprovalPort for PlayedReviewer {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            let ask = self.note(request);
            let Some(script) = self.scripts.get(&*request.call_id) else { return Ok(Decision::approve()) };
            let step = script.step(ask);
            if !step.takes.is_zero() {
                self.env.until(self.env.now().saturating_add(step.takes)).await;
            }
            match step.answer {
                Answer::Approve => Ok(Decision::approve()),
                Answer::Edit => Ok(Decision::Approve { edited_arguments: Some(json!({"edited": true})) }),
                Answer::EditBadly => Ok(Decision::Approve { edited_arguments: Some(json!("not an object")) }),
                Answer::Deny => Ok(Decision::deny("not today")),
                Answer::Pending => Ok(Decision::Pending),
                Answer::Fail => Err(CAUSE.into()),
            }
        })
    }
}
