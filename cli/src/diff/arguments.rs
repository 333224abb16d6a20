//! What can be asked of two traces.

use clap::Args;

use crate::arguments::Format;

pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    the traces are the same
  1    they differ
  2    wrong arguments, or something that cannot be read as a trace
  130  interrupted

A and B are each a file of events, as `windtunnel replay --events FILE` writes it, or a case and its seed, such as pay.toml:7,
which is run for it. `-` reads events from standard input. Two runs of different seeds mostly differ in their times first:
`--ignore sequence,at_ns,delay_s,duration_s` compares what happened.";

#[derive(Clone, Debug, Args)]
pub(crate) struct DiffOptions {
    /// A file of events, or FILE:SEED: a case file and a seed
    #[arg(value_name = "A")]
    pub(crate) first: String,
    /// What it is held against, in the same form
    #[arg(value_name = "B")]
    pub(crate) second: String,
    /// The case with this id, where a case file holds several
    #[arg(long, value_name = "ID")]
    pub(crate) case: Option<String>,
    /// Members of events that are not compared, such as at_ns,delay_s
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// How many events to show before the first that differs, and from there on
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) context: usize,
    /// How to print: for people, or one JSON object
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
