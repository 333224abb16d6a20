//! Runs of a case, with the lines that repeat them.

use windtunnel_sim::case::{Case, CaseRun, Verdict};
use windtunnel_sim::report::{ReportedRun, Snippet};
use windtunnel_sim::{Failure as FailedRun, Recipe};

use crate::shell;

/// Where a case comes from, as command lines name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    /// Where the file holds several.
    pub(crate) id: Option<&'a str>,
}

impl Source<'_> {
    /// A run of a seed.
    pub(crate) fn run(&self, case: &Case, run: &CaseRun, verdict: &Verdict) -> ReportedRun {
        let seed = run.seed();
        let mut reported = ReportedRun::of_case(format!("{}, seed {seed}", case.id()), run, verdict);
        reported.commands.push(Snippet::new("Repeat it", self.replay(seed)));
        if !reported.passed() && !run.faults().is_empty() {
            reported.commands.push(Snippet::new("Make it small", shell::shrink(self.file, self.id, seed)));
        }
        reported
    }

    /// The line that repeats a seed.
    pub(crate) fn replay(&self, seed: u64) -> String {
        shell::replay(self.file, self.id, seed)
    }

    /// The line that repeats a recipe.
    pub(crate) fn replay_recipe(&self, recipe: &Recipe) -> String {
        shell::replay_recipe(self.file, self.id, recipe)
    }

    /// The seed, run anew.
    pub(crate) fn run_seed(&self, case: &Case, seed: u64) -> ReportedRun {
        let run = case.run(seed);
        self.run(case, &run, &case.judge(&run))
    }

    /// A run that follows from a recipe.
    pub(crate) fn run_recipe(&self, case: &Case, recipe: &Recipe, run: &CaseRun, verdict: &Verdict) -> ReportedRun {
        let mut reported = ReportedRun::of_case(format!("{}, seed {}", case.id(), recipe.seed), run, verdict);
        reported.commands.push(Snippet::new("Repeat it", self.replay_recipe(recipe)));
        if let Some(plan) = plan(recipe) {
            reported.snippets.push(Snippet::new("Plan of faults", plan));
        }
        reported
    }

    /// The smallest run that fails as a seed does, if that has faults.
    pub(crate) fn smallest(&self, case: &Case, seed: u64) -> Option<ReportedRun> {
        let shrunk = case.shrink(seed)?;
        let recipe = shrunk.failure.smallest();
        let run = case.repeat(recipe);
        let mut reported = self.run_recipe(case, recipe, &run, &case.judge(&run));
        let before = shrunk.failure.faults.len();
        reported.name = format!("{}, with {} of {before} faults", reported.name, run.faults().len());
        self.call_minimal(&mut reported);
        reported.snippets.push(Snippet::new("As a case", format!("{:#}", shrunk.case)));
        Some(reported)
    }

    /// A run that a sweep found.
    pub(crate) fn found(&self, case: &Case, failure: &FailedRun) -> ReportedRun {
        let recipe = failure.smallest();
        let run = case.repeat(recipe);
        let mut reported = self.run_recipe(case, recipe, &run, &case.judge_invariants(&run));
        if let Some(point) = failure.point {
            reported.name = format!("{}, {point}", case.id());
        }
        self.call_minimal(&mut reported);
        reported.snippets.push(Snippet::new("As a case", format!("{:#}", case.with_faults_of(failure))));
        reported
    }

    fn call_minimal(&self, reported: &mut ReportedRun) {
        let plan = reported.snippets.iter_mut().find(|snippet| snippet.label == "Plan of faults");
        plan.into_iter().for_each(|plan| plan.label = "Minimal plan of faults".to_owned());
    }
}

/// The faults of a recipe, as a plan.
fn plan(recipe: &Recipe) -> Option<String> {
    let is_empty = recipe.faults.faults.is_empty();
    (!is_empty).then(|| serde_json::to_string_pretty(&recipe.faults).unwrap_or_default())
}
