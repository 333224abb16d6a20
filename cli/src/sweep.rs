//! `windtunnel sweep`: every fault at every event of a case.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comfy_table::Table;
use serde_json::{Value, json};
use windtunnel_sim::case::Case;
use windtunnel_sim::export::{JunitCase, JunitOutcome, JunitSuite, junit};
use windtunnel_sim::fault::FaultKind;
use windtunnel_sim::report::Report;
use windtunnel_sim::{Campaign, Coverage, ExploreError, Failure as FailedRun, Skipped, SweepReport, Watched};

use crate::arguments::{Format, SweepOptions, jobs};
use crate::check::{write_indented, write_line};
use crate::exported;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::progress::Progress;
use crate::replay::fault;
use crate::report::Source;
use crate::selection;
use crate::status::Status;
use crate::style::Style;
use crate::summary;

pub(crate) fn sweep(
    options: &SweepOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    options.report.check()?;
    let (file, id) = (options.file.clone(), options.case.clone());
    let loaded = pool::interruptible(interrupt, move || selection::cases(&file, id.as_deref()))?;
    let Some(cases) = loaded.transpose()? else { return Ok(Status::Interrupted) };
    let mut status = Status::Passed;
    let (mut swept, all, mut suites) = (0, cases.len(), Vec::new());
    let mut report = Report::new(&options.file);
    for case in cases.into_iter().map(Arc::new) {
        let seed = options.seed.unwrap_or(case.seed());
        let progress = Arc::new(Mutex::new(Progress::new(case.id(), "runs", 0, options.format, style)));
        let campaign = campaign(options, seed).watch(watcher(&progress));
        let sweeping = Arc::clone(&case);
        let found = pool::interruptible(interrupt, move || sweeping.sweep(&campaign))?;
        locked(&progress).finish();
        let Some(found) = found else {
            status = Status::Interrupted;
            break;
        };
        swept += 1;
        let found = Found::of(found)?;
        status = status.max(if found.problem.is_none() { Status::Passed } else { Status::Failed });
        let id = (all > 1 || options.case.is_some()).then(|| case.id());
        let source = Source { file: &options.file, id };
        let shown = Shown { case: &case, source };
        if options.report.is_asked() {
            crate::report::of_sweep(&mut report, &case, source, seed, &found.report, found.problem.as_deref());
        }
        suites.push(JunitSuite { name: case.id().to_owned(), cases: found.to_junit(&shown) });
        match options.format {
            Format::Text => found.write(&shown, seed, style, out)?,
            Format::Json => write_line(out, &found.to_json(&shown, seed))?,
        }
        out.flush()?;
    }
    options.report.save(&report)?;
    exported::write(options.junit.as_deref(), || junit(&suites))?;
    if options.format == Format::Json {
        let (passed, is_interrupted) = (status == Status::Passed, status == Status::Interrupted);
        let summary = json!({
            "type": "summary", "cases": all, "swept": swept, "passed": passed, "interrupted": is_interrupted,
        });
        write_line(out, &summary)?;
    }
    Ok(status)
}

/// Tells of runs as they end; they do on several threads.
fn watcher(progress: &Arc<Mutex<Progress>>) -> impl Fn(Watched) + Send + Sync + 'static {
    let progress = Arc::clone(progress);
    move |watched| match watched {
        Watched::Planned { runs } => locked(&progress).extend(runs as u64),
        Watched::Ended { has_failed } => locked(&progress).advance(has_failed),
    }
}

fn locked(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

fn campaign(options: &SweepOptions, seed: u64) -> Campaign {
    let campaign =
        Campaign::new().seeds(seed..seed.saturating_add(1)).jobs(jobs(options.jobs)).pairs_max(options.pairs);
    match &options.kinds {
        Some(kinds) => campaign.kinds(kinds.iter().copied()),
        None => campaign,
    }
}

/// The case that is told of, and how it is called on a command line.
struct Shown<'a> {
    case: &'a Case,
    source: Source<'a>,
}

impl Shown<'_> {
    /// What repeats the failure.
    fn command(&self, failure: &FailedRun) -> String {
        self.source.replay_recipe(failure.smallest())
    }
}

/// What a sweep found.
struct Found {
    report: SweepReport,
    /// Why it failed, if it did.
    problem: Option<String>,
}

