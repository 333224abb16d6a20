//! `windtunnel mcp`: sessions of the Model Context Protocol, recorded and played.

mod arguments;
mod record;
mod serve;
mod server_command;

use std::io::Write;

pub(crate) use arguments::McpCommand;

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
