//! The command `windtunnel`.
//!
//! [`arguments`] says what can be asked; [`check`], [`run`], [`sweep`], [`shrink`], [`replay`], [`program`], [`journal`],
//! [`traffic`], [`mcp`], [`fixture`] and [`schema`] do it, each writing to what it is given.

mod arguments;
mod branches;
mod check;
mod failure;
mod fixture;
mod interrupt;
mod journal;
mod mcp;
mod output;
mod pool;
mod printable;
mod program;
mod progress;
mod replay;
mod report;
mod run;
mod schema;
mod selection;
mod shell;
mod shrink;
mod status;
mod stopwatch;
mod style;
mod summary;
mod sweep;
mod tally;
mod traffic;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;
use interrupt::Interrupt;
use output::Output;
use status::Status;
use style::Style;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    silence_worlds();
    let status = match perform(&arguments) {
        Ok(status) => status,
        Err(failure) => {
            // Where even this cannot be written, the exit code still says it.
            let _unwritten = writeln!(io::stderr().lock(), "error: {}", printable::lines(&failure.to_string()));
            Status::Misused
        }
    };
    status.into()
}

fn perform(arguments: &Arguments) -> Result<Status, Failure> {
    let interrupt = Interrupt::install()?;
    let style = Style::of_stdout();
    let mut out = BufWriter::new(Output::new(io::stdout()));
    let status = match &arguments.command {
        Command::Check(options) => check::check(options, &interrupt, style, &mut out),
        Command::Run(options) => run::run(options, &interrupt, style, &mut out),
        Command::Sweep(options) => sweep::sweep(options, &interrupt, style, &mut out),
        Command::Shrink(options) => shrink::shrink(options, &interrupt, &mut out),
        Command::Replay(options) => replay::replay(options, &interrupt, style, &mut out),
        Command::Program { command } => program::perform(command, &interrupt, style, &mut out),
        Command::Journal { command } => journal::perform(command, &interrupt, style, &mut out),
        Command::Fixture { command } => fixture::perform(command, style, &mut out),
        Command::Record(options) => traffic::record(options, &interrupt, &mut out),
        Command::Serve(options) => traffic::serve(options, &interrupt, &mut out),
        Command::Mcp { command } => mcp::perform(command, &interrupt, &mut out),
        Command::Schema(options) => schema::schema(options, &mut out).map(|()| Status::Passed).map_err(Failure::from),
    }?;
    out.flush()?;
    Ok(status)
}

/// A panic inside a world is an outcome, which the command reports itself.
fn silence_worlds() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if !thread.name().is_some_and(|name| name.starts_with("windtunnel-")) {
            report(panic);
        }
    }));
}
