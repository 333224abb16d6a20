//! Scenarios on exact virtual time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::cases::{ApprovalScript, Policies};
use crate::played::PlayedReviewer;
use crate::{Violation, invariants};
use proptest::test_runner::TestCaseError;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Event, Sink};
use windtunnel_core::executor::{
    Backoff, BackoffSettings, Executor, ExecutorBuilder, LedgerEntry, MemoryLedger, RunLimits,
};
use windtunnel_core::tool::{Registry, Tool};
use windtunnel_sim::{Reaction, World};

/// An executor to be set up in a world.
#[derive(Debug)]
pub struct Setup {
    /// The tools.
    pub registry: Registry,
    /// How long retries wait.
    pub backoff: BackoffSettings,
    /// What runs may do.
    pub limits: RunLimits,
    /// What the waits draw, in order; 0 past the end.
    pub units: Vec<f64>,
    /// What the reviewer does, by call id.
    pub reviews: BTreeMap<String, ApprovalScript>,
    /// How long the world holds up the step after each event, in a circle; not at all if empty.
    pub delays: Vec<Duration>,
    /// Changes the builder last of all.
    pub adjust: fn(ExecutorBuilder) -> ExecutorBuilder,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            registry: Registry::new(),
            backoff: BackoffSettings { jitter: 0.0, ..BackoffSettings::default() },
            limits: RunLimits::default(),
            units: Vec::new(),
            reviews: BTreeMap::new(),
            delays: Vec::new(),
            adjust: |builder| builder,
        }
    }
}

impl Setup {
    /// With one more tool.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Tool + 'static) -> Self {
        self.registry.register(tool).unwrap();
        self
    }
}

/// What came of a scenario.
#[derive(Debug)]
pub struct Ran<T> {
    /// What the body gave.
    pub output: T,
    /// The log.
    pub events: Vec<Event>,
    /// The ledger.
    pub entries: Vec<LedgerEntry>,
    /// How many random numbers were drawn.
    pub draws: usize,
}

impl<T> Ran<T> {
    /// What holds whatever the scenario was.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self, policies: &Policies, limits: &RunLimits) -> Result<(), Violation> {
        invariants::waits_are_exact(&self.events)?;
        self.check_held_up(policies, limits)
    }

    /// What holds even if the world holds up steps.
    ///
    /// # Errors
    /// What does not.
    pub fn check_held_up(&self, policies: &Policies, limits: &RunLimits) -> Result<(), Violation> {
        let caps = limits.per_kind.iter().map(|(kind, cap)| (kind.clone(), cap.get())).collect();
        let spans = crate::Span::of_events(&self.events);
        invariants::order(&self.events)?;
        invariants::calls_end_once(&self.events)?;
        invariants::nothing_follows_a_run(&self.events)?;
        invariants::attempts_within_retries(&self.events, policies)?;
        invariants::approvals_keep_their_ids(&self.events)?;
        invariants::guards_hold(&self.events, policies, limits.calls_max)?;
        invariants::caps_hold(&spans, policies, &caps)?;
        invariants::exclusive_calls_run_alone(&spans, policies)?;
        invariants::one_entry_per_finished_call(&self.events, &self.entries)
    }
}

/// Runs `body` with the executor, in a world that lasts as long as its clock.
///
/// # Errors
/// How the world ended, if not with the body.
pub fn run<T, F, Fut>(setup: Setup, body: F) -> Result<Ran<T>, TestCaseError>
where
    T: Send,
    F: FnOnce(Executor) -> Fut + Send,
    Fut: Future<Output = T>,
{
    let ledger = MemoryLedger::new();
    let drawn = Arc::new(AtomicUsize::new(0));
    let delays = setup.delays;
    let world = World::new(0).time_limit(Duration::MAX).on_event(move |event| {
        let place = (event.sequence as usize).checked_rem(delays.len());
        place.map_or(Reaction::Continue, |place| Reaction::Delay(delays[place]))
    });
    let run = world.run(|world| {
        let env = scripted_chance(world.env(), setup.units, Arc::clone(&drawn));
        let builder = Executor::builder(setup.registry)
            .env(env.clone())
            .backoff(Backoff::new(setup.backoff).unwrap())
            .run_limits(setup.limits)
            .approval(PlayedReviewer::new(env, setup.reviews))
            .ledger(ledger.clone())
            .sink(world.trace());
        body((setup.adjust)(builder).build())
    });
    let output = run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    Ok(Ran { output, events: run.trace, entries: ledger.entries(), draws: drawn.load(Ordering::Relaxed) })
}

fn scripted_chance(env: Env, units: Vec<f64>, drawn: Arc<AtomicUsize>) -> Env {
    env.with_rng(move || units.get(drawn.fetch_add(1, Ordering::Relaxed)).copied().unwrap_or(0.0))
}

/// An executor with the tools, backoff and limits of a setup, whose chance is the environment's own.
pub fn plain_executor(setup: Setup, env: Env, sink: impl Sink + 'static) -> Executor {
    let backoff = Backoff::new(setup.backoff).unwrap();
    Executor::builder(setup.registry).env(env).backoff(backoff).run_limits(setup.limits).sink(sink).build()
}
