//! What can be asked of `init`.

use std::path::PathBuf;

use clap::Args;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    the files are there
  2    wrong arguments, no crate, or a file that is there already; nothing is changed then";

#[derive(Clone, Debug, Args)]
pub(crate) struct InitOptions {
    /// The folder of the crate, with its Cargo.toml
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Depend on the windtunnel in this folder [default: in the repository of this command]
    #[arg(long, value_name = "DIR", conflicts_with = "git")]
    pub(crate) windtunnel_path: Option<PathBuf>,
    /// Depend on the windtunnel in this repository
    #[arg(long = "windtunnel-git", value_name = "URL")]
    pub(crate) git: Option<String>,
}
