//! Many runs of random steps with random faults.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, FileFailurePersistence, Reason, RngSeed, TestCaseError, TestError, TestRunner};
use windtunnel_sim::Recipe;
use windtunnel_sim::fault::{FaultKind, FaultPlan};

use super::drawn::{Drawn, runner_of};
use super::smallest::Smallest;
use super::subject::{Played, Subject};
use super::{InWorld, StateMachine, WorldFailure};
use crate::suites::Settings;

/// Explores random steps and faults, and makes a failing run as small as can be: its steps, their values, its faults and the
/// order of its tasks together.
#[must_use = "nothing runs before `run`"]
pub struct Exploration<S> {
    subject: S,
    settings: Settings,
    steps_max: usize,
    shrink_runs_max: usize,
    is_twice: bool,
    regressions: Option<&'static str>,
}

/// What was explored in runs of which none failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// How many runs there were.
    pub runs: usize,
    /// How many steps they had.
    pub steps: usize,
    /// How many events came.
    pub events: usize,
    /// How many faults of each kind came.
    pub faults: BTreeMap<FaultKind, usize>,
}

impl<M: StateMachine> Exploration<InWorld<M>> {
    /// Explores a state machine.
    pub fn of(machine: M) -> Self {
        Self::of_subject(InWorld(machine))
    }
}

#[cfg(feature = "case")]
impl<W: super::CaseWorld> Exploration<super::InCase<W>> {
    /// Explores case files (feature `case`).
    pub fn of_cases(world: W) -> Self {
        Self::of_subject(super::InCase(world))
    }
}

impl<S: Subject> Exploration<S> {
    fn of_subject(subject: S) -> Self {
        let (settings, regressions) = (Settings::default(), None);
        Self { subject, settings, steps_max: 20, shrink_runs_max: 4000, is_twice: false, regressions }
    }

    /// How many runs, and which. Default: 64, from the seed 0; see [`Settings::from_environment`].
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// How many steps a run has at the most. Default 20.
    pub fn steps_max(self, steps_max: usize) -> Self {
        Self { steps_max, ..self }
    }

    /// How many runs a failure may cost to make it smaller. Default 4,000.
    pub fn shrink_runs_max(self, shrink_runs_max: usize) -> Self {
        Self { shrink_runs_max, ..self }
    }

    /// Runs each run that holds a second time, and fails if its events are not the same. Default: once.
    pub fn twice(self) -> Self {
        Self { is_twice: true, ..self }
    }

    /// A file of failures that are tried before any others; a new one is added: commit it with the fix. Default: none.
    pub fn regressions(self, path: &'static str) -> Self {
        Self { regressions: Some(path), ..self }
    }

    /// Runs them, until one fails.
    ///
    /// # Errors
    /// The smallest run that was found to fail as the first failing one did.
    pub fn run(&self) -> Result<Explored, Box<WorldFailure<S::Operation>>> {
        let persistence = self.regressions.map(|path| Box::new(FileFailurePersistence::Direct(path)) as Box<_>);
        let config = Config {
            cases: self.settings.cases,
            rng_seed: RngSeed::Fixed(self.settings.seed),
            failure_persistence: persistence,
            ..Config::default()
        };
        let (found, explored) = (RefCell::new(None), RefCell::new(Explored::default()));
        let told = Arc::new(Mutex::new(String::new()));
        let tried = TestRunner::new(config).run(&case_seeds(&told), |seed| match self.try_one(&seed.bytes) {
            Ok(one) => {
                explored.borrow_mut().add(one);
                Ok(())
            }
            Err(failure) => {
                *told.lock() = failure.line();
                let reason = failure.error.to_string();
                *found.borrow_mut() = Some(failure);
                Err(TestCaseError::fail(reason))
            }
        });
        match (found.into_inner(), tried) {
            (Some(failure), _) => Err(failure),
            (None, Ok(())) => Ok(explored.into_inner()),
            (None, Err(TestError::Fail(reason, _) | TestError::Abort(reason))) => {
                Err(Box::new(WorldFailure::without_run(&reason)))
            }
        }
    }

    /// One run, which follows from these bytes alone; if it fails, the smallest that does so.
    fn try_one(&self, bytes: &[u8; 32]) -> Result<Explored, Box<WorldFailure<S::Operation>>> {
        let drawn = self.draw_run(bytes).map_err(|reason| Box::new(WorldFailure::without_run(&reason)))?;
        let DrawnRun { steps: drawn, seed } = drawn;
        let steps: Vec<_> = drawn.iter().map(|drawn| drawn.step.clone()).collect();
        let played = self.subject.draw(&steps, seed);
        let faults = FaultPlan::new(played.faults.iter().map(|delivered| delivered.fault.clone()));
        let recipe = Recipe { faults, ..Recipe::new(seed) };
        let Err(error) = &played.outcome else {
            if self.is_twice && self.subject.draw(&steps, seed).digest != played.digest {
                return Err(Box::new(WorldFailure::unrepeated(&self.subject, steps, recipe, played)));
            }
            return Ok(Explored::of(steps.len(), &played));
        };
        let smallest = Smallest::new(&self.subject, error, drawn, recipe.clone(), self.shrink_runs_max);
        let (smaller, smaller_recipe, left) = smallest.find();
        let runs = self.shrink_runs_max - left;
        let failure = WorldFailure::repeated(&self.subject, smaller, smaller_recipe, runs);
        Err(Box::new(failure.unwrap_or_else(|| WorldFailure::unrepeated(&self.subject, steps, recipe, played))))
    }

    fn draw_run(&self, bytes: &[u8; 32]) -> Result<DrawnRun<S::Operation>, Reason> {
        let mut runner = runner_of(bytes);
        let (count, seed) = (1..=self.steps_max.max(1), any::<u32>()).new_tree(&mut runner)?.current();
        let of_steps = vec(any::<[u8; 32]>(), count).new_tree(&mut runner)?.current();
        let strategy = self.subject.steps();
        let drawn = of_steps.into_iter().map(|bytes| Drawn::new(strategy.clone(), bytes));
        Ok(DrawnRun { steps: drawn.collect::<Result<_, _>>()?, seed: u64::from(seed) })
    }
}

/// The steps and the seed of a run.
struct DrawnRun<O> {
    steps: Vec<Drawn<O>>,
    seed: u64,
}

impl Explored {
    fn of(steps: usize, played: &Played) -> Self {
        let mut faults = BTreeMap::new();
        for delivered in &played.faults {
            *faults.entry(delivered.fault.action.kind()).or_default() += 1;
        }
        Self { runs: 1, steps, events: played.trace.len(), faults }
    }

    fn add(&mut self, one: Self) {
        self.runs += one.runs;
        self.steps += one.steps;
        self.events += one.events;
        for (kind, count) in one.faults {
            *self.faults.entry(kind).or_default() += count;
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for Exploration<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Exploration").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// What a run follows from. A file of failures keeps it, with what it came to.
struct CaseSeed {
    bytes: [u8; 32],
    told: Arc<Mutex<String>>,
}

impl fmt::Debug for CaseSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.told.lock())
    }
}

/// What makes a failing run smaller is not proptest: it knows nothing of what came in it.
fn case_seeds(told: &Arc<Mutex<String>>) -> impl Strategy<Value = CaseSeed> + use<> {
    let told = Arc::clone(told);
    any::<[u8; 32]>().prop_map(move |bytes| CaseSeed { bytes, told: Arc::clone(&told) }).no_shrink()
}
