//! Each fault at each event where it can come, then pairs of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use super::only::Only;
use super::parallel::ordered;
use super::ran::{Failed, Ran};
use super::reporting::reported;
use super::watch::Watched;
use super::{
    Campaign, CampaignReport, Coverage, ExploreError, Failure, PairCoverage, Play, Recipe, Skipped, SweepPoint,
};
use crate::fault::{Fault, FaultKind, FaultPlan, FaultPoint};
use crate::{Run, World, WorldError, WorldHandle};

/// How many different failures a sweep makes smaller and tells.
const FAILURES_TOLD_MAX: usize = 5;

/// What a sweep went through.
#[derive(Debug, Default)]
pub struct SweepReport {
    /// What its runs went through.
    pub campaign: CampaignReport,
    /// What came of each kind of fault at the events of each name.
    pub coverage: BTreeMap<FaultKind, BTreeMap<&'static str, Coverage>>,
    /// Kinds for which no event of the clean run was one where they can come.
    pub never_applicable: Vec<FaultKind>,
    /// What came of pairs of faults.
    pub pairs: PairCoverage,
    /// How many runs failed.
    pub failing: usize,
    /// The failure of each way to fail that tells most, made smaller: the one with the fewest faults. Broken assertions come
    /// before runs that come to no end.
    pub failures: Vec<Failure>,
}

/// What became of one fault.
enum Came {
    Passed(Box<Ran>),
    Failed(Box<Failed>),
    Skipped(Skipped),
}

/// What failed: how often, and of each way to fail the run with the fewest faults.
#[derive(Default)]
struct Found {
    count: usize,
    ways: Vec<(Failed, SweepPoint)>,
}

impl Found {
    fn add(&mut self, failed: Failed, point: SweepPoint) {
        self.count += 1;
        match self.ways.iter_mut().find(|(known, _)| known.signature() == failed.signature()) {
            None => self.ways.push((failed, point)),
            Some(known) if failed.faults() < known.0.faults() => *known = (failed, point),
            Some(_) => {}
        }
    }

    /// Those that are told, those that tell most first.
    fn told(mut self) -> impl Iterator<Item = (Failed, SweepPoint)> {
        self.ways.sort_by_key(|(failed, _)| failed.rank());
        self.ways.into_iter().take(FAILURES_TOLD_MAX)
    }
}

impl<W: Fn(u64) -> World + Sync> Campaign<W> {
    /// Runs the scenario once without faults, then with every fault at every event of that run where it can come, then with
    /// pairs of them. Each run must come to its end once its faults are over. Only the first of the seeds is taken. Failures are
    /// reported as by [`Campaign::run`].
    ///
    /// **A fault of a host comes at an event of that host**: what a guest does without one, such as to compute, is no place
    /// for it. Say [`Process::mark`](crate::Process::mark) where a step ends that must survive.
    ///
    /// ```
    /// use windtunnel_core::BoxError;
    /// use windtunnel_sim::Campaign;
    ///
    /// let swept = Campaign::new().sweep(|world| async move {
    ///     let pay = || async {
    ///         world.effects().happen("payment", None).await;
    ///         Ok::<_, BoxError>(())
    ///     };
    ///     let _answer = world.faults().call("pay", pay).await;
    ///     world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
    /// });
    /// assert!(swept.unwrap_err().to_string().contains(r#"{"fault":"tool.duplicate"}"#));
    /// ```
    ///
    /// # Errors
    /// [`ExploreError::Swept`] with the failures; [`ExploreError::Failed`] if the scenario fails without faults; the others
    /// if there is nothing to try.
    pub fn sweep<F, Fut>(&self, scenario: F) -> Result<SweepReport, ExploreError>
    where
        F: Fn(WorldHandle) -> Fut + Sync,
        Fut: Future<Output = ()>,
    {
        let play = |world: World| world.run(&scenario);
        let swept = match Only::from_environment()? {
            Only::All => self.sweep_by(self.first_seed(), &play),
            Only::Seed(seed) => self.sweep_by(seed, &play),
            Only::Recipe(recipe) => {
                let repeated = self.repeat(&recipe, &play);
                repeated.map(|campaign| SweepReport { campaign, ..SweepReport::default() })
            }
        };
        swept.map_err(reported)
    }

    /// The seed that a sweep takes.
    pub(crate) fn first_seed(&self) -> u64 {
        self.seeds.start
    }

    /// The same with whatever runs in a world.
    pub(crate) fn sweep_by(&self, seed: u64, play: Play<'_>) -> Result<SweepReport, ExploreError> {
        if self.seeds.is_empty() {
            return Err(ExploreError::NoSeeds { seeds: self.seeds.clone() });
        }
        let healing = self.healing(seed, play)?;
        let world = self.base(seed, Some(healing)).world(&self.world).survey(&self.kinds);
        let mut clean = match Failed::of(play(world)) {
            Ok(clean) => clean,
            Err(failed) => return Err(self.failure(*failed, Some(healing), play)),
        };
        let points = std::mem::take(&mut clean.points);
        let mut report = SweepReport::default();
        report.campaign.add(clean.trace.len(), &clean.faults, &clean.assertions);
        let is_tried = |kind: &FaultKind| points.iter().any(|point| point.fault.action.kind() == *kind);
        report.never_applicable = self.kinds.iter().copied().filter(|kind| !is_tried(kind)).collect();
        if points.is_empty() {
            return Err(ExploreError::NoFaultDelivered { report: Box::new(report.campaign) });
        }
        let plans: Vec<_> = points.iter().map(|point| vec![point.fault.clone()]).collect();
        let count = plans.len();
        let tried = self.try_plans(seed, healing, &plans, play);
        let mut passed = Vec::new();
        let mut found = Found::default();
        for (place, (FaultPoint { event, fault }, came)) in points.into_iter().zip(tried).enumerate() {
            let cell = report.coverage.entry(fault.action.kind()).or_default().entry(event).or_default();
            match came {
                Came::Passed(ran) => {
                    cell.passed += 1;
                    ran.add_to(&mut report.campaign);
                    passed.push(fault);
                }
                Came::Failed(run) => {
                    cell.failed += 1;
                    found.add(*run, SweepPoint { number: place + 1, count, is_pair: false });
                }
                Came::Skipped(why) => *cell.skipped.entry(why).or_default() += 1,
            }
        }
        self.pairs(seed, healing, &passed, play, &mut report, &mut found);
        self.tell(found, healing, play, report)
    }

