//! From what is asked of programs to what does it.

use std::io::Write;

use super::arguments::ProgramCommand;
use super::{check, run, show};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;
use crate::style::Style;

pub(crate) fn perform(
    command: &ProgramCommand,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    match command {
        ProgramCommand::Check(options) => check::check(options, interrupt, style, out),
        ProgramCommand::Show(options) => show::show(options, interrupt, out),
        ProgramCommand::Run(options) => run::run(options, interrupt, style, out),
    }
}
