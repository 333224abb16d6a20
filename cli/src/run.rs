//! `windtunnel run`: many seeds of each case, summed up.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_sim::case::Case;
use windtunnel_sim::export::{JunitCase, JunitOutcome, JunitSuite, junit};
use windtunnel_sim::fault::FaultKind;
use windtunnel_sim::report::Report;

use crate::arguments::{Format, RunOptions, jobs};
use crate::check::write_line;
use crate::exported;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::progress::Progress;
use crate::report::{Figures, Source};
use crate::selection;
use crate::shell;
use crate::status::Status;
use crate::stopwatch::Stopwatch;
use crate::style::Style;
use crate::summary::{self, Heading};
use crate::tally::{RunFacts, Tally};

/// What is wrong with a run over seeds that were to have faults.
const UNTRIED: &str = "not one fault came, so nothing was tried of them";

pub(crate) fn run(
    options: &RunOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    options.report.check()?;
    let (file, id) = (options.file.clone(), options.case.clone());
    let loaded = pool::interruptible(interrupt, move || selection::cases(&file, id.as_deref()))?;
    let Some(cases) = loaded.transpose()? else { return Ok(Status::Interrupted) };
    let is_only_case = options.case.is_none() && cases.len() == 1;
    let mut status = Status::Passed;
    let (mut ran, all, mut suites) = (0, cases.len(), Vec::new());
    let mut report = Report::new(&options.file);
    for case in cases {
        if interrupt.is_pressed() {
            break;
        }
        ran += 1;
        let case = Arc::new(case);
        let watch = Stopwatch::start();
        let mut tests = Vec::new();
        let named = (!is_only_case).then(|| case.id());
        let replay = |seed| shell::replay(&options.file, named, seed);
        let note = |facts: &RunFacts| tests.push(test(facts, replay));
        let (tally, figures) = run_seeds(&case, options, interrupt, style, note)?;
        if tally.runs < asked(options) && !interrupt.is_pressed() {
            return Err(Failure::Lost);
        }
        let is_untried = tally.is_untried(&case.drawn_faults());
        if is_untried {
            tests.push(JunitCase { name: "faults".to_owned(), outcome: JunitOutcome::Failed(UNTRIED.to_owned()) });
        }
        suites.push(JunitSuite { name: case.id().to_owned(), cases: tests });
        let has_failed = tally.failing > 0 || is_untried;
        status = status.max(if has_failed { Status::Failed } else { Status::Passed });
        if let Some(figures) = figures {
            report_case(&mut report, &case, options, named, &tally, figures, interrupt)?;
        }
        match options.format {
            Format::Json => {
                let mut line = to_json(&case, options, &tally, replay);
                line["passed"] = json!(!has_failed);
                line["real_s"] = json!(watch.elapsed().as_secs_f64());
                write_line(out, &line)?;
            }
            Format::Text => write_text(&case, options, named, &tally, watch.elapsed(), style, out)?,
        }
    }
    exported::write(options.junit.as_deref(), || junit(&suites))?;
    if interrupt.is_pressed() {
        status = Status::Interrupted;
    }
    options.report.save(&report)?;
    if options.format == Format::Json {
        let is_interrupted = status == Status::Interrupted;
        let passed = status == Status::Passed;
        let summary = json!({
            "type": "summary", "cases": all, "ran": ran, "passed": passed, "interrupted": is_interrupted,
        });
        write_line(out, &summary)?;
    }
    Ok(status)
}

fn write_text(
    case: &Case,
    options: &RunOptions,
    named: Option<&str>,
    tally: &Tally,
    real: Duration,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let drawn = case.drawn_faults();
    summary::write(&heading(case, options), tally, style, out)?;
    summary::write_real_time(tally.runs, real, out)?;
    summary::write_faults(tally, &drawn, out)?;
    if tally.is_untried(&drawn) {
        writeln!(out, "{}: {UNTRIED}", style.bad("FAILED"))?;
    }
    summary::write_failures(tally, |seed| shell::replay(&options.file, named, seed), style, out)?;
    if let (Some(first), false) = (tally.failing_seeds.first(), tally.faults.is_empty()) {
        writeln!(out, "to make it small: {}", shell::shrink(&options.file, named, *first))?;
    }
    writeln!(out)
}

