//! `windtunnel shrink`: a failing seed as a case of its own, as small as was found.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use windtunnel_sim::case::{Case, Format as FileFormat, LoadError, ShrunkCase};

use crate::arguments::ShrinkOptions;
use crate::check::write_indented;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;
use crate::replay::fault;
use crate::selection;
use crate::shell;
use crate::status::Status;

/// What messages call a case that is printed.
const PRINTED: &str = "<stdout>";

pub(crate) fn shrink(options: &ShrinkOptions, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    let format = format(options.output.as_deref())?;
    let ShrinkOptions { file, case, seed, .. } = options.clone();
    let shrunk = pool::interruptible(interrupt, move || {
        let case = selection::case(&file, case.as_deref())?;
        let calm = || {
            format!("{file}: the case {:?} does not fail with seed {seed}, or only because no fault came", case.id())
        };
        let shrunk = case.shrink(seed).ok_or_else(|| Failure::Selection(calm()))?;
        Ok::<_, Failure>(shrunk)
    })?;
    let Some(shrunk) = shrunk.transpose()? else { return Ok(Status::Interrupted) };
    let case = match &options.output {
        Some(file) => in_folder_of(&shrunk, file)?,
        None => shrunk.case.clone(),
    };
    let text = match format {
        FileFormat::JsonLines => format!("{case}\n"),
        _ => format!("{case:#}\n"),
    };
    // What is told is what is in the file.
    let written = match &options.output {
        Some(file) => {
            create(file, &text)?;
            Case::load(file)?
        }
        None => shrunk.read(PRINTED, format, &text)?,
    };
    let fails = written.iter().any(|case| case.fails_like(&shrunk.failure));
    match &options.output {
        Some(file) => tell(&shrunk, &written, Some(file), fails, out)?,
        None => {
            out.write_all(text.as_bytes())?;
            // Beside the case, which may go into a pipe.
            let mut told = Vec::new();
            tell(&shrunk, &written, None, fails, &mut told)?;
            let _unwritten = io::stderr().lock().write_all(&told);
        }
    }
    Ok(if fails { Status::Passed } else { Status::Failed })
}

fn format(output: Option<&str>) -> Result<FileFormat, Failure> {
    let Some(file) = output else { return Ok(FileFormat::Json) };
    match FileFormat::of_name(file) {
        Some(FileFormat::Toml) => Err(Failure::Selection(format!("{file}: cases are written as .json or .jsonl"))),
        Some(format) => Ok(format),
        None => Err(LoadError::UnknownFormat { file: file.to_owned() }.into()),
    }
}

/// The case as it stands in `file`: cassettes are named from its folder.
fn in_folder_of(shrunk: &ShrunkCase, file: &str) -> Result<Value, Failure> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    shrunk.in_folder(folder).map_err(|source| Failure::Unwritable { file: file.to_owned(), source })
}

fn create(file: &str, text: &str) -> Result<(), Failure> {
    let unwritable = |source| Failure::Unwritable { file: file.to_owned(), source };
    let mut created = OpenOptions::new().write(true).create_new(true).open(file).map_err(unwritable)?;
    created.write_all(text.as_bytes()).map_err(unwritable)
}

fn tell(
    shrunk: &ShrunkCase,
    written: &[Case],
    file: Option<&str>,
    fails: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let failure = &shrunk.failure;
    let before = failure.faults.len();
    for case in written {
        let run = case.run(case.seed());
        let (id, after) = (printable::line(case.id()), run.faults().len());
        match &failure.minimal {
            Some(minimal) => writeln!(out, "{id}: {after} of {before} faults, found in {} runs", minimal.runs)?,
            None if shrunk.left_out.is_empty() => {
                writeln!(out, "{id}: {after} of {before} faults; nothing smaller was found")?;
            }
            None => writeln!(out, "{id}: {after} of {before} faults")?,
        }
        if !shrunk.left_out.is_empty() {
            let parts: Vec<_> = shrunk.left_out.iter().map(|(name, count)| format!("{count} of the {name}")).collect();
            writeln!(out, "  left out, as the failure does not need it: {}", parts.join(", "))?;
        }
        for delivered in run.faults() {
            writeln!(out, "  fault at {}", fault(delivered))?;
        }
        case.judge(&run).failures().iter().try_for_each(|problem| write_indented(out, problem))?;
        match (file, fails) {
            (_, false) => writeln!(out, "as a case of its own it does not fail in the same way")?,
            (Some(file), true) => {
                let again = shell::replay(file, None, case.seed());
                writeln!(out, "{file} fails in the same way\nto see it: {again}")?;
            }
            (None, true) => writeln!(out, "as a case of its own it fails in the same way")?,
        }
    }
    Ok(())
}
