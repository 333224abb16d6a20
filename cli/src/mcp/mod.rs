//! `windtunnel mcp`: sessions of the Model Context Protocol, recorded and played.

mod arguments;
mod perform;
mod record;
mod serve;
mod server_command;

pub(crate) use arguments::McpCommand;
pub(crate) use perform::perform;
