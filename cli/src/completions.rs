//! `windtunnel completions`: what a shell needs to complete the command.

use std::io::Write;

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsOptions};
use crate::failure::Failure;
use crate::status::Status;

pub(crate) fn completions(options: &CompletionsOptions, out: &mut impl Write) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "windtunnel", &mut script);
    out.write_all(&script)?;
    Ok(Status::Passed)
}
