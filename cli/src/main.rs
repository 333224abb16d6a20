//! The command `windtunnel`.
//!
//! [`arguments`] says what can be asked; [`check`], [`run`], [`sweep`], [`shrink`], [`replay`], [`diff`], [`program`],
//! [`journal`], [`traffic`], [`mcp`], [`fixture`], [`init`], [`schema`], [`completions`] and [`man`] do it, each writing to
//! what it is given.

mod arguments;
mod branches;
mod check;
mod completions;
mod diff;
mod excerpt;
mod exported;
mod failure;
mod fixture;
mod init;
mod interrupt;
mod journal;
mod man;
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
mod terminal;
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
    let style = Style::of_stdout(arguments.color);
    let status = perform(&arguments, style).unwrap_or_else(|failure| {
        // Where even this cannot be written, the exit code still says it.
        let _unwritten = tell(&failure, style.of_stderr(), &mut io::stderr().lock());
        Status::Misused
    });
    status.into()
}

/// What is wrong, and below it the lines of the files that it is about.
fn tell(failure: &Failure, style: Style, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} {}", style.bad("error:"), printable::lines(&failure.to_string()))?;
    failure.places().iter().try_for_each(|place| excerpt::write(place, style, out))
}

fn perform(arguments: &Arguments, style: Style) -> Result<Status, Failure> {
    let interrupt = Interrupt::install()?;
    let mut out = BufWriter::new(Output::new(io::stdout()));
    let status = match &arguments.command {
        Command::Check(options) => check::check(options, &interrupt, style, &mut out),
        Command::Run(options) => run::run(options, &interrupt, style, &mut out),
        Command::Sweep(options) => sweep::sweep(options, &interrupt, style, &mut out),
        Command::Shrink(options) => shrink::shrink(options, &interrupt, &mut out),
        Command::Replay(options) => replay::replay(options, &interrupt, style, &mut out),
        Command::Diff(options) => diff::perform(options, &interrupt, style, &mut out),
        Command::Init(options) => init::perform(options, style, &mut out),
        Command::Program { command } => program::perform(command, &interrupt, style, &mut out),
        Command::Journal { command } => journal::perform(command, &interrupt, style, &mut out),
        Command::Fixture { command } => fixture::perform(command, style, &mut out),
        Command::Record(options) => traffic::record(options, &interrupt, &mut out),
        Command::Serve(options) => traffic::serve(options, &interrupt, &mut out),
        Command::Mcp { command } => mcp::perform(command, &interrupt, &mut out),
        Command::Schema(options) => schema::schema(options, &mut out).map(|()| Status::Passed).map_err(Failure::from),
        Command::Completions(options) => completions::completions(options, &mut out),
        Command::Man(options) => man::man(options, &mut out),
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