impl Found {
    fn of(swept: Result<SweepReport, ExploreError>) -> Result<Self, Failure> {
        match swept {
            Ok(report) => Ok(Self { report, problem: None }),
            Err(ExploreError::Swept(report)) => {
                let problem = match report.failures.len() {
                    1 => "one way to fail".to_owned(),
                    ways => format!("{ways} ways to fail"),
                };
                Ok(Self { problem: Some(problem), report: *report })
            }
            Err(ExploreError::Failed(failure)) => {
                let report = SweepReport { failing: 1, failures: vec![*failure], ..SweepReport::default() };
                Ok(Self { report, problem: Some("it fails without any fault".to_owned()) })
            }
            Err(error @ ExploreError::NoFaultDelivered { .. }) => {
                let problem = error.to_string().lines().next().map(str::to_owned);
                Ok(Self { report: SweepReport::default(), problem })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn runs(&self) -> u64 {
        self.report.campaign.seeds + self.report.failing as u64
    }

    fn write(&self, shown: &Shown<'_>, seed: u64, style: Style, out: &mut impl Write) -> io::Result<()> {
        let case = shown.case;
        writeln!(out, "{} with seed {seed}, every fault at every event", style.strong(case.id()))?;
        if !self.report.coverage.is_empty() {
            writeln!(out, "{}", self.table())?;
        }
        if !self.report.never_applicable.is_empty() {
            writeln!(out, "nowhere to come: {}", names(&self.report.never_applicable).join(", "))?;
        }
        let pairs = &self.report.pairs;
        write!(out, "{} runs, {} of them with pairs of faults", self.runs(), pairs.tried())?;
        match pairs.only_one_came {
            0 => writeln!(out)?,
            half => writeln!(out, "; in {half} only one of the two came")?,
        }
        let Some(problem) = &self.problem else { return writeln!(out, "{}\n", style.good("no run failed")) };
        let failing = match self.report.failing {
            1 => "1 run failed".to_owned(),
            failing => format!("{failing} runs failed"),
        };
        writeln!(out, "{}: {problem}", style.bad(&failing))?;
        for (index, failure) in self.report.failures.iter().enumerate() {
            writeln!(out)?;
            write_failure(index + 1, shown, failure, out)?;
        }
        writeln!(out)
    }

    fn to_junit(&self, shown: &Shown<'_>) -> Vec<JunitCase> {
        let Some(problem) = &self.problem else {
            let name = "every fault at every event".to_owned();
            return vec![JunitCase { name, outcome: JunitOutcome::Passed }];
        };
        let way = |(number, failure): (usize, &FailedRun)| {
            let text = format!("{}\nto repeat it: {}", failure.error, shown.command(failure));
            JunitCase { name: format!("way to fail {number}"), outcome: JunitOutcome::Failed(text) }
        };
        let ways: Vec<_> = (1..).zip(&self.report.failures).map(way).collect();
        match ways.is_empty() {
            true => vec![JunitCase { name: problem.clone(), outcome: JunitOutcome::Failed(problem.clone()) }],
            false => ways,
        }
    }

    /// What came of each kind at all events.
    fn table(&self) -> Table {
        let mut table = summary::table(["fault", "points", "passed", "failed", "nothing to act on", "nobody took it"]);
        for (kind, events) in &self.report.coverage {
            let sum = |count: fn(&Coverage) -> usize| events.values().map(count).sum::<usize>().to_string();
            table.add_row([
                kind.name().to_owned(),
                sum(Coverage::points),
                sum(|cell| cell.passed),
                sum(|cell| cell.failed),
                sum(|cell| skipped(cell, Skipped::NothingToActOn)),
                sum(|cell| skipped(cell, Skipped::NobodyTookIt)),
            ]);
        }
        table
    }

    fn to_json(&self, shown: &Shown<'_>, seed: u64) -> Value {
        let coverage = self.report.coverage.iter().flat_map(|(kind, events)| {
            events.iter().map(|(event, cell)| {
                json!({
                    "fault": kind.name(), "event": event, "points": cell.points(), "passed": cell.passed,
                    "failed": cell.failed, "nothing_to_act_on": skipped(cell, Skipped::NothingToActOn),
                    "nobody_took_it": skipped(cell, Skipped::NobodyTookIt),
                })
            })
        });
        json!({
            "type": "sweep",
            "file": shown.source.file,
            "id": shown.case.id(),
            "seed": seed,
            "runs": self.runs(),
            "pairs": self.report.pairs.tried(),
            "pairs_only_one_came": self.report.pairs.only_one_came,
            "pairs_none_came": self.report.pairs.none_came,
            "failing": self.report.failing,
            "passed": self.problem.is_none(),
            "problem": self.problem,
            "coverage": coverage.collect::<Value>(),
            "nowhere_to_come": names(&self.report.never_applicable),
            "failures": self.report.failures.iter().map(|failure| failure_to_json(shown, failure)).collect::<Value>(),
        })
    }
}

fn skipped(cell: &Coverage, why: Skipped) -> usize {
    cell.skipped.get(&why).copied().unwrap_or_default()
}

fn names(kinds: &[FaultKind]) -> Vec<&'static str> {
    kinds.iter().map(|kind| kind.name()).collect()
}

/// What is wrong with the smallest run, the faults that came in it, and how to keep it.
fn write_failure(number: usize, shown: &Shown<'_>, failure: &FailedRun, out: &mut impl Write) -> io::Result<()> {
    let case = shown.case;
    let run = case.repeat(failure.smallest());
    let point = failure.point.map(|point| format!("{point}, ")).unwrap_or_default();
    writeln!(out, "{number}. {point}with {} of {} faults:", run.faults().len(), failure.faults.len())?;
    for delivered in run.faults() {
        writeln!(out, "  fault at {}", fault(delivered))?;
    }
    let failures = case.judge_invariants(&run).failures();
    failures.iter().try_for_each(|problem| write_indented(out, problem))?;
    writeln!(out, "  to repeat it: {}", shown.command(failure))?;
    writeln!(out, "  as a case: {}", case.with_faults_of(failure))
}

fn failure_to_json(shown: &Shown<'_>, failure: &FailedRun) -> Value {
    let case = shown.case;
    let point = failure.point.map(|point| json!({"number": point.number, "count": point.count, "pair": point.is_pair}));
    let run = case.repeat(failure.smallest());
    json!({
        "error": failure.error.to_string(),
        "point": point,
        "command": shown.command(failure),
        "faults": run.faults_to_json(),
        "faults_before": failure.faults.len(),
        "verdict": case.judge_invariants(&run).to_json(),
        "case": case.with_faults_of(failure),
    })
}
