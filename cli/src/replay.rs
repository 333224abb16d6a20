//! `windtunnel replay`: one run, event by event.

use std::io::{self, Write};

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, CaseRun, FinishedCall, Verdict};

use crate::arguments::{Format, ReplayOptions};
use crate::check::{write_indented, write_line};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::selection;
use crate::status::Status;
use crate::style::Style;

pub(crate) fn replay(
    options: &ReplayOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let (file, id, seed) = (options.file.clone(), options.case.clone(), options.seed);
    let replayed = pool::interruptible(interrupt, move || {
        let case = selection::case(&file, id.as_deref())?;
        let run = case.run(seed.unwrap_or(case.seed()));
        let verdict = case.judge(&run);
        Ok::<_, Failure>((case, run, verdict))
    })?;
    let Some((case, run, verdict)) = replayed.transpose()? else { return Ok(Status::Interrupted) };
    match options.format {
        Format::Text => write_run(&case, &run, &verdict, style, out)?,
        Format::Json => {
            for event in run.trace() {
                serde_json::to_writer(&mut *out, event).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            write_line(out, &summary(&case, &run, &verdict))?;
        }
    }
    Ok(if verdict.passed() { Status::Passed } else { Status::Failed })
}

fn write_run(case: &Case, run: &CaseRun, verdict: &Verdict, style: Style, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} with seed {}", style.strong(case.id()), run.seed())?;
    for event in run.trace() {
        writeln!(out, "{event}")?;
    }
    writeln!(out)?;
    for (index, call) in run.calls.iter().enumerate() {
        match call {
            Some(call) => writeln!(out, "results[{index}]: {}", outcome(call))?,
            None => writeln!(out, "results[{index}]: none, the call did not finish")?,
        }
    }
    writeln!(
        out,
        "{} events in {} s of virtual time, digest {}",
        run.trace().len(),
        seconds(run.elapsed()),
        run.digest()
    )?;
    if case.expects() && !case.expects_of(run.seed()) {
        let own = case.seed();
        let note = format!("the case draws from the seed, and what the file expects is about seed {own}: not compared");
        writeln!(out, "{}", style.faint(&note))?;
    }
    let failures = verdict.failures();
    if failures.is_empty() {
        return writeln!(out, "{}", style.good("passed"));
    }
    writeln!(out, "{}", style.bad("FAILED"))?;
    failures.iter().try_for_each(|failure| write_indented(out, failure))
}

fn seconds(duration: std::time::Duration) -> String {
    format!("{}.{:09}", duration.as_secs(), duration.subsec_nanos())
}

fn outcome(call: &FinishedCall) -> String {
    let result = &call.result;
    let (tool, attempts) = (&*result.tool, result.attempts);
    let attempts = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let cached = if result.cached { ", cached" } else { "" };
    let what = match (result.value(), result.error()) {
        (Some(value), _) => format!("ok {value}"),
        (None, Some(error)) => error.to_string(),
        (None, None) => "pending".to_owned(),
    };
    format!("{tool} at {} s, {attempts}{cached}: {what}", seconds(call.finished))
}

fn summary(case: &Case, run: &CaseRun, verdict: &Verdict) -> Value {
    let results = run.calls.iter().map(|call| call.as_ref().map(FinishedCall::to_json));
    json!({
        "type": "summary",
        "id": case.id(),
        "seed": run.seed(),
        "events": run.trace().len(),
        "elapsed_s": run.elapsed().as_secs_f64(),
        "digest": run.digest(),
        "expect_compared": case.expects_of(run.seed()),
        "results": results.collect::<Vec<_>>(),
        "verdict": verdict.to_json(),
    })
}