fn asked(options: &RunOptions) -> u64 {
    options.seeds.end - options.seeds.start
}

/// Runs the seeds on several threads, and sums up in the order of the seeds.
fn run_seeds(
    case: &Arc<Case>,
    options: &RunOptions,
    interrupt: &Interrupt,
    style: Style,
    mut note: impl FnMut(&RunFacts),
) -> Result<(Tally, Option<Figures>), Failure> {
    let work = {
        let (case, has_report) = (Arc::clone(case), options.report.is_asked());
        move |seed| {
            let run = case.run(seed);
            let verdict = case.judge(&run);
            let facts = RunFacts::of(&run, verdict);
            if has_report { facts.with_latencies(&run) } else { facts }
        }
    };
    let mut progress = Progress::new(case.id(), "seeds", asked(options), options.format, style);
    let mut tally = Tally::default();
    let mut figures = options.report.is_asked().then(Figures::new);
    for facts in pool::ordered(jobs(options.jobs), options.seeds.clone(), interrupt, work)? {
        progress.advance(facts.failed.is_some());
        figures.iter_mut().for_each(|figures| figures.add(&facts));
        if options.junit.is_some() {
            note(&facts);
        }
        tally.add(facts);
    }
    progress.finish();
    Ok((tally, figures))
}

/// Adds this case to the report. An interrupt leaves it out.
fn report_case(
    report: &mut Report,
    case: &Arc<Case>,
    options: &RunOptions,
    named: Option<&str>,
    tally: &Tally,
    figures: Figures,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let (case, file, id, tally) =
        (Arc::clone(case), options.file.clone(), named.map(str::to_owned), Tally::clone(tally));
    let (before, seeds) = (report.runs.len(), seeds(options));
    let added = pool::interruptible(interrupt, move || {
        let source = Source { file: &file, id: id.as_deref() };
        crate::report::of_run(before, &case, source, &tally, figures, &seeds)
    })?;
    if let Some((runs, campaign)) = added {
        report.runs.extend(runs);
        report.campaigns.push(campaign);
    }
    Ok(())
}

fn seeds(options: &RunOptions) -> String {
    format!("{}..{}", options.seeds.start, options.seeds.end)
}

/// The seed as a test.
fn test(facts: &RunFacts, replay: impl Fn(u64) -> String) -> JunitCase {
    let outcome = match &facts.failed {
        None => JunitOutcome::Passed,
        Some(verdict) => {
            let again = format!("to repeat it: {}", replay(facts.seed));
            JunitOutcome::Failed(verdict.failures().into_iter().chain([again]).collect::<Vec<_>>().join("\n"))
        }
    };
    JunitCase { name: format!("seed {}", facts.seed), outcome }
}

fn heading<'a>(case: &'a Case, options: &RunOptions) -> Heading<'a> {
    Heading { id: case.id(), seeds: seeds(options), asked: asked(options), draws: case.draws() }
}

fn to_json(case: &Case, options: &RunOptions, tally: &Tally, replay: impl Fn(u64) -> String) -> Value {
    let mut line = tally.to_json();
    line["type"] = json!("run");
    line["file"] = json!(options.file);
    line["id"] = json!(case.id());
    line["seeds"] = json!({"from": options.seeds.start, "to": options.seeds.end});
    line["draws"] = json!(case.draws());
    let never = case.drawn_faults().into_iter().filter(|kind| !tally.faults.contains_key(kind));
    line["faults_never_came"] = json!(never.map(FaultKind::name).collect::<Vec<_>>());
    line["complete"] = json!(tally.runs == asked(options));
    line["repeat"] = json!(tally.failing_seeds.first().map(|seed| replay(*seed)));
    line
}
