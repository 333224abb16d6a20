//! What can be asked of programs.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use windtunnel_core::evaluator::{ErrorKind, ExecutionLimits, ExecutionPolicy, ParallelFailures, RetryPolicy};

use super::seconds::{positive_seconds, seconds};
use crate::arguments::Format;

const EXIT_CODES_OF_CHECK: &str = "\
Exit codes:
  0    every program is valid
  1    a program is invalid
  2    wrong arguments, or a file that cannot be read
  130  interrupted: what was known by then is printed";

const EXIT_CODES_OF_SHOW: &str = "\
Exit codes:
  0    the program is shown
  2    wrong arguments, or a file that cannot be read as a program
  130  interrupted";

const EXIT_CODES_OF_RUN: &str = "\
Exit codes:
  0    the program came to a value; with --parallel-failures collect, every expression of the body did
  1    it failed, or came to no end; with --parallel-failures collect, a branch failed
  2    wrong arguments, or a file that cannot be read as a program or as tools
  130  interrupted

Time is virtual: a tool that takes an hour takes none of yours. The same seed gives the same run.";

/// What a program may evaluate, unless it is said: it may come from a model, and never end by itself.
pub(super) const NODES_DEFAULT: NonZeroU64 = NonZeroU64::new(5_000_000).unwrap();
pub(super) const TOOL_CALLS_DEFAULT: NonZeroU64 = NonZeroU64::new(500_000).unwrap();
/// About 256 MiB: one large value can be named many times.
pub(super) const BYTES_DEFAULT: NonZeroU64 = NonZeroU64::new(256 * 1024 * 1024).unwrap();

#[derive(Debug, Subcommand)]
pub(crate) enum ProgramCommand {
    /// Check programs, and report everything that is wrong with them
    #[command(after_help = EXIT_CODES_OF_CHECK)]
    Check(CheckOptions),
    /// Print one program, as an indented tree or in its canonical form
    #[command(after_help = EXIT_CODES_OF_SHOW)]
    Show(ShowOptions),
    /// Evaluate one program with scripted tools, and print what it came to and what it used
    #[command(after_help = EXIT_CODES_OF_RUN)]
    Run(Box<RunOptions>),
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Files of one program each, as JSON; `-` reads standard input
    #[arg(required = true, value_name = "FILES")]
    pub(super) files: Vec<String>,
    /// Tools that the programs must fit: each is there, and takes the arguments that it is called with
    #[arg(long, value_name = "TOOLS")]
    pub(super) tools: Option<String>,
    /// How to print: a line for each offence, or a JSON object for each file and one for the summary
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// A file of one program, as JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    /// Print the canonical JSON: equal programs have the same
    #[arg(long)]
    pub(super) canonical: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunOptions {
    /// A file of one program, as JSON; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    /// The tools, as in a case file of kind `program`: that file (of one case), `tools` alone, or a list in JSON [default: none]
    #[arg(long, value_name = "TOOLS")]
    pub(super) tools: Option<String>,
    /// What the tools' scripts, and --shuffle, draw from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Let siblings go on in an order drawn from the seed, instead of as they are written
    #[arg(long)]
    pub(super) shuffle: bool,
    /// Print every event too
    #[arg(long)]
    pub(super) trace: bool,
    /// How to print: for people, or one JSON object, after one for each event if there is a trace
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) limits: LimitOptions,
    #[command(flatten)]
    pub(super) policy: PolicyOptions,
}

