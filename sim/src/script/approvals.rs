//! A reviewer that follows a script.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{ApprovalPort, ApprovalRequest, Decision};
use windtunnel_core::{BoxError, BoxFuture};

/// An approval port that gives its decisions in order, then denies. Clones share the script.
///
/// ```
/// use windtunnel_core::executor::Decision;
/// use windtunnel_sim::script::ScriptedApprovals;
///
/// let reviewer = ScriptedApprovals::new([Decision::approve(), Decision::deny("not today")]);
/// assert!(reviewer.requests().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedApprovals {
    decisions: Arc<Mutex<VecDeque<Decision>>>,
    requests: Arc<Mutex<Vec<ApprovalRequest>>>,
    thinks: Option<(Env, Duration)>,
}

impl ScriptedApprovals {
    /// Decides at once.
    pub fn new(decisions: impl IntoIterator<Item = Decision>) -> Self {
        let decisions = Arc::new(Mutex::new(decisions.into_iter().collect()));
        Self { decisions, requests: Arc::default(), thinks: None }
    }

    /// Thinks for `duration` on the environment's clock before each decision.
    #[must_use]
    pub fn thinking_for(self, env: Env, duration: Duration) -> Self {
        Self { thinks: Some((env, duration)), ..self }
    }

    /// What was asked, in order.
    pub fn requests(&self) -> Vec<ApprovalRequest> {
        self.requests.lock().clone()
    }
}

impl ApprovalPort for ScriptedApprovals {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            self.requests.lock().push(request.clone());
            let decision = self.decisions.lock().pop_front();
            if let Some((env, duration)) = &self.thinks {
                env.until(env.now().saturating_add(*duration)).await;
            }
            Ok(decision.unwrap_or_else(|| Decision::deny("the approval script has ended")))
        })
    }
}
