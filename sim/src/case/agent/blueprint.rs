//! What a worker and its agent are made of, whichever process they run in.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use windtunnel_core::durable::{ActivationRetry, ToolLoop, ToolLoopBudget, Worker};
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Backoff, Executor, MemoryCache, RunLimits};
use windtunnel_core::model::ModelTransport;
use windtunnel_core::tool::Registry;

use super::definition::AgentCase;
use crate::Trace;

/// The workflow's name.
pub(super) const WORKFLOW: &str = "agent";

/// More values than any case caches.
const CACHED_MAX: usize = 100_000;

/// What the file says of workers and of their executors.
#[derive(Clone, Debug)]
pub(super) struct Blueprint {
    backoff: Backoff,
    rng: Option<f64>,
    limits: RunLimits,
    caches: bool,
    budget: ToolLoopBudget,
    turns_per_activation: NonZeroU32,
    approval_timeout: Option<Duration>,
    lease: Duration,
    failures_max: NonZeroU32,
}

impl Blueprint {
    pub(super) fn of(case: &AgentCase) -> Self {
        Self {
            backoff: case.backoff,
            rng: case.rng,
            limits: case.limits.clone(),
            caches: case.tools.iter().any(|tool| tool.tool.spec.cache_ttl.is_some()),
            budget: case.budget,
            turns_per_activation: case.turns_per_activation,
            approval_timeout: case.approval_timeout,
            lease: case.workers.lease,
            failures_max: case.workers.failures_max,
        }
    }

    /// The worker of a process, with nothing of those before it in its memory.
    pub(super) fn worker(
        &self,
        worker: Worker,
        env: Env,
        trace: Trace,
        tools: Registry,
        model: Arc<dyn ModelTransport>,
    ) -> Worker {
        let env = match self.rng {
            Some(unit) => env.with_rng(move || unit),
            None => env,
        };
        let mut executor = Executor::builder(tools)
            .env(env.clone())
            .backoff(self.backoff)
            .run_limits(self.limits.clone())
            .sink(trace.clone());
        if self.caches {
            executor = executor.cache(MemoryCache::new(env.clone(), CACHED_MAX));
        }
        let mut agent =
            ToolLoop::new(executor.build(), model).budget(self.budget).turns_per_activation(self.turns_per_activation);
        if let Some(timeout) = self.approval_timeout {
            agent = agent.approval_timeout(timeout);
        }
        let retry =
            ActivationRetry { failures_max: self.failures_max, backoff: self.backoff, ..ActivationRetry::default() };
        worker.env(env).sink(trace).lease(self.lease).retry(retry).workflow(agent.into_workflow(WORKFLOW))
    }
}
