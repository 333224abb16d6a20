//! What can be asked of files of journals.

use clap::{Args, Subcommand};

const EXIT_CODES_OF_SHOW: &str = "\
Exit codes:
  0    all that was asked for is shown
  1    something is damaged; everything else is shown
  2    wrong arguments, or a file that cannot be read as journals at all
  130  interrupted: what was known by then is printed

Without --values, nothing is printed of arguments, results, states, outputs, messages and payloads but their sizes.";

const EXIT_CODES_OF_VERIFY: &str = "\
Exit codes:
  0    the file is sound
  1    damage was found; everything else was checked too
  2    wrong arguments, or a file that cannot be read as journals at all
  130  interrupted

Nothing is changed, and other programs may use the file meanwhile.";

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Print the workflows of a file, their activations and their committed operations
    #[command(after_help = EXIT_CODES_OF_SHOW)]
    Show(ShowOptions),
    /// Look for damage in a file
    #[command(after_help = EXIT_CODES_OF_VERIFY)]
    Verify(VerifyOptions),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ShowOptions {
    /// A file of journals
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    /// Only the workflow with this identifier
    #[arg(long, value_name = "ID")]
    pub(super) workflow: Option<String>,
    /// Print values too: arguments, results, states, outputs, messages and payloads, which may be secrets
    #[arg(long)]
    pub(super) values: bool,
    /// Print one JSON document, as cli/JOURNAL_JSON.md describes it
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyOptions {
    /// A file of journals
    #[arg(value_name = "FILE")]
    pub(super) file: String,
    /// Print one JSON document, as cli/JOURNAL_JSON.md describes it
    #[arg(long)]
    pub(super) json: bool,
}