    /// Tries pairs of faults that passed alone.
    fn pairs(
        &self,
        seed: u64,
        healing: Duration,
        passed: &[Fault],
        play: Play<'_>,
        report: &mut SweepReport,
        found: &mut Found,
    ) {
        if passed.len() < 2 {
            return;
        }
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || (generator.next_u64() % passed.len() as u64) as usize;
        let all = passed.len() * (passed.len() - 1) / 2;
        let mut pairs = BTreeSet::new();
        if all <= self.pairs_max {
            pairs.extend((0..passed.len()).flat_map(|other| (0..other).map(move |one| (one, other))));
        }
        while pairs.len() < self.pairs_max.min(all) {
            let (one, other) = (draw(), draw());
            if one != other {
                pairs.insert((one.min(other), one.max(other)));
            }
        }
        let plans: Vec<_> =
            pairs.into_iter().map(|(one, other)| vec![passed[one].clone(), passed[other].clone()]).collect();
        for (place, came) in self.try_plans(seed, healing, &plans, play).into_iter().enumerate() {
            match came {
                Came::Passed(ran) => {
                    *(if ran.faults() > 1 { &mut report.pairs.passed } else { &mut report.pairs.only_one_came }) += 1;
                    ran.add_to(&mut report.campaign);
                }
                Came::Failed(run) => {
                    report.pairs.failed += 1;
                    found.add(*run, SweepPoint { number: place + 1, count: plans.len(), is_pair: true });
                }
                Came::Skipped(_) => report.pairs.none_came += 1,
            }
        }
    }

    fn try_plans(&self, seed: u64, healing: Duration, plans: &[Vec<Fault>], play: Play<'_>) -> Vec<Came> {
        let work = |place: usize| {
            let faults = FaultPlan::new(plans[place].iter().cloned());
            let is_of_world = faults.faults.iter().any(|fault| fault.action.kind().is_of_world());
            let recipe = Recipe { faults, ..self.base(seed, Some(healing)) };
            let run = play(recipe.world(&self.world));
            let came = came(run, is_of_world);
            self.watcher.tell(Watched::Ended { has_failed: matches!(came, Came::Failed(_)) });
            came
        };
        self.watcher.tell(Watched::Planned { runs: plans.len() });
        ordered(self.jobs, plans.len(), work, |_| false)
    }

    /// The end: what was found, each way to fail once.
    fn tell(
        &self,
        found: Found,
        healing: Duration,
        play: Play<'_>,
        mut report: SweepReport,
    ) -> Result<SweepReport, ExploreError> {
        report.failing = found.count;
        for (failed, point) in found.told() {
            let failure = self.shrunk(failed, Some(healing), play);
            report.failures.push(Failure { point: Some(point), ..failure });
        }
        if !report.failures.is_empty() {
            return Err(ExploreError::Swept(Box::new(report)));
        }
        if report.campaign.delivered.is_empty() {
            return Err(ExploreError::NoFaultDelivered { report: Box::new(report.campaign) });
        }
        self.check_seen(&report.campaign)?;
        Ok(report)
    }
}

fn came(run: Run<()>, is_of_world: bool) -> Came {
    match run.outcome {
        Err(WorldError::NoFaultDelivered { .. }) if is_of_world => Came::Skipped(Skipped::NothingToActOn),
        Err(WorldError::NoFaultDelivered { .. }) => Came::Skipped(Skipped::NobodyTookIt),
        _ => match Ran::of(run) {
            Ran { outcome: Err(failed), .. } => Came::Failed(failed),
            ran => Came::Passed(Box::new(ran)),
        },
    }
}

impl fmt::Display for SweepReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.campaign.seeds as usize + self.failing;
        writeln!(formatter, "{runs} runs, {} failed", self.failing)?;
        let is_told = |coverage: &Coverage| self.failing == 0 || coverage.failed > 0;
        for (kind, events) in &self.coverage {
            for (event, coverage) in events.iter().filter(|(_, coverage)| is_told(coverage)) {
                writeln!(formatter, "  {:<26} at {event:<22} {coverage}", kind.name())?;
            }
        }
        if self.failing > 0 {
            return self.failures.iter().try_for_each(|failure| write!(formatter, "\n{failure}"));
        }
        if !self.never_applicable.is_empty() {
            let kinds: Vec<_> = self.never_applicable.iter().map(|kind| kind.name()).collect();
            writeln!(formatter, "  nowhere to come in this scenario: {}", kinds.join(", "))?;
        }
        if self.pairs.tried() > 0 {
            writeln!(formatter, "  {}", self.pairs)?;
        }
        Ok(())
    }
}
