//! Reports of many runs of a case.

use windtunnel_sim::case::Case;
use windtunnel_sim::fault::FaultKind;
use windtunnel_sim::report::{AssertionRow, Count, Fact, Report, ReportedCampaign, ReportedRun};
use windtunnel_sim::{Recipe, SweepReport};

use super::{Figures, Source};
use crate::tally::Tally;

/// How many failing seeds have a timeline.
const FAILING_MAX: usize = 5;

/// What the seeds of a case came to, with the first failing seeds, or else the slowest one. `before` is how many runs the
/// report has already.
pub(crate) fn of_run(
    before: usize,
    case: &Case,
    source: Source<'_>,
    tally: &Tally,
    mut figures: Figures,
    seeds: &str,
) -> (Vec<ReportedRun>, ReportedCampaign) {
    let mut runs: Vec<_> =
        tally.failing_seeds.first().and_then(|seed| source.smallest(case, *seed)).into_iter().collect();
    let slowest = figures.slowest.first().map(|run| run.seed);
    let mut shown: Vec<u64> = tally.failing_seeds.iter().copied().take(FAILING_MAX).collect();
    shown.extend(slowest.filter(|seed| !shown.contains(seed)));
    for seed in shown {
        for run in figures.slowest.iter_mut().filter(|run| run.seed == seed) {
            run.run = Some(before + runs.len());
        }
        runs.push(source.run_seed(case, seed));
    }
    for run in &mut figures.slowest {
        run.command = source.replay(run.seed);
    }
    let never = case.drawn_faults().into_iter().filter(|kind| !tally.faults.contains_key(kind));
    let is_untried = tally.is_untried(&case.drawn_faults());
    let problem = if is_untried { ": not one fault came" } else { "" };
    let campaign = ReportedCampaign {
        name: format!("{}, seeds {seeds}{problem}", case.id()),
        passed: tally.failing == 0 && !is_untried,
        facts: vec![
            Fact::new("runs", tally.runs),
            Fact::new("failed", tally.failing),
            Fact::new("events", tally.events.total),
            Fact::new("faults", tally.faults.values().sum::<u64>()),
        ],
        unit: tally.unit.as_str().to_owned(),
        outcomes: tally.outcomes.iter().map(|(outcome, count)| Count::new(*outcome, *count)).collect(),
        distributions: figures.distributions(),
        faults: tally.faults.iter().map(|(kind, count)| Count::new(kind.name(), *count)).collect(),
        never_came: never.map(|kind| FaultKind::name(kind).to_owned()).collect(),
        assertions: tally.broken.iter().map(|(name, broken)| assertion(name, tally.runs, *broken)).collect(),
        slowest: figures.slowest,
        ..ReportedCampaign::default()
    };
    (runs, campaign)
}

fn assertion(name: &str, runs: u64, broken: u64) -> AssertionRow {
    let (name, kind) = (name.to_owned(), "always".to_owned());
    AssertionRow { name, kind, held: runs - broken, failed: broken, is_broken: broken > 0 }
}

/// Adds what a sweep of a case found, or else the run without faults.
pub(crate) fn of_sweep(
    report: &mut Report,
    case: &Case,
    source: Source<'_>,
    seed: u64,
    swept: &SweepReport,
    problem: Option<&str>,
) {
    report.runs.extend(swept.failures.iter().map(|failure| source.found(case, failure)));
    if swept.failures.is_empty() {
        let clean = Recipe::new(seed);
        let run = case.repeat(&clean);
        let reported = source.run_recipe(case, &clean, &run, &case.judge_invariants(&run));
        let name = format!("{}, without faults", reported.name);
        report.runs.push(ReportedRun { name, ..reported });
    }
    let name = match problem {
        Some(problem) => format!("{}, every fault at every event: {problem}", case.id()),
        None => format!("{}, every fault at every event", case.id()),
    };
    let campaign = ReportedCampaign::of_sweep(name, swept);
    report.campaigns.push(ReportedCampaign { passed: problem.is_none(), ..campaign });
}
