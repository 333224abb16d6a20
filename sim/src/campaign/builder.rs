//! Setting a campaign up, and running it over seeds.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use super::only::Only;
use super::parallel::{cores, ordered};
use super::ran::{Failed, Ran};
use super::reporting::reported;
use super::watch::{Watched, Watcher};
use super::{CampaignReport, ExploreError, Failure, Minimal, Play, Recipe};
#[cfg(feature = "case")]
use crate::Run;
use crate::fault::{FaultKind, RandomFaults};
use crate::{World, WorldError, WorldHandle};

/// Many runs of one scenario, with faults. By default: seeds 0 to 100, on all cores, without faults.
///
/// ```
/// use windtunnel_sim::{Campaign, RandomFaults};
/// use windtunnel_core::BoxError;
///
/// let campaign = Campaign::new().seeds(0..200).random_faults(RandomFaults::swarm());
/// let found = campaign.run(|world| async move {
///     let pay = || async {
///         world.effects().happen("payment", None).await;
///         Ok::<_, BoxError>(())
///     };
///     // A retry that does not ask whether the first attempt has paid.
///     if world.faults().call("pay", pay).await.is_err() {
///         let _answer = world.faults().call("pay", pay).await;
///     }
///     world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
/// });
/// let story = found.unwrap_err().to_string();
/// assert!(story.contains("with 1 of"), "{story}");
/// ```
#[derive(Clone)]
pub struct Campaign<W = fn(u64) -> World> {
    pub(super) world: W,
    pub(super) seeds: Range<u64>,
    pub(super) jobs: NonZeroUsize,
    random_faults: Option<RandomFaults>,
    heal_after: Option<Duration>,
    finish_within: Duration,
    expected: BTreeSet<String>,
    shrink_runs_max: usize,
    pub(super) kinds: BTreeSet<FaultKind>,
    pub(super) pairs_max: usize,
    pub(super) watcher: Watcher,
}

impl Campaign {
    /// A campaign in worlds of [`World::new`].
    pub fn new() -> Self {
        Self::in_worlds(World::new)
    }
}

impl Default for Campaign {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Fn(u64) -> World + Sync> Campaign<W> {
    /// A campaign in worlds that are set up for each seed.
    pub fn in_worlds(world: W) -> Self {
        Self {
            world,
            seeds: 0..100,
            jobs: cores(),
            random_faults: None,
            heal_after: None,
            finish_within: Duration::from_secs(24 * 60 * 60),
            expected: BTreeSet::new(),
            shrink_runs_max: 2000,
            kinds: FaultKind::ALL.into(),
            pairs_max: 200,
            watcher: Watcher::default(),
        }
    }

    /// The seeds; a sweep takes the first alone. Default: 0 to 100.
    #[must_use]
    pub fn seeds(self, seeds: Range<u64>) -> Self {
        Self { seeds, ..self }
    }

    /// On how many threads. Default: as many as there are cores.
    #[must_use]
    pub fn jobs(self, jobs: NonZeroUsize) -> Self {
        Self { jobs, ..self }
    }

    /// What goes wrong at random. Default: nothing.
    #[must_use]
    pub fn random_faults(self, random_faults: RandomFaults) -> Self {
        Self { random_faults: Some(random_faults), ..self }
    }

    /// When the faults of a run are over and everything is repaired ([`World::heal_after`]). Default, if there are faults:
    /// twice as long as a run without faults takes, and a minute.
    #[must_use]
    pub fn heal_after(self, heal_after: Duration) -> Self {
        Self { heal_after: Some(heal_after), ..self }
    }

    /// Within which time a run must then come to its end; one whose world ends earlier ([`World::time_limit`]) has less.
    /// Default: a day.
    #[must_use]
    pub fn finish_within(self, finish_within: Duration) -> Self {
        Self { finish_within, ..self }
    }

    /// Assertions that must be evaluated in at least one run, whatever they say.
    #[must_use]
    pub fn expect_assertions<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.expected.extend(names.into_iter().map(Into::into));
        self
    }

    /// How many runs a failure may cost to make it smaller. Default: 2,000; 0 leaves it as it is.
    #[must_use]
    pub fn shrink_runs_max(self, shrink_runs_max: usize) -> Self {
        Self { shrink_runs_max, ..self }
    }

