//! Case files: tools, calls and what must come of them, as data.
//!
//! A file holds one case or several, as JSON, JSONL or TOML. [`Case::load`] reads it, [`Case::run`] runs a case with a
//! seed, and [`Case::judge`] holds the run against what the file expects and what it asserts of every run. Whatever is
//! wrong with a file is refused with its line, column and path, an unknown field too.
//!
#![doc = include_str!("../../CASE_FILES.md")]

mod always;
mod build;
mod definition;
mod error;
mod expectation;
mod load;
mod play;
mod run;
mod script;
mod suggestion;
mod text;
mod typed;
mod verdict;
mod wire;

pub use always::{AssertionOutcome, Offence};
pub use definition::Case;
pub use error::{LoadError, Place};
pub use run::{CaseRun, FinishedCall};
pub use text::Format;
pub use verdict::Verdict;
pub use windtunnel_fixtures::difference::Difference;
