//! The way of one call through all policies (E2).

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tracing::Instrument;

use super::approval::Decision;
use super::attempt::Attempted;
use super::builder::Engine;
use super::call::ToolCall;
use super::context::Frame;
use super::guard::Identity;
use super::handle::Executor;
use super::ledger::LedgerEntry;
use super::lock::{Permit, Share};
use super::result::{Outcome, ToolResult};
use super::run::{RunGuard, RunState};
use super::shown::Shown;
use crate::BoxError;
use crate::canary::{Weakness, is_weakened};
use crate::causes;
use crate::event::{self, Emitter, EventKind, Subject};
use crate::tool::{CallError, ErrorKind, Interrupted, PreparedTool};

/// Where the tool of a call comes from.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// From the registry, by name.
    Registered,
    /// From the caller.
    Given(&'a PreparedTool),
}

/// Why a call goes no further.
pub(super) enum Stop {
    Refused(CallError),
    Pending { approval_id: Arc<str> },
    Interrupted(Interrupted),
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Refused(error)
    }
}

/// How a call that was not stopped ended.
struct Ended {
    outcome: Outcome,
    attempts: u32,
    cached: bool,
    cost_usd: f64,
}

/// One call on its way.
pub(super) struct Flow<'a> {
    pub(super) executor: &'a Executor,
    pub(super) engine: &'a Engine,
    pub(super) emitter: Cow<'a, Emitter>,
    pub(super) run: &'a Arc<RunState>,
    pub(super) subject: Subject,
    /// The call as its caller made it, whatever hooks and reviewers change.
    pub(super) identity: Identity,
    /// Whether the run began and ends with this call or batch.
    pub(super) is_fresh_run: bool,
    pub(super) shown: Option<Shown>,
}

/// Takes one call through all policies. A pre-approval is used as the decision, without asking the port (E8).
pub(super) async fn execute(
    executor: &Executor,
    run: &RunGuard,
    call: ToolCall,
    target: Target<'_>,
    approval: Option<Decision>,
) -> Result<ToolResult, Interrupted> {
    let engine = &*executor.engine;
    let prepared = match target {
        Target::Registered => engine.registry.get(&call.name),
        Target::Given(tool) => Some(tool),
    };
    let tool = prepared.map_or_else(|| call.name.into(), |prepared| Arc::clone(prepared.name()));
    let call_id: Arc<str> = if call.id.is_empty() { engine.env.next_id("call") } else { call.id.into() };
    let parent = executor.frame.as_ref().and_then(|frame| frame.shown.as_ref());
    let shown = Shown::new(&engine.env, &run.state.id, &call_id, &tool, parent);
    let flow = Flow {
        executor,
        engine,
        emitter: executor.emitter(),
        run: &run.state,
        subject: Subject { call_id: Some(Arc::clone(&call_id)), ..executor.run_subject(run) },
        identity: Identity { call_id, tool, arguments: Arc::new(call.arguments) },
        is_fresh_run: run.fresh,
        shown,
    };
    let span = event::call_span(&flow.identity.tool, &flow.identity.call_id, &run.state.id);
    if span.is_disabled() {
        // To enter a span that nobody listens to would cost a twentieth of a call.
        return flow.execute(prepared, approval).await;
    }
    flow.execute(prepared, approval).instrument(span).await
}

