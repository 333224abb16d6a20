//! `windtunnel run`: many seeds of each case, summed up.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_sim::case::Case;

use crate::arguments::{Format, RunOptions, jobs};
use crate::check::write_line;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::progress::Progress;
use crate::selection;
use crate::shell;
use crate::status::Status;
use crate::stopwatch::Stopwatch;
use crate::style::Style;
use crate::summary::{self, Heading};
use crate::tally::{RunFacts, Tally};

pub(crate) fn run(
    options: &RunOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let (file, id) = (options.file.clone(), options.case.clone());
    let loaded = pool::interruptible(interrupt, move || selection::cases(&file, id.as_deref()))?;
    let Some(cases) = loaded.transpose()? else { return Ok(Status::Interrupted) };
    let is_only_case = options.case.is_none() && cases.len() == 1;
    let mut status = Status::Passed;
    let (mut ran, all) = (0, cases.len());
    for case in cases {
        if interrupt.is_pressed() {
            break;
        }
        ran += 1;
        let case = Arc::new(case);
        let watch = Stopwatch::start();
        let tally = run_seeds(&case, options, interrupt)?;
        if tally.runs < asked(options) && !interrupt.is_pressed() {
            return Err(Failure::Lost);
        }
        status = status.max(if tally.failing > 0 { Status::Failed } else { Status::Passed });
        let named = (!is_only_case).then(|| case.id());
        let replay = |seed| shell::replay(&options.file, named, seed);
        match options.format {
            Format::Json => {
                let mut line = to_json(&case, options, &tally, replay);
                line["real_s"] = json!(watch.elapsed().as_secs_f64());
                write_line(out, &line)?;
            }
            Format::Text => {
                summary::write(&heading(&case, options), &tally, style, out)?;
                summary::write_real_time(tally.runs, watch.elapsed(), out)?;
                summary::write_failures(&tally, replay, style, out)?;
                writeln!(out)?;
            }
        }
    }
    if interrupt.is_pressed() {
        status = Status::Interrupted;
    }
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

fn asked(options: &RunOptions) -> u64 {
    options.seeds.end - options.seeds.start
}

/// Runs the seeds on several threads, and sums up in the order of the seeds.
fn run_seeds(case: &Arc<Case>, options: &RunOptions, interrupt: &Interrupt) -> Result<Tally, Failure> {
    let work = {
        let case = Arc::clone(case);
        move |seed| {
            let run = case.run(seed);
            let verdict = case.judge(&run);
            RunFacts::of(&run, verdict)
        }
    };
    let mut progress = Progress::new(case.id(), asked(options), options.format);
    let mut tally = Tally::default();
    for facts in pool::ordered(jobs(options.jobs), options.seeds.clone(), interrupt, work)? {
        progress.advance(facts.failed.is_some());
        tally.add(facts);
    }
    progress.finish();
    Ok(tally)
}

fn heading<'a>(case: &'a Case, options: &RunOptions) -> Heading<'a> {
    let seeds = format!("{}..{}", options.seeds.start, options.seeds.end);
    Heading { id: case.id(), seeds, asked: asked(options), draws: case.draws() }
}

fn to_json(case: &Case, options: &RunOptions, tally: &Tally, replay: impl Fn(u64) -> String) -> Value {
    let mut line = tally.to_json();
    line["type"] = json!("run");
    line["file"] = json!(options.file);
    line["id"] = json!(case.id());
    line["seeds"] = json!({"from": options.seeds.start, "to": options.seeds.end});
    line["draws"] = json!(case.draws());
    line["passed"] = json!(tally.failing == 0);
    line["complete"] = json!(tally.runs == asked(options));
    line["repeat"] = json!(tally.failing_seeds.first().map(|seed| replay(*seed)));
    line
}
