//! `windtunnel program check`: are these programs valid?

use std::io::{self, Write};

use serde_json::{Value, json};
use windtunnel_core::evaluator::Program;
use windtunnel_sim::case::Tools;

use super::arguments::CheckOptions;
use super::source::{self, Flaw, Found};
use super::tools;
use crate::arguments::Format;
use crate::excerpt;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printable;
use crate::status::Status;
use crate::style::Style;
use crate::terminal;

#[derive(Default)]
struct Counts {
    files: usize,
    valid: usize,
    invalid: usize,
    unreadable: usize,
}

pub(super) fn check(
    options: &CheckOptions,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    let mut counts = Counts { files: options.files.len(), ..Counts::default() };
    let tools = options.tools.as_deref().map(tools::load).transpose()?;
    for file in &options.files {
        let Some(found) = source::find(file, interrupt)? else { break };
        match found {
            Ok(found) => {
                let found = found.and_then(|program| fitting(program, tools.as_ref()));
                *(if found.is_ok() { &mut counts.valid } else { &mut counts.invalid }) += 1;
                match options.format {
                    Format::Text => write_flaws(file, &found, style, out)?,
                    Format::Json => printable::write_json(out, &to_json(file, &found))?,
                }
            }
            Err(error) => {
                counts.unreadable += 1;
                write_unreadable(file, error, options.format, style, out)?;
            }
        }
    }
    let is_interrupted = interrupt.is_pressed();
    match options.format {
        Format::Text => write_counts(&counts, is_interrupted, style, out)?,
        Format::Json => printable::write_json(out, &counts_to_json(&counts, is_interrupted))?,
    }
    Ok(match counts {
        _ if is_interrupted => Status::Interrupted,
        Counts { unreadable: 1.., .. } => Status::Misused,
        Counts { invalid: 1.., .. } => Status::Failed,
        _ => Status::Passed,
    })
}

/// The program, unless it calls tools that there are not or that do not take its arguments.
fn fitting(program: Program, tools: Option<&Tools>) -> Found {
    match tools.map(|tools| tools::flaws(&program, tools)).unwrap_or_default() {
        flaws if flaws.is_empty() => Ok(program),
        flaws => Err(flaws),
    }
}

/// A line for each; a terminal shows the program's lines too.
fn write_flaws(file: &str, found: &Found, style: Style, out: &mut impl Write) -> io::Result<()> {
    let is_shown = terminal::width().is_some();
    found.as_ref().err().into_iter().flatten().try_for_each(|flaw| {
        writeln!(out, "{}", flaw.line(file))?;
        flaw.place(file).filter(|_| is_shown).map_or(Ok(()), |place| excerpt::write(&place, style, out))
    })
}

fn to_json(file: &str, found: &Found) -> Value {
    let (program, flaws) = (found.as_ref().ok(), found.as_ref().err());
    json!({
        "type": "program",
        "file": source::displayed(file),
        "valid": program.is_some(),
        "version": program.map(|program| program.version().as_str()),
        "name": program.and_then(Program::name),
        "nodes": program.map(Program::node_count),
        "tools": program.map(|program| program.tools().collect::<Vec<_>>()),
        "offences": flaws.into_iter().flatten().map(Flaw::to_json).collect::<Vec<_>>(),
    })
}

fn write_unreadable(
    file: &str,
    error: io::Error,
    format: Format,
    style: Style,
    out: &mut impl Write,
) -> io::Result<()> {
    let message = source::unreadable(file, error).to_string();
    match format {
        Format::Text => {
            // In order with what is on standard output, where both go to one terminal.
            out.flush()?;
            let message = printable::line(&message);
            // Where this cannot be written, the counts and the exit code still say it.
            let _unwritten = writeln!(io::stderr().lock(), "{} {message}", style.of_stderr().bad("error:"));
            Ok(())
        }
        Format::Json => {
            printable::write_json(out, &json!({"type": "error", "file": source::displayed(file), "message": message}))
        }
    }
}

fn write_counts(counts: &Counts, is_interrupted: bool, style: Style, out: &mut impl Write) -> io::Result<()> {
    let Counts { files, valid, invalid, unreadable } = *counts;
    if is_interrupted {
        writeln!(out, "interrupted after {} of {files} files", valid + invalid + unreadable)?;
    }
    let invalid = if invalid > 0 { style.bad(&format!("{invalid} invalid")) } else { "0 invalid".to_owned() };
    write!(out, "{}, {invalid}", style.good(&format!("{valid} valid")))?;
    if unreadable > 0 { writeln!(out, ", {unreadable} not readable") } else { writeln!(out) }
}

fn counts_to_json(counts: &Counts, is_interrupted: bool) -> Value {
    let Counts { files, valid, invalid, unreadable } = *counts;
    json!({
        "type": "summary",
        "files": files,
        "valid": valid,
        "invalid": invalid,
        "unreadable": unreadable,
        "interrupted": is_interrupted,
    })
}
