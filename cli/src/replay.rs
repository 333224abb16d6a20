//! `windtunnel replay`: one run, event by event.

use std::io::{self, Write};

use serde_json::{Value, json};
use windtunnel_core::evaluator::{Answer, Evaluation};
use windtunnel_sim::World;
use windtunnel_sim::case::{
    AgentEnding, AgentOutcome, Case, CaseOutcome, CaseRun, FinishedCall, FinishedOperation, OperationsOutcome,
    ProgramOutcome, Verdict,
};
use windtunnel_sim::export;
use windtunnel_sim::fault::DeliveredFault;
use windtunnel_sim::report::Report;

use crate::arguments::{Format, ReplayOptions};
use crate::branches;
use crate::check::{write_indented, write_line};
use crate::exported;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;
use crate::report::Source;
use crate::selection;
use crate::status::Status;
use crate::style::Style;

pub(crate) fn replay(
    options: &ReplayOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    options.report.check()?;
    let asked = options.clone();
    let replayed = pool::interruptible(interrupt, move || {
        let (case, run, verdict) = play(&asked)?;
        let report = asked.report.is_asked().then(|| report(&case, &asked, &run, &verdict));
        Ok::<_, Failure>((case, run, verdict, report))
    })?;
    let Some((case, run, verdict, report)) = replayed.transpose()? else { return Ok(Status::Interrupted) };
    if let Some(report) = report {
        options.report.save(&report)?;
    }
    let trace = run.trace();
    exported::write(options.events.as_deref(), || export::json_lines(trace))?;
    exported::write(options.perfetto.as_deref(), || export::perfetto(trace))?;
    exported::write(options.otlp.as_deref(), || export::otlp(trace, World::new(run.seed()).begins_at()))?;
    match options.format {
        Format::Text => write_run(&case, &run, &verdict, style, out)?,
        Format::Json => {
            out.write_all(export::json_lines(trace).as_bytes())?;
            write_line(out, &summary(&case, &run, &verdict))?;
        }
    }
    Ok(if verdict.passed() { Status::Passed } else { Status::Failed })
}

/// Runs what was asked for, and holds it against what the file says of it.
fn play(options: &ReplayOptions) -> Result<(Case, CaseRun, Verdict), Failure> {
    let case = selection::case(&options.file, options.case.as_deref())?;
    if let Some(recipe) = &options.recipe {
        let run = case.repeat(recipe);
        // What the file expects is about other runs.
        let verdict = case.judge_invariants(&run);
        return Ok((case, run, verdict));
    }
    let seed = options.seed.unwrap_or(case.seed());
    let run = match &options.journal {
        Some(journal) => case.run_with_journal(seed, journal)?,
        None => case.run(seed),
    };
    let verdict = case.judge(&run);
    Ok((case, run, verdict))
}

/// The run, and the smallest that fails as it does.
fn report(case: &Case, options: &ReplayOptions, run: &CaseRun, verdict: &Verdict) -> Report {
    let source = Source { file: &options.file, id: options.case.as_deref() };
    let report = Report::new(case.id());
    if let Some(recipe) = &options.recipe {
        return report.with_run(source.run_recipe(case, recipe, run, verdict));
    }
    let may_be_smaller = !verdict.passed() && !run.faults().is_empty();
    let smallest = may_be_smaller.then(|| source.smallest(case, run.seed())).flatten();
    smallest.into_iter().fold(report.with_run(source.run(case, run, verdict)), Report::with_run)
}

