//! Which of the commands it is.

use std::io::Write;

use super::McpCommand;
use super::{record, serve};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::status::Status;

/// Does what was asked.
pub(crate) fn perform(command: &McpCommand, interrupt: &Interrupt, out: &mut impl Write) -> Result<Status, Failure> {
    match command {
        McpCommand::Record(options) => record::record(options, interrupt, out),
        McpCommand::Serve(options) => serve::serve(options, interrupt, out),
    }
}
