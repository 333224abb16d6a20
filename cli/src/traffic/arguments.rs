//! What can be asked of them.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use windtunnel_fixtures::delivery::Timing;
use windtunnel_fixtures::proxy::Upstream;
use windtunnel_sim::fault::FaultKind;

use super::secrets::SecretsOptions;
use crate::arguments::fault_kind;
use crate::report::ReportOption;

pub(crate) const EXIT_CODES_OF_RECORD: &str = "\
Exit codes:
  0    everything that passed is recorded
  1    something passed and is not recorded, or COMMAND failed
  2    wrong arguments, or a file that cannot be written

With COMMAND the recording ends when it does, else at Ctrl-C or SIGTERM.";

pub(crate) const EXIT_CODES_OF_SERVE: &str = "\
Exit codes:
  0    everything that was recorded was asked for, and nothing else
  1    something was missed or left over, or COMMAND failed
  2    wrong arguments, or a file that cannot be read as a cassette

With COMMAND the server ends when it does, else at Ctrl-C or SIGTERM.";

/// What is recorded to.
#[derive(Debug, Args)]
pub(crate) struct FileOptions {
    /// The cassette to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Replace the cassette if it is there
    #[arg(long)]
    pub(crate) replace: bool,
    /// Record even though the environment variable CI is set
    #[arg(long)]
    pub(crate) in_ci: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// A service to stand before, as URL or NAME=URL; may be given several times
    #[arg(long = "upstream", required = true, value_name = "[NAME=]URL")]
    pub(crate) upstreams: Vec<Upstream>,
    #[command(flatten)]
    pub(crate) file: FileOptions,
    #[command(flatten)]
    pub(crate) secrets: SecretsOptions,
    #[command(flatten)]
    pub(crate) front: FrontOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// The cassette
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Answer in any order: each entry once, for the first request that it fits
    #[arg(long)]
    pub(crate) keyed: bool,
    /// As --keyed, and as often as it is asked: where all entries that fit a request were given they come again, in turn
    #[arg(long)]
    pub(crate) repeat: bool,
    /// A place of requests that is not compared, as JSONPath, such as $.request.body.json.metadata; may be given several
    /// times
    #[arg(long, value_name = "PATH")]
    pub(crate) ignore: Vec<String>,
    /// When responses come: at once (fast), as they were recorded (recorded), or so many times later, such as 0.5
    #[arg(long, value_name = "TIMING", default_value = "fast", value_parser = timing)]
    pub(crate) timing: Timing,
    /// In which pieces they come
    #[arg(long, value_enum, default_value_t = SplitName::Recorded)]
    pub(crate) split: SplitName,
    /// A plan of faults over the recording: a JSON list of {"when": …, "do": …} about requests, as in case files
    #[arg(long, value_name = "PLAN")]
    pub(crate) faults: Option<PathBuf>,
    /// How likely a fault is at each request, from 0 to 1
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) fault_rate: Option<f64>,
    /// The kinds of fault that are drawn, such as model.rate_limited,model.delay [default: all of models]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = fault_kind, requires = "fault_rate")]
    pub(crate) fault_kinds: Option<Vec<FaultKind>>,
    /// The seed that faults are drawn from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) report: ReportOption,
    #[command(flatten)]
    pub(crate) secrets: SecretsOptions,
    #[command(flatten)]
    pub(crate) front: FrontOptions,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| format!("{text:?} is no rate: a number from 0 to 1"))
}

/// Where clients ask.
#[derive(Debug, Args)]
pub(crate) struct FrontOptions {
    /// The address to listen on; port 0 is a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// A command to run meanwhile, with the base URLs of known clients in its environment (OPENAI_BASE_URL,
    /// ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, and WINDTUNNEL_URL)
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// In which pieces responses come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitName {
    /// In those that were recorded
    Recorded,
    /// In one
    Whole,
    /// Each server-sent event by itself
    Event,
    /// Each byte by itself
    Byte,
}

fn timing(text: &str) -> Result<Timing, String> {
    let factor = || text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 0.0);
    match text {
        "fast" => Ok(Timing::Fast),
        "recorded" => Ok(Timing::Recorded),
        _ => {
            factor().map(Timing::Scaled).ok_or_else(|| format!("{text:?} is neither fast, nor recorded, nor a factor"))
        }
    }
}
