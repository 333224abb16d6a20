//! What goes wrong in a case, tried out: each fault at each event.

use super::definition::Case;
use super::run::CaseRun;
use super::store::Keeping;
use super::trouble::Setting;
use super::verdict::Verdict;
use crate::{Campaign, ExploreError, Recipe, Run, SweepReport, World, WorldError};

/// What a run is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// All that the file says.
    All,
    /// What holds whatever goes wrong: that it comes to an end, and `always`.
    Invariants,
}

impl Case {
    /// Runs the case once without its faults, then with every fault at every event of that run where it can come, then with
    /// pairs of them ([`Campaign::sweep`]). A run fails if it comes to no end or breaks an assertion of `always`; `expect` is
    /// about other runs. The campaign's first seed is the one.
    ///
    /// ```
    /// use windtunnel_sim::Campaign;
    /// use windtunnel_sim::case::{Case, Format};
    ///
    /// let text = r#"{
    ///     "tools": [{"name": "pay", "retries": 1, "timeout_s": 5}],
    ///     "calls": [{"name": "pay"}],
    ///     "always": [{"name": "paid at most once", "that": "size(invocations) <= 1"}]
    /// }"#;
    /// let cases = Case::parse("pay.json", Format::Json, text)?;
    /// let swept = cases[0].sweep(&Campaign::new());
    /// assert!(swept.unwrap_err().to_string().contains("tool.lose_acknowledgment"));
    /// # Ok::<(), windtunnel_sim::case::LoadError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Campaign::sweep`].
    pub fn sweep(&self, campaign: &Campaign) -> Result<SweepReport, ExploreError> {
        let play = |world| self.play(world, Measure::Invariants);
        let campaign = campaign.clone();
        let campaign = match self.trouble.heal_after {
            Some(heal_after) => campaign.heal_after(heal_after),
            None => campaign,
        };
        let seed = campaign.first_seed();
        campaign.sweep_by(seed, &play)
    }

    /// Runs the case as a recipe says, which a sweep found, and not with its own faults.
    pub fn repeat(&self, recipe: &Recipe) -> CaseRun {
        self.run_in(recipe.world(World::new))
    }

    /// Holds a run against what holds whatever goes wrong: that it comes to an end, asks for nothing that its cassettes do not
    /// hold, and `always`.
    pub fn judge_invariants(&self, run: &CaseRun) -> Verdict {
        let verdict = self.judge(run);
        Verdict {
            refused: Vec::new(),
            unreached: Vec::new(),
            leftovers: Vec::new(),
            differences: Vec::new(),
            ..verdict
        }
    }

    /// The run as one of a world, with why the case failed: what the file says does not hold is an assertion of its name that
    /// does not.
    pub fn as_world_run(&self, run: CaseRun) -> Run<()> {
        self.failed(run, Measure::All)
    }

    /// Runs the case in a world, and gives why it failed.
    pub(super) fn play(&self, world: World, measure: Measure) -> Run<()> {
        self.failed(self.run_in(world), measure)
    }

    fn run_in(&self, world: World) -> CaseRun {
        self.kind.run(&Setting { world, takes_faults: true }, &Keeping::InMemory)
    }

    /// The world's run, with why the case failed.
    pub(super) fn failed(&self, run: CaseRun, measure: Measure) -> Run<()> {
        let verdict = match measure {
            Measure::All => self.judge(&run),
            Measure::Invariants => self.judge_invariants(&run),
        };
        let Run { seed, outcome, trace, elapsed, faults, undelivered, assertions, inputs, choices, points } = run.world;
        let outcome = match outcome {
            Ok(Err(error)) => Err(WorldError::Failed { problem: error.to_string() }),
            Err(error) => Err(error),
            Ok(Ok(())) => first_failure(&verdict).map_or(Ok(()), Err),
        };
        Run { seed, outcome, trace, elapsed, faults, undelivered, assertions, inputs, choices, points }
    }
}

/// Why a run failed that came to its end, in a form that tells one failure from another.
fn first_failure(verdict: &Verdict) -> Option<WorldError> {
    if verdict.passed() {
        return None;
    }
    if let Some(broken) = verdict.assertions.iter().find(|outcome| !outcome.holds()) {
        let assertion = broken.name.clone().unwrap_or_else(|| broken.that.clone());
        return Some(WorldError::AssertionFailed { assertion });
    }
    // The first line says what was asked, and the others how it differs.
    if let Some(miss) = verdict.misses.first() {
        let assertion = miss.lines().next().unwrap_or_default().to_owned();
        return Some(WorldError::AssertionFailed { assertion });
    }
    if let Some(difference) = verdict.differences.first() {
        return Some(WorldError::AssertionFailed { assertion: difference.path.to_string() });
    }
    Some(WorldError::Failed { problem: verdict.failures().join("; ") })
}
