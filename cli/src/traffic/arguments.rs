//! What can be asked of them.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use windtunnel_fixtures::proxy::Upstream;

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

#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// A service to stand before, as URL or NAME=URL; may be given several times
    #[arg(long = "upstream", required = true, value_name = "[NAME=]URL")]
    pub(crate) upstreams: Vec<Upstream>,
    /// The cassette to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Replace the cassette if it is there
    #[arg(long)]
    pub(crate) replace: bool,
    /// Record even though the environment variable CI is set
    #[arg(long)]
    pub(crate) in_ci: bool,
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
    /// A place of requests that is not compared, as JSONPath, such as $.request.body.json.metadata; may be given several
    /// times
    #[arg(long, value_name = "PATH")]
    pub(crate) ignore: Vec<String>,
    /// When things come: at once, or as they were recorded
    #[arg(long, value_enum, default_value_t = TimingName::Fast)]
    pub(crate) timing: TimingName,
    #[command(flatten)]
    pub(crate) front: FrontOptions,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimingName {
    Fast,
    Recorded,
}
