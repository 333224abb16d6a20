//! What can be asked of it.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use windtunnel_fixtures::proxy::Upstream;

use crate::traffic::{FileOptions, SecretsOptions};

const EXIT_CODES_OF_RECORD: &str = "\
With --upstream, clients are given the printed URL, and COMMAND may be one (WINDTUNNEL_MCP_URL is in its environment). Else
COMMAND is the server: put `windtunnel mcp record --out FILE --` before it where your client has it. Nothing but its own
output goes to standard output then. Every message is on the disk before it goes on.

Exit codes:
  0    every message that passed is recorded
  1    something passed and is not recorded, or the client failed
  2    wrong arguments, or a file that cannot be written
  else that of the server, if it ended by itself with another one than 0";

const EXIT_CODES_OF_SERVE: &str = "\
What the client says is compared with what the recorded one said: methods, parameters and answers, but not ids, `_meta`,
progress tokens, nor the clientInfo of `initialize`. It may say nothing before it has heard what the recorded client had;
what that one said without hearing anything in between may come in any order. A request that was not recorded gets an error
(-32603) whose data says why, and shifts nothing that follows. Pings are answered, and never expected.

Exit codes:
  0    everything that was recorded was said, and nothing else
  1    something was missed or left over, or COMMAND failed
  2    wrong arguments, or a file that cannot be read as a cassette

With --stdio it ends when the client does, and what was missed goes to standard error. With COMMAND it ends when that does,
else at Ctrl-C or SIGTERM.";

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Record the sessions of a server: of a command over its standard input and output, or of a URL
    #[command(after_help = EXIT_CODES_OF_RECORD)]
    Record(McpRecordOptions),
    /// Play the recorded server, over standard input and output or HTTP, whichever it was recorded over
    #[command(after_help = EXIT_CODES_OF_SERVE)]
    Serve(McpServeOptions),
}

#[derive(Debug, Args)]
pub(crate) struct McpRecordOptions {
    /// The server's URL, if it is one over streamable HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<Upstream>,
    #[command(flatten)]
    pub(crate) file: FileOptions,
    /// The address to listen on for clients of --upstream; port 0 is a free one [default: 127.0.0.1:0]
    #[arg(long, value_name = "ADDRESS", requires = "upstream")]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) secrets: SecretsOptions,
    /// The server, or with --upstream a client to run meanwhile
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "upstream")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct McpServeOptions {
    /// The cassette
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Speak over standard input and output
    #[arg(long, conflicts_with_all = ["listen", "command"])]
    pub(crate) stdio: bool,
    /// The address to listen on for clients over HTTP; port 0 is a free one [default: 127.0.0.1:0]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Only this session; without it each client gets the first that is left and begins as it does
    #[arg(long, value_name = "NAME")]
    pub(crate) lane: Option<String>,
    /// Let the client speak in any order: each entry answers once, the first message that it fits
    #[arg(long)]
    pub(crate) keyed: bool,
    /// A place of messages that is not compared, as JSONPath, such as $.message.params.protocolVersion; may be given
    /// several times
    #[arg(long, value_name = "PATH")]
    pub(crate) ignore: Vec<String>,
    #[command(flatten)]
    pub(crate) secrets: SecretsOptions,
    /// A client over HTTP to run meanwhile, with WINDTUNNEL_MCP_URL in its environment
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