impl Flow<'_> {
    pub(super) async fn emit(&self, kind: impl FnOnce() -> EventKind) {
        self.emitter.emit(&self.subject, kind).await;
    }

    fn tool(&self) -> Arc<str> {
        Arc::clone(&self.identity.tool)
    }

    async fn execute(
        self,
        prepared: Option<&PreparedTool>,
        approval: Option<Decision>,
    ) -> Result<ToolResult, Interrupted> {
        let arrived = self.engine.env.now();
        self.emit(|| EventKind::ToolStarted { tool: self.tool() }).await;
        let ended = match self.pass(prepared, approval).await {
            Ok(ended) => ended,
            Err(Stop::Interrupted(interrupted)) => return Err(interrupted),
            Err(Stop::Refused(error)) => Ended::without_attempts(Outcome::Error(error)),
            Err(Stop::Pending { approval_id }) => Ended::without_attempts(Outcome::Pending { approval_id }),
        };
        let duration = self.engine.env.now().saturating_sub(arrived);
        if let Outcome::Pending { approval_id } = &ended.outcome {
            let approval_id = Arc::clone(approval_id);
            self.emit(|| EventKind::ToolPending { tool: self.tool(), approval_id }).await;
        } else {
            self.record(&ended, duration).await;
            self.emit(|| EventKind::ToolFinished {
                tool: self.tool(),
                status: ended.outcome.status(),
                error: ended.outcome.error().map(|error| error.kind.as_str()),
                attempts: ended.attempts,
                cached: ended.cached,
                duration_s: duration.as_secs_f64(),
            })
            .await;
        }
        Ok(ToolResult {
            run_id: self.subject.run_id,
            call_id: self.identity.call_id,
            tool: self.identity.tool,
            outcome: ended.outcome,
            attempts: ended.attempts,
            cached: ended.cached,
            duration,
        })
    }

    /// The stages from finding the tool to the after-hooks.
    async fn pass(&self, prepared: Option<&PreparedTool>, approval: Option<Decision>) -> Result<Ended, Stop> {
        let tool = prepared.ok_or_else(|| {
            CallError::new(ErrorKind::ToolNotFound, format!("there is no tool named {:?}", &*self.identity.tool))
        })?;
        let once_per_run = tool.spec().once_per_run;
        let calls_max = self.engine.runs.limits().calls_max;
        // What no guard limits need not be counted, nor its arguments kept.
        let is_guarded = once_per_run || calls_max.is_some();
        if is_guarded {
            self.run.guards.lock().check(&self.identity, once_per_run, calls_max)?;
        }
        let arguments = self.prepare(tool, Arc::clone(&self.identity.arguments)).await?;
        let arguments = self.approve(tool, arguments, approval).await?;
        if is_guarded {
            self.run.guards.lock().commit(&self.identity, once_per_run, calls_max)?;
        }

        let slot = self.cache_slot(tool, &arguments);
        if let Some(value) = self.cached(slot.as_ref()).await {
            self.emit(|| EventKind::ToolCacheHit { tool: self.tool() }).await;
            let outcome = self.after(&arguments, 0.0, Outcome::Ok(value)).await?;
            return Ok(Ended { cached: true, ..Ended::without_attempts(outcome) });
        }
        let frame = self.frame(tool);
        let Attempted { result, attempts } = {
            let _permit = self.permit(tool).await;
            let _running = Running(&frame);
            self.attempt_until_final(tool, &arguments, &frame).await.map_err(Stop::Interrupted)?
        };
        let outcome = match result {
            Ok(value) => {
                self.keep(slot.as_ref(), &value).await;
                Outcome::Ok(value)
            }
            Err(error) => Outcome::Error(error),
        };
        let cost_usd = frame.cost_usd();
        let outcome = self.after(&arguments, cost_usd, outcome).await?;
        Ok(Ended { outcome, attempts, cached: false, cost_usd })
    }

    fn frame(&self, tool: &PreparedTool) -> Arc<Frame> {
        let call_id = Arc::clone(&self.identity.call_id);
        Arc::new(Frame::new(self.executor, Arc::clone(self.run), call_id, Arc::clone(tool.kind()), self.shown.clone()))
    }

    /// The enclosing call, if it is a running call of the same run (E10).
    fn enclosing(&self) -> Option<&Frame> {
        self.executor.frame.as_deref().filter(|frame| frame.encloses_calls_of(self.run))
    }

    /// Waits for the run's lock and the kind's cap, those of them that the enclosing call does not hold already.
    async fn permit<'b>(&'b self, tool: &'b PreparedTool) -> Permit<'b> {
        let share = if tool.spec().parallel_safe { Share::Shared } else { Share::Exclusive };
        let kind = tool.kind();
        let (share, kind) = match self.enclosing() {
            None => (Some(share), Some(kind)),
            Some(frame) => (None, Some(kind).filter(|kind| !frame.holds_kind(self.run, kind))),
        };
        self.run.lock.acquire(share, kind, self.shown.clone()).await
    }

    /// Records the finished call (E12).
    async fn record(&self, ended: &Ended, duration: Duration) {
        let ports = &self.executor.context.ports;
        let Some(ledger) = ports.ledger.as_ref().or(self.engine.ports.ledger.as_ref()) else { return };
        if is_weakened(Weakness::LedgerLacksFailures) && ended.outcome.error().is_some() {
            return;
        }
        let entry = LedgerEntry {
            kind: "tool",
            entry_id: Arc::clone(&self.identity.call_id),
            run_id: Arc::clone(&self.subject.run_id),
            tool: self.tool(),
            status: ended.outcome.status(),
            error: ended.outcome.error().map(|error| error.kind.as_str()),
            cost_usd: ended.cost_usd,
            attempts: ended.attempts,
            duration,
        };
        if let Err(error) = guarded(async { ledger.record(entry).await }).await {
            tracing::warn!(call_id = &*self.identity.call_id, "the ledger failed; it lacks this call");
            tracing::debug!(cause = causes::text(&*error), "the ledger's error");
        }
    }
}

impl Ended {
    fn without_attempts(outcome: Outcome) -> Self {
        Self { outcome, attempts: 0, cached: false, cost_usd: 0.0 }
    }
}

/// Ends the frame with the attempts, also when they are dropped.
struct Running<'a>(&'a Frame);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// A port's or hook's answer, with a panic as an error.
pub(super) async fn guarded<T>(answer: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    let caught = std::panic::AssertUnwindSafe(answer).catch_unwind().await;
    caught.unwrap_or_else(|payload| Err(crate::env::panic_message(&*payload).to_owned().into()))
}
