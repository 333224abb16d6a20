//! `windtunnel program run`: one evaluation in a world.

use std::io::{self, Write};

use windtunnel_core::evaluator::{Evaluation, Evaluator, Mode};
use windtunnel_sim::case::Tools;
use windtunnel_sim::{Run, World};

use super::arguments::RunOptions;
use super::outcome::Outcome;
use super::{source, tools};
use crate::arguments::Format;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;
use crate::status::Status;
use crate::style::Style;

/// Events that one attempt of a tool can have: its call, its answer, and that another follows.
const EVENTS_OF_AN_ATTEMPT_MAX: u64 = 3;
/// The evaluation's own events.
const OTHER_EVENTS_MAX: u64 = 100;

pub(super) fn run(
    options: &RunOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let asked = options.clone();
    let run = pool::interruptible(interrupt, move || evaluate(&asked))?;
    let Some((run, tools)) = run.transpose()? else { return Ok(Status::Interrupted) };
    let (trace, outcome) = (run.trace, Outcome::new(run.outcome, run.elapsed));
    match options.format {
        Format::Text => {
            for event in &trace {
                writeln!(out, "{}", printable::line(&event.to_string()))?;
            }
            if options.trace {
                writeln!(out)?;
            }
            outcome.write(&options.limits, style, out)?;
            if let Some(hint) = hint(&outcome, &tools) {
                writeln!(out, "{}", style.faint(&printable::line(&hint)))?;
            }
        }
        Format::Json => {
            for event in &trace {
                let event = serde_json::to_string(event).map_err(io::Error::from)?;
                writeln!(out, "{}", printable::line(&event))?;
            }
            printable::write_json(out, &outcome.to_json(source::displayed(&options.file), options.seed))?;
        }
    }
    Ok(if outcome.passed() { Status::Passed } else { Status::Failed })
}

/// What to do about an end that the command line can change.
fn hint(outcome: &Outcome, tools: &Tools) -> Option<String> {
    match () {
        () if outcome.misses_a_tool() && tools.names().len() == 0 => {
            Some("there are no tools: give them with --tools TOOLS".to_owned())
        }
        () if outcome.misses_a_tool() => Some(format!("known tools: {}", tools::listed(tools))),
        () if outcome.is_stuck() => Some("give --timeout SECONDS to end a program whose tool hangs".to_owned()),
        () => None,
    }
}

fn evaluate(options: &RunOptions) -> Result<(Run<Evaluation>, Tools), Failure> {
    let program = source::program(&options.file)?;
    let tools = options.tools.as_deref().map_or_else(|| Ok(Tools::default()), tools::load)?;
    check_idempotent(options, &tools)?;
    if options.policy.does_collect() && program.mode() != Mode::Parallel {
        let problem = "--parallel-failures collect: only a program of mode \"parallel\" has branches to collect";
        return Err(Failure::Selection(problem.to_owned()));
    }
    let tool_calls_max = options.limits.max_tool_calls.get();
    let events_max = tool_calls_max.saturating_mul(EVENTS_OF_AN_ATTEMPT_MAX).saturating_add(OTHER_EVENTS_MAX);
    let given = tools.clone();
    let run = World::new(options.seed).events_max(events_max).run(|world| async move {
        let evaluator = Evaluator::new(given.provider(world.env()))
            .env(world.env())
            .limits(options.limits.limits())
            .policy(options.policy.policy());
        let evaluator = if options.shuffle { evaluator.shuffle_siblings() } else { evaluator };
        let evaluator = if options.trace { evaluator.sink(world.trace()) } else { evaluator };
        evaluator.evaluate(&program).await
    });
    Ok((run, tools))
}

/// A slip in the name of a tool would else only show as a retry that never comes.
fn check_idempotent(options: &RunOptions, tools: &Tools) -> Result<(), Failure> {
    let names: Vec<_> = tools.names().collect();
    let unknown = options.policy.idempotent.iter().find(|name| !names.contains(&name.as_str()));
    unknown.map_or(Ok(()), |unknown| {
        let known = match &*names {
            [] => "there are no tools".to_owned(),
            _ => format!("known: {}", tools::listed(tools)),
        };
        Err(Failure::Selection(format!("--idempotent {unknown}: there is no such tool; {known}")))
    })
}
