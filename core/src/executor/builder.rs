//! Setting up an executor.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::approval::{ApprovalPort, PendingApprovals};
use super::backoff::Backoff;
use super::cache::Cache;
use super::call::{CallContext, Ports};
use super::handle::Executor;
use super::hook::Hook;
use super::ledger::Ledger;
use super::run::{RunLimits, Runs};
use crate::BoxError;
use crate::causes;
use crate::env::Env;
use crate::event::{Emitter, Sink};
use crate::tool::{Cancelled, Registry};

type ControlFlowTest = fn(&(dyn Error + 'static)) -> bool;

/// What all handles of one executor share.
pub(super) struct Engine {
    pub(super) registry: Registry,
    pub(super) env: Env,
    pub(super) backoff: Backoff,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) ports: Ports,
    pub(super) emitter: Emitter,
    pub(super) runs: Arc<Runs>,
    pub(super) pending: parking_lot::Mutex<PendingApprovals>,
    control_flow: Vec<ControlFlowTest>,
}

impl Engine {
    /// Whether the error, or one in its chain of sources, is control flow.
    pub(super) fn is_control_flow(&self, error: &BoxError) -> bool {
        self.control_flow.iter().any(|is_control_flow| is_control_flow(&**error))
    }
}

/// Builds an [`Executor`]. Everything has a default.
#[must_use = "call `build`"]
pub struct ExecutorBuilder {
    registry: Registry,
    env: Env,
    backoff: Backoff,
    hooks: Vec<Arc<dyn Hook>>,
    ports: Ports,
    sinks: Vec<Arc<dyn Sink>>,
    limits: RunLimits,
    runs_tracked_max: usize,
    control_flow: Vec<ControlFlowTest>,
}

impl ExecutorBuilder {
    pub(super) fn new(registry: Registry) -> Self {
        Self {
            registry,
            env: Env::system(),
            backoff: Backoff::default(),
            hooks: Vec::new(),
            ports: Ports::default(),
            sinks: Vec::new(),
            limits: RunLimits::default(),
            runs_tracked_max: 1024,
            control_flow: vec![is::<Cancelled>],
        }
    }

    /// Where time, chance and identity come from. Default: [`Env::system`].
    pub fn env(self, env: Env) -> Self {
        Self { env, ..self }
    }

    /// How long to wait between attempts.
    pub fn backoff(self, backoff: Backoff) -> Self {
        Self { backoff, ..self }
    }

    /// Limits that hold in each run. Default: none.
    pub fn run_limits(self, limits: RunLimits) -> Self {
        Self { limits, ..self }
    }

    /// Adds a hook. Before-hooks run in the order added, after-hooks in reverse.
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Who approves calls. Default: nobody, so that calls which need it are denied.
    pub fn approval(mut self, port: impl ApprovalPort + 'static) -> Self {
        self.ports.approval = Some(Arc::new(port));
        self
    }

    /// Where values are cached. Default: nowhere.
    pub fn cache(mut self, cache: impl Cache + 'static) -> Self {
        self.ports.cache = Some(Arc::new(cache));
        self
    }

    /// Where finished calls are recorded. Default: nowhere.
    pub fn ledger(mut self, ledger: impl Ledger + 'static) -> Self {
        self.ports.ledger = Some(Arc::new(ledger));
        self
    }

    /// Adds a sink: where events go, besides `tracing`. Default: nowhere.
    pub fn sink(mut self, sink: impl Sink + 'static) -> Self {
        self.sinks.push(Arc::new(sink));
        self
    }

    /// Registers a type of error as control flow: it is never retried, hooked, turned into a result or recorded (E3).
    pub fn control_flow<E: Error + 'static>(mut self) -> Self {
        self.control_flow.push(is::<E>);
        self
    }

    /// How many runs are remembered (`max_tracked_runs`), and how many calls may wait for approval. Default 1024.
    pub fn runs_tracked_max(self, runs_tracked_max: usize) -> Self {
        Self { runs_tracked_max, ..self }
    }

    /// The executor.
    pub fn build(self) -> Executor {
        let are_shown = self.env.waits().is_some();
        let engine = Engine {
            emitter: Emitter::new(self.env.clone(), self.sinks),
            registry: self.registry,
            env: self.env,
            backoff: self.backoff,
            hooks: self.hooks,
            ports: self.ports,
            runs: Arc::new(Runs::new(self.limits, self.runs_tracked_max, are_shown)),
            pending: parking_lot::Mutex::new(PendingApprovals::new(self.runs_tracked_max)),
            control_flow: self.control_flow,
        };
        Executor {
            engine: Arc::new(engine),
            context: Arc::new(CallContext::default()),
            frame: None,
            preapproval: Arc::default(),
            idempotency_key: None,
        }
    }
}

fn is<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    causes::find::<E>(error).is_some()
}

impl fmt::Debug for ExecutorBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExecutorBuilder")
            .field("registry", &self.registry)
            .field("backoff", &self.backoff)
            .field("limits", &self.limits)
            .field("ports", &self.ports)
            .finish_non_exhaustive()
    }
}