/// All inclusive.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitOptions {
    /// The most nodes to evaluate: a lambda's or a function's body counts each time
    #[arg(long, value_name = "N", default_value_t = NODES_DEFAULT, value_parser = at_least_one, allow_negative_numbers = true)]
    pub(super) max_nodes: NonZeroU64,
    /// How deep a node may stand in the program, from 1
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    max_depth: Option<NonZeroU64>,
    /// The most user functions active at once, one in the other
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    max_call_depth: Option<NonZeroU64>,
    /// The most attempts of tools
    #[arg(long, value_name = "N", default_value_t = TOOL_CALLS_DEFAULT, value_parser = at_least_one, allow_negative_numbers = true)]
    pub(super) max_tool_calls: NonZeroU64,
    /// The most expressions of the body to evaluate at once; with it, what is inside one of them runs one after another.
    /// Without it all begin at once, in either mode
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    max_concurrency: Option<NonZeroU64>,
    /// The most bytes of values, about, to copy into lists and arguments
    #[arg(long, value_name = "N", default_value_t = BYTES_DEFAULT, value_parser = at_least_one, allow_negative_numbers = true)]
    pub(super) max_bytes: NonZeroU64,
    /// How long it may take, in virtual time; past it the whole evaluation fails, collected branches too
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "When tools fail")]
pub(super) struct PolicyOptions {
    /// How many attempts one call may make, of a tool that is --idempotent
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN, value_parser = attempts, allow_negative_numbers = true)]
    max_attempts: NonZeroU32,
    /// The wait before each further attempt
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds, allow_negative_numbers = true)]
    retry_delay: Duration,
    /// A tool that may be tried again; can be given several times
    #[arg(long, value_name = "TOOL")]
    pub(super) idempotent: Vec<String>,
    /// A kind of error that may be tried again; can be given several times [default: tool-execution and timeout]
    #[arg(long, value_name = "KIND", value_parser = retryable())]
    retry_on: Vec<ErrorKind>,
    /// What the failure of one expression of a parallel program does: fail the program, or only its own branch. A limit
    /// that is crossed fails as anything else does, except for --timeout
    #[arg(long, value_enum, default_value_t = Failures::Raise, value_name = "WHAT")]
    parallel_failures: Failures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Failures {
    Raise,
    Collect,
}

/// The kinds of error that an attempt can end with.
const RETRYABLE: [ErrorKind; 6] = [
    ErrorKind::ToolExecution,
    ErrorKind::Timeout,
    ErrorKind::Unclassified,
    ErrorKind::ToolNotFound,
    ErrorKind::ProviderResponse,
    ErrorKind::AstValidation,
];

fn at_least_one(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "give a whole number of at least 1".to_owned())
}

fn attempts(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "give a whole number of at least 1, and below 2^32".to_owned())
}

fn retryable() -> impl TypedValueParser<Value = ErrorKind> {
    PossibleValuesParser::new(RETRYABLE.map(ErrorKind::as_str)).try_map(|name| {
        let kind = RETRYABLE.into_iter().find(|kind| kind.as_str() == name);
        kind.ok_or("not a kind of error")
    })
}

impl LimitOptions {
    pub(super) fn limits(&self) -> ExecutionLimits {
        ExecutionLimits {
            max_nodes: Some(self.max_nodes),
            max_depth: self.max_depth,
            max_call_depth: self.max_call_depth,
            max_tool_calls: Some(self.max_tool_calls),
            max_concurrency: self.max_concurrency,
            max_bytes: Some(self.max_bytes),
            timeout: self.timeout,
        }
    }
}

impl PolicyOptions {
    pub(super) fn does_collect(&self) -> bool {
        self.parallel_failures == Failures::Collect
    }

    pub(super) fn policy(&self) -> ExecutionPolicy {
        let default = RetryPolicy::default();
        let retry = RetryPolicy {
            max_attempts: self.max_attempts,
            delay: self.retry_delay,
            idempotent_tools: self.idempotent.iter().cloned().collect(),
            retryable: match &*self.retry_on {
                [] => default.retryable,
                kinds => kinds.iter().copied().collect(),
            },
        };
        let parallel_failures = match self.parallel_failures {
            Failures::Raise => ParallelFailures::Raise,
            Failures::Collect => ParallelFailures::Collect,
        };
        ExecutionPolicy { retry, parallel_failures }
    }
}
