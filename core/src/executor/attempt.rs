//! Attempts under a time limit, with waits between them (E3–E5).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::Fuse;
use serde_json::Value;

use super::context::{Frame, ToolContext};
use super::flow::Flow;
use super::retry::{self, Failure, Verdict};
use crate::causes::{self, Panicked};
use crate::event::EventKind;
use crate::tool::{CallError, Interrupted, PreparedTool};

/// What the attempts of one call came to.
pub(super) struct Attempted {
    pub(super) result: Result<Value, CallError>,
    pub(super) attempts: u32,
}

impl Flow<'_> {
    /// Tries until an attempt succeeds or another would be in vain.
    pub(super) async fn attempt_until_final(
        &self,
        tool: &PreparedTool,
        arguments: &Arc<Value>,
        frame: &Arc<Frame>,
    ) -> Result<Attempted, Interrupted> {
        let name = tool.name();
        let mut attempt = 1;
        loop {
            self.emit(|| EventKind::ToolAttempt { tool: Arc::clone(name), attempt }).await;
            let failure = match self.attempt_once(tool, arguments, frame, attempt).await? {
                Ok(value) => return Ok(Attempted { result: Ok(value), attempts: attempt }),
                Err(failure) => failure,
            };
            log_cause(name, attempt, &failure);
            let cause = failure.cause();
            if let Verdict::Final(error) = retry::judge(name, attempt, tool.spec().retries, failure) {
                return Ok(Attempted { result: Err(error), attempts: attempt });
            }
            let unit = self.engine.env.unit(&format!("backoff/{name}"));
            let backoff = &self.engine.backoff;
            let delay_s = backoff.delay_s(attempt, unit);
            self.emit(|| EventKind::ToolRetry { tool: Arc::clone(name), attempt, cause, delay_s }).await;
            self.engine.env.sleep(backoff.delay(attempt, unit)).await;
            attempt += 1;
        }
    }

    /// One attempt. When this returns, nothing of it runs on, except a blocking body that ran out of time (E14).
    async fn attempt_once(
        &self,
        tool: &PreparedTool,
        arguments: &Arc<Value>,
        frame: &Arc<Frame>,
        attempt: u32,
    ) -> Result<Result<Value, Failure>, Interrupted> {
        let context = ToolContext { frame: Arc::clone(frame), attempt };
        let _waiting = self.shown.as_ref().map(|shown| shown.waits_for(format!("its tool, in attempt {attempt}")));
        // The call itself is inside, since a tool may panic before it gives a future.
        let body = async { tool.tool().call(Arc::clone(arguments), context).await };
        let mut body = pin!(AssertUnwindSafe(body).catch_unwind().fuse());
        let caught = match tool.spec().timeout {
            None => body.await,
            Some(limit) => match self.engine.env.timeout(limit, body.as_mut()).await {
                Ok(caught) => caught,
                Err(_elapsed) => {
                    // A tool may also panic while it is dropped.
                    let _panic = catch_unwind(AssertUnwindSafe(|| body.set(Fuse::terminated())));
                    return Ok(Err(Failure::Timeout));
                }
            },
        };
        let result = caught.unwrap_or_else(|payload| Err(Panicked::of(&*payload).into()));
        match result {
            Ok(value) => Ok(Ok(value)),
            Err(error) if self.engine.is_control_flow(&error) => Err(Interrupted::new(error)),
            Err(error) => Ok(Err(Failure::Error(error))),
        }
    }
}

/// The cause's text may hold secrets: it goes to DEBUG and nowhere above.
fn log_cause(tool: &str, attempt: u32, failure: &Failure) {
    match failure {
        Failure::Timeout => tracing::debug!(tool, attempt, "an attempt ran out of time"),
        Failure::Error(error) => tracing::debug!(tool, attempt, cause = causes::text(&**error), "an attempt failed"),
    }
}