    /// Which kinds of fault a sweep tries. Default: all.
    #[must_use]
    pub fn kinds(self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        Self { kinds: kinds.into_iter().collect(), ..self }
    }

    /// How many pairs of faults a sweep tries, drawn among those that passed alone. Default: 200.
    #[must_use]
    pub fn pairs_max(self, pairs_max: usize) -> Self {
        Self { pairs_max, ..self }
    }

    /// Who is told how far a sweep has come, on whichever thread a run came to its end. Default: nobody.
    #[must_use]
    pub fn watch(self, watch: impl Fn(Watched) + Send + Sync + 'static) -> Self {
        Self { watcher: Watcher::new(watch), ..self }
    }

    /// Runs the scenario with each seed, until one fails. If the environment variable `WINDTUNNEL_REPORT` names a folder, a
    /// failure is [reported](crate::report) there.
    ///
    /// # Errors
    /// [`ExploreError`]: the failure of the lowest seed, made smaller; or that the runs have not seen what they must.
    pub fn run<F, Fut>(&self, scenario: F) -> Result<CampaignReport, ExploreError>
    where
        F: Fn(WorldHandle) -> Fut + Sync,
        Fut: Future<Output = ()>,
    {
        let play = |world: World| world.run(&scenario);
        let explored = match Only::from_environment()? {
            Only::All => self.run_seeds(self.seeds.clone(), true, &play),
            Only::Seed(seed) => self.run_seeds(seed..seed + 1, false, &play),
            Only::Recipe(recipe) => self.repeat(&recipe, &play),
        };
        explored.map_err(reported)
    }

    /// Runs these seeds; whether they are all that were asked for, so that what was never seen counts.
    fn run_seeds(&self, seeds: Range<u64>, is_whole: bool, play: Play<'_>) -> Result<CampaignReport, ExploreError> {
        if seeds.is_empty() {
            return Err(ExploreError::NoSeeds { seeds });
        }
        // Of the campaign's first seed, also if another one is repeated alone.
        let healing = self.healing_of_runs(self.seeds.start, play)?;
        let world = self.worlds(healing);
        let count = usize::try_from(seeds.end - seeds.start).unwrap_or(usize::MAX);
        let work = |place| Ran::of(play(world(seeds.start + place as u64)));
        let runs = ordered(self.jobs, count, work, |ran| ran.outcome.is_err());
        self.sum_up(runs, is_whole, healing, play)
    }

    fn sum_up(
        &self,
        runs: Vec<Ran>,
        is_whole: bool,
        healing: Option<Duration>,
        play: Play<'_>,
    ) -> Result<CampaignReport, ExploreError> {
        let mut report = CampaignReport::default();
        for ran in runs {
            ran.add_to(&mut report);
            if let Err(failed) = ran.outcome {
                return Err(self.failure(*failed, healing, play));
            }
        }
        if let Some(faults) = &self.random_faults {
            report.never_delivered =
                faults.kinds().into_iter().filter(|kind| !report.delivered.contains_key(kind)).collect();
            if report.delivered.is_empty() && is_whole {
                return Err(ExploreError::NoFaultDelivered { report: Box::new(report) });
            }
        }
        if is_whole {
            self.check_seen(&report)?;
        }
        Ok(report)
    }

    /// Whether everything was seen that must be.
    pub(super) fn check_seen(&self, report: &CampaignReport) -> Result<(), ExploreError> {
        if let Some((name, kinds)) = report.ambiguous.first_key_value() {
            return Err(ExploreError::AmbiguousAssertion { assertion: name.to_string(), kinds: *kinds });
        }
        let assertions = report.unseen(&self.expected);
        if assertions.is_empty() {
            return Ok(());
        }
        Err(ExploreError::Unseen { assertions, report: Box::new(report.clone()) })
    }

    /// A run of a seed without faults, which heals at that time.
    pub(super) fn base(&self, seed: u64, healing: Option<Duration>) -> Recipe {
        let time_limit = healing.map(|healing| healing.saturating_add(self.finish_within));
        let (heal_after_s, time_limit_s) =
            (healing.map(|time| time.as_secs_f64()), time_limit.map(|time| time.as_secs_f64()));
        Recipe { heal_after_s, time_limit_s, ..Recipe::new(seed) }
    }

