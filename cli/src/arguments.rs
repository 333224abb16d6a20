//! What can be asked on the command line.

use std::num::NonZeroUsize;
use std::ops::Range;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use windtunnel_sim::Recipe;
use windtunnel_sim::fault::FaultKind;

use crate::diff::DiffOptions;
use crate::fixture::FixtureCommand;
use crate::init::InitOptions;
use crate::journal::JournalCommand;
use crate::mcp::McpCommand;
use crate::program::ProgramCommand;
use crate::report::ReportOption;
use crate::style::Colors;
use crate::traffic::{RecordOptions, ServeOptions};

/// Tests the calls of AI agents deterministically: case files run on virtual time, and every failure repeats.
#[derive(Debug, Parser)]
#[command(name = "windtunnel", version, after_help = EXIT_CODES_OF_ALL)]
pub(crate) struct Arguments {
    /// When to print in colours
    #[arg(long, value_enum, global = true, value_name = "WHEN", default_value_t = Colors::Auto, display_order = 900)]
    pub(crate) color: Colors,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES_OF_ALL: &str = "\
Exit codes:
  0    every case passed; every program is valid, or came to a value; no journal is damaged; all traffic is recorded, or
       was asked for; two traces are the same
  1    a case failed; a program is invalid, or failed; a journal is damaged; traffic was missed or left over; two traces
       differ
  2    wrong arguments, a file that cannot be read as what it must be, or one that cannot be written
  130  interrupted: what was known by then is printed

Colours and the progress bar appear on terminals only; NO_COLOR turns colours off, and --color says otherwise.";

const EXIT_CODES: &str = "\
Exit codes:
  0    every case passed
  1    a case failed
  2    wrong arguments, a file that cannot be read as cases, or one that cannot be written
  130  interrupted: what was known by then is printed

Colours and the progress bar appear on terminals only; NO_COLOR turns colours off, and --color says otherwise.";

const EXIT_CODES_OF_SHRINK: &str = "\
Exit codes:
  0    there is a smaller case, and it fails in the same way
  1    there is a smaller case, and it does not fail in the same way
  2    wrong arguments, a file that cannot be read as cases, or a seed that does not fail
  130  interrupted";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run case files, each case twice, and compare with what they expect
    #[command(after_help = EXIT_CODES)]
    Check(CheckOptions),
    /// Run the cases of a file over many seeds and sum up
    #[command(after_help = EXIT_CODES)]
    Run(RunOptions),
    /// Try every fault at every event of a case, then pairs of faults, and tell each way to fail once
    #[command(after_help = EXIT_CODES)]
    Sweep(SweepOptions),
    /// Make a failing seed of a case small, and write it as a case of its own
    #[command(after_help = EXIT_CODES_OF_SHRINK)]
    Shrink(ShrinkOptions),
    /// Run one case with one seed and print what happened, event by event
    #[command(after_help = EXIT_CODES)]
    Replay(ReplayOptions),
    /// Show two runs side by side where they first differ
    #[command(after_help = crate::diff::EXIT_CODES)]
    Diff(DiffOptions),
    /// Add a first test in a simulated world, and a first case file, to a crate
    #[command(after_help = crate::init::EXIT_CODES)]
    Init(InitOptions),
    /// Check, show or evaluate one program: a tree of tool calls as JSON
    Program {
        #[command(subcommand)]
        command: ProgramCommand,
    },
    /// Show or check the journals of durable workflows in a file
    Journal {
        #[command(subcommand)]
        command: JournalCommand,
    },
    /// Show, compare, check, redact, convert and accept files of recorded traffic
    Fixture {
        #[command(subcommand)]
        command: FixtureCommand,
    },
    /// Stand between clients and the services that they ask, and record what passes
    #[command(after_help = crate::traffic::EXIT_CODES_OF_RECORD)]
    Record(RecordOptions),
    /// Answer clients from a cassette, as the services did
    #[command(after_help = crate::traffic::EXIT_CODES_OF_SERVE)]
    Serve(ServeOptions),
    /// Record or play servers of the Model Context Protocol
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Print the JSON Schema of programs, for models and editors
    Schema(SchemaOptions),
    /// Print a script with which a shell completes this command
    Completions(CompletionsOptions),
    /// Write the pages of the manual: one for each command
    Man(ManOptions),
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Case files (.json, .jsonl, .toml); `-` reads JSONL from standard input
    #[arg(required = true, value_name = "FILES")]
    pub(crate) files: Vec<String>,
    /// How many cases to run at once [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Write the verdicts to this file as JUnit XML: a test for each case
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<String>,
    /// How to print: for people, or a JSON object for each case and one for the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) report: ReportOption,
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// A case file (.json, .jsonl, .toml)
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The seeds: A..B without B, A..=B with it
    #[arg(long, value_name = "A..B", default_value = "0..1000", value_parser = seeds)]
    pub(crate) seeds: Range<u64>,
    /// How many seeds to run at once; the output is the same for any number [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Only the case with this id
    #[arg(long, value_name = "ID")]
    pub(crate) case: Option<String>,
    /// Write the verdicts to this file as JUnit XML: a test for each seed
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<String>,
    /// How to print: for people, or a JSON object for each case and one for the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) report: ReportOption,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SweepOptions {
    /// A case file (.json, .jsonl, .toml)
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Only the case with this id
    #[arg(long, value_name = "ID")]
    pub(crate) case: Option<String>,
    /// The seed [default: the one in the file, or 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Only these kinds of fault, such as host.crash,tool.hang [default: all]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = fault_kind)]
    pub(crate) kinds: Option<Vec<FaultKind>>,
    /// How many pairs of faults to try
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) pairs: usize,
    /// How many runs at once; the output is the same for any number [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Write the verdicts to this file as JUnit XML: a test for each way to fail, or one that passed
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<String>,
    /// How to print: for people, or a JSON object for each case and one for the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) report: ReportOption,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ShrinkOptions {
    /// A case file (.json, .jsonl, .toml)
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The case with this id, where the file holds several
    #[arg(long, value_name = "ID")]
    pub(crate) case: Option<String>,
    /// The seed that fails
    #[arg(long, value_name = "N")]
    pub(crate) seed: u64,
    /// The file to write (.json, .jsonl), which must not be there yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayOptions {
    /// A case file (.json, .jsonl, .toml)
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The seed [default: the one in the file, or 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The case with this id, where the file holds several
    #[arg(long, value_name = "ID")]
    pub(crate) case: Option<String>,
    /// Instead of what the file plans and draws, run what a sweep has found, which says this: a seed and its faults, as JSON
    #[arg(long, value_name = "JSON", conflicts_with_all = ["seed", "journal"], value_parser = recipe)]
    pub(crate) recipe: Option<Recipe>,
    /// Keep the journal of a case of kind operations or agent in this file, which must not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<String>,
    /// Write the events to this file, each as a line of JSON; `windtunnel diff` compares such files
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<String>,
    /// Write the trace to this file, to be opened in https://ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<String>,
    /// Write the trace to this file as JSON of the OpenTelemetry Protocol, for a collector
    #[arg(long, value_name = "FILE")]
    pub(crate) otlp: Option<String>,
    /// How to print: for people, or a JSON object for each event and one for the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) report: ReportOption,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The folder to write to, which is made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) folder: String,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaOptions {
    /// The version of the programs: the newest unless it is said. A program that says no version is of 1.0
    #[arg(value_name = "VERSION", value_enum, default_value_t = SchemaVersion::V2)]
    pub(crate) version: SchemaVersion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaVersion {
    #[value(name = "1.0", alias = "1")]
    V1,
    #[value(name = "2.0", alias = "2")]
    V2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// One worker for each core, unless asked otherwise.
pub(crate) fn jobs(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

fn recipe(text: &str) -> Result<Recipe, String> {
    Recipe::from_json(text).map_err(|error| error.to_string())
}

pub(crate) fn fault_kind(name: &str) -> Result<FaultKind, String> {
    let names = || FaultKind::ALL.map(FaultKind::name).join(", ");
    let kind = FaultKind::ALL.into_iter().find(|kind| kind.name() == name);
    kind.ok_or_else(|| format!("there is no such kind of fault; known: {}", names()))
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let (begin, end) = text.split_once("..").ok_or("write a range such as 0..1000")?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{text:?} is not a seed: a number below 2^64"));
    let begin = number(begin)?;
    let end = match end.strip_prefix('=') {
        Some(last) => number(last)?.checked_add(1).ok_or("the last seed of a range is below 2^64 - 1")?,
        None => number(end)?,
    };
    if begin < end { Ok(begin..end) } else { Err(format!("no seed is in {text}; the first comes before the end")) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn seeds_are_a_range_with_or_without_its_end() {
        assert_eq!(seeds("3..5"), Ok(3..5));
        assert_eq!(seeds("3..=5"), Ok(3..6));
        assert_eq!(seeds("0..18446744073709551615"), Ok(0..u64::MAX));
        for wrong in ["5", "5..5", "6..5", "a..b", "-1..2", "0..=18446744073709551615", "..", "1.5..2"] {
            assert!(seeds(wrong).is_err(), "{wrong} was accepted");
        }
    }
}