fn write_run(case: &Case, run: &CaseRun, verdict: &Verdict, style: Style, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} with seed {}", style.strong(case.id()), run.seed())?;
    for event in run.trace() {
        writeln!(out, "{event}")?;
    }
    writeln!(out)?;
    for (index, delivered) in run.faults().iter().enumerate() {
        writeln!(out, "faults[{index}]: {}", fault(delivered))?;
    }
    for undelivered in run.undelivered() {
        writeln!(out, "a planned fault: {}", printable::line(&undelivered.to_string()))?;
    }
    match &run.outcome {
        CaseOutcome::Calls(outcome) => write_calls(&outcome.calls, out)?,
        CaseOutcome::Program(outcome) => write_program(outcome, verdict, style, out)?,
        CaseOutcome::Operations(outcome) => write_operations(outcome, out)?,
        CaseOutcome::Agent(outcome) => write_agent(outcome, out)?,
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

/// A fault that came: when, where, and what it is.
pub(crate) fn fault(delivered: &DeliveredFault) -> String {
    let action = serde_json::to_string(&delivered.fault.action).unwrap_or_default();
    let when = serde_json::to_string(&delivered.fault.when).unwrap_or_default();
    let host = delivered.host.as_ref().map(|host| format!(", on {host}")).unwrap_or_default();
    printable::line(&format!("{} s{host}, {action} when {when}", seconds(delivered.at))).into_owned()
}

fn write_calls(calls: &[Option<FinishedCall>], out: &mut impl Write) -> io::Result<()> {
    calls.iter().enumerate().try_for_each(|(index, call)| match call {
        Some(call) => writeln!(out, "results[{index}]: {}", call_outcome(call)),
        None => writeln!(out, "results[{index}]: none, the call did not finish"),
    })
}

fn write_program(outcome: &ProgramOutcome, verdict: &Verdict, style: Style, out: &mut impl Write) -> io::Result<()> {
    let Some(Evaluation { result, consumption }) = outcome.evaluation() else {
        return match outcome {
            ProgramOutcome::Refused(offences) => {
                writeln!(out, "result: refused")?;
                // Where that was not expected, the verdict tells why.
                let untold = offences.iter().filter(|_| verdict.refused.is_empty());
                untold.map(ToString::to_string).try_for_each(|offence| write_indented(out, &offence))
            }
            _ => writeln!(out, "result: none, the program did not finish"),
        };
    };
    match result {
        Ok(Answer::Value(value)) => writeln!(out, "result: ok {value}")?,
        Ok(Answer::Branches(branches)) => branches::write(branches, style, out)?,
        Err(error) => match error.kind() {
            Some(kind) => writeln!(out, "result: {kind}: {error}")?,
            None => writeln!(out, "result: {error}")?,
        },
    }
    writeln!(out, "used: {consumption}")
}

fn write_operations(outcome: &OperationsOutcome, out: &mut impl Write) -> io::Result<()> {
    for (index, operation) in outcome.operations.iter().enumerate() {
        match operation {
            Some(operation) => writeln!(out, "results[{index}]: {}", operation_outcome(operation))?,
            None => writeln!(out, "results[{index}]: none, the operation did not finish")?,
        }
    }
    let bytes: usize = outcome.journal.iter().map(|record| record.bytes()).sum();
    let decided = if outcome.decided { "decided" } else { "came to no decision" };
    writeln!(out, "journal: {} records of {bytes} bytes; the activation {decided}", outcome.journal.len())
}

fn operation_outcome(operation: &FinishedOperation) -> String {
    let executed = if operation.executed { "executed" } else { "not executed" };
    let key = &*operation.key;
    match &operation.result {
        Ok(value) => format!("{key:?}, {executed}: ok {}", value),
        Err(error) => format!("{key:?}, {executed}: {}: {error}", error.kind()),
    }
}

fn write_agent(outcome: &AgentOutcome, out: &mut impl Write) -> io::Result<()> {
    for (index, crash) in outcome.crashes.iter().enumerate() {
        let by = if crash.is_drawn { ", drawn" } else { "" };
        write!(out, "crashes[{index}]: {} s, worker {}, {}", seconds(crash.time), crash.worker, crash.at)?;
        match &crash.operation {
            Some(operation) => writeln!(out, " of {:?} in activation {}{by}", &**operation, crash.activation)?,
            None => writeln!(out, " of activation {}{by}", crash.activation)?,
        }
    }
    for (index, effect) in outcome.effects.iter().enumerate() {
        let key = effect.idempotency_key.get(..8).unwrap_or_default();
        let repeat = match (effect.is_repeat, effect.has_happened) {
            (false, _) => "",
            (true, true) => ", again",
            (true, false) => ", known and not done again",
        };
        let arguments = effect.arguments.to_string();
        let (time, arguments) = (seconds(effect.time), printable::line(&arguments));
        writeln!(out, "effects[{index}]: {time} s, {} {arguments}, key {key}…{repeat}", effect.tool)?;
    }
    for (index, approval) in outcome.approvals.iter().enumerate() {
        let id = &*approval.approval_id;
        writeln!(out, "approvals[{index}]: {} s, {id:?}: {}", seconds(approval.time), approval.status())?;
    }
    writeln!(out, "outcome: {}", agent_ending(&outcome.ending))?;
    let records: usize = outcome.activations.iter().map(|activation| activation.history.records.len()).sum();
    let (activations, attempts) = (outcome.activations.len(), outcome.attempts());
    writeln!(out, "journal: {records} records in {activations} activations, {attempts} attempts")
}

fn agent_ending(ending: &AgentEnding) -> String {
    match ending {
        AgentEnding::Completed(output) => {
            let (end, answer) = (ending.name(), printable::line(&output.answer));
            format!("{end} after {} turns and {} calls: {answer:?}", output.turns, output.calls)
        }
        AgentEnding::Failed { kind, message } => format!("failed, {kind}: {}", printable::line(message)),
        AgentEnding::Waiting { approval_id } => format!("waits for {:?}", &**approval_id),
        AgentEnding::Unfinished => "none, the agent did not finish".to_owned(),
    }
}

fn seconds(duration: std::time::Duration) -> String {
    format!("{}.{:09}", duration.as_secs(), duration.subsec_nanos())
}

fn call_outcome(call: &FinishedCall) -> String {
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
    let mut summary = json!({
        "type": "summary",
        "id": case.id(),
        "seed": run.seed(),
        "events": run.trace().len(),
        "elapsed_s": run.elapsed().as_secs_f64(),
        "digest": run.digest(),
        "expect_compared": case.expects_of(run.seed()),
        "faults": run.faults_to_json(),
        "faults_undelivered": run.undelivered().iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    match &run.outcome {
        CaseOutcome::Calls(outcome) => {
            let results = outcome.calls.iter().map(|call| call.as_ref().map(FinishedCall::to_json));
            summary["results"] = json!(results.collect::<Vec<_>>());
        }
        CaseOutcome::Program(outcome) => {
            summary["result"] = outcome.to_json();
            summary["consumption"] = outcome.consumption_to_json();
        }
        CaseOutcome::Operations(outcome) => {
            let results = outcome.operations.iter().map(|done| done.as_ref().map(FinishedOperation::to_json));
            summary["results"] = json!(results.collect::<Vec<_>>());
            summary["journal"] = outcome.journal.iter().map(|record| record.to_json()).collect();
            summary["decided"] = json!(outcome.decided);
        }
        CaseOutcome::Agent(outcome) => {
            if let Value::Object(fields) = outcome.to_json() {
                fields.into_iter().for_each(|(name, value)| summary[name] = value);
            }
        }
    }
    summary["verdict"] = verdict.to_json();
    summary
}