    /// The worlds that seeds are run in.
    pub(super) fn worlds(&self, healing: Option<Duration>) -> impl Fn(u64) -> World + Sync {
        let base = self.base(0, healing);
        move |seed| {
            let world = base.timed((self.world)(seed));
            match &self.random_faults {
                Some(faults) => world.random_faults(faults.clone()),
                None => world,
            }
        }
    }

    /// When runs over seeds heal: only those with faults do by themselves.
    pub(super) fn healing_of_runs(&self, seed: u64, play: Play<'_>) -> Result<Option<Duration>, ExploreError> {
        match &self.random_faults {
            Some(_) => self.healing(seed, play).map(Some),
            None => Ok(self.heal_after),
        }
    }

    /// When runs heal: after a time that follows from a run without faults, which must not fail.
    pub(super) fn healing(&self, seed: u64, play: Play<'_>) -> Result<Duration, ExploreError> {
        if let Some(heal_after) = self.heal_after {
            return Ok(heal_after);
        }
        let calm = play(self.base(seed, None).world(&self.world));
        let elapsed = calm.elapsed;
        match Failed::of(calm) {
            Ok(_) => Ok(Duration::from_secs(elapsed.as_secs().saturating_mul(2).saturating_add(60))),
            Err(failed) => Err(self.failure(*failed, None, play)),
        }
    }

    pub(super) fn repeat(&self, recipe: &Recipe, play: Play<'_>) -> Result<CampaignReport, ExploreError> {
        let run = play(recipe.world(&self.world));
        let mut report = CampaignReport::default();
        report.add(run.trace.len(), &run.faults, &run.assertions);
        match Failed::of(run) {
            Ok(_) => Ok(report),
            Err(failed) => {
                let failure = Failure { is_repeated: true, ..failed.into_failure(recipe.clone()) };
                Err(ExploreError::Failed(Box::new(failure)))
            }
        }
    }

    /// A run that failed, made smaller.
    pub(super) fn failure(&self, failed: Failed, healing: Option<Duration>, play: Play<'_>) -> ExploreError {
        ExploreError::Failed(Box::new(self.shrunk(failed, healing, play)))
    }

    /// A run that failed, made smaller; nothing, if it did not fail. It healed at that time, if it did.
    #[cfg(feature = "case")]
    pub(crate) fn shrink(&self, run: Run<()>, healing: Option<Duration>, play: Play<'_>) -> Option<Failure> {
        let failed = Failed::of(run).err()?;
        Some(self.shrunk(*failed, healing, play))
    }

    /// The failure, with the smallest run that was found to fail in the same way.
    pub(super) fn shrunk(&self, failed: Failed, healing: Option<Duration>, play: Play<'_>) -> Failure {
        let recipe = failed.recipe(self.base(failed.seed(), healing));
        let failure = failed.into_failure(recipe);
        // A leak is of the guest's code, whatever else happens; a plan for hosts that there are not is just wrong.
        let has_cause_in_faults = !matches!(failure.error, WorldError::Leak { .. } | WorldError::UnknownHost { .. });
        if !has_cause_in_faults || self.shrink_runs_max == 0 {
            return failure;
        }
        let run = |recipe: &Recipe, keeps_choices: bool| {
            let world = recipe.world(&self.world);
            play(if keeps_choices { world.keep_choices() } else { world })
        };
        let mut fails = |recipe: &Recipe, keeps_choices: bool| {
            let again = run(recipe, keeps_choices);
            again.outcome.is_err_and(|error| error.is_like(&failure.error)).then_some(again.choices)
        };
        let (recipe, runs) = failure.recipe.clone().shrink(self.shrink_runs_max, &mut fails);
        if recipe == failure.recipe {
            return failure;
        }
        // What is told is a run that has been repeated.
        let smallest = run(&recipe, false);
        let Err(error) = smallest.outcome else { return failure };
        let minimal = Minimal { recipe, error, trace: smallest.trace, faults: smallest.faults, runs };
        Failure { minimal: Some(minimal), ..failure }
    }
}

impl<W> fmt::Debug for Campaign<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Campaign").field("seeds", &self.seeds).field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::explore;

    #[test]
    fn an_exploration_of_nothing_is_refused() {
        let nothing = explore(5..5, |_world| async {}).unwrap_err();
        assert_eq!(nothing.to_string(), "there are no seeds in 5..5");
    }
}
