//! From what is asked of files of journals to what does it.

use std::io::Write;

use super::arguments::JournalCommand;
use super::{show, verify};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;
use crate::style::Style;

pub(crate) fn perform(
    command: &JournalCommand,
    interrupt: &Interrupt,
    style: Style,
    out: &mut impl Write,
) -> Result<Status, Failure> {
    match command {
        JournalCommand::Show(options) => show::show(options, interrupt, style, out),
        JournalCommand::Verify(options) => verify::verify(options, interrupt, style, out),
    }
}
