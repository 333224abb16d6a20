//! `windtunnel program show`: one program, for people or in its canonical form.

use std::io::Write;

use windtunnel_core::evaluator::Program;

use super::arguments::ShowOptions;
use super::source;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::pool;
use crate::printable;
use crate::status::Status;

pub(super) fn show(options: &ShowOptions, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    let (file, is_canonical) = (options.file.clone(), options.canonical);
    let shown = pool::interruptible(interrupt, move || {
        let program = source::program(&file)?;
        // The canonical text is for digests and comparisons: not a byte of it is changed for a terminal.
        Ok::<_, Failure>(if is_canonical { program.to_json() + "\n" } else { outline(&program) })
    })?;
    let Some(shown) = shown.transpose()? else { return Ok(Status::Interrupted) };
    out.write_all(shown.as_bytes())?;
    Ok(Status::Passed)
}

fn outline(program: &Program) -> String {
    printable::lines(&program.outline().to_string()).into_owned()
}
