//! Case files: tools, what is done with them, and what must come of it, as data.
//!
//! A file holds one case or several, as JSON, JSONL or TOML. [`Case::load`] reads it, [`Case::run`] runs a case with a
//! seed, and [`Case::judge`] holds the run against what the file expects and what it asserts of every run. Whatever is
//! wrong with a file is refused with its line, column and path, an unknown field too.
//!
#![doc = include_str!("../../CASE_FILES.md")]

mod agent;
mod always;
mod build;
mod calls;
mod cassettes;
mod definition;
mod error;
mod explore;
#[cfg(feature = "sqlite")]
mod journal;
mod lean;
mod load;
mod operations;
mod program;
mod run;
mod script;
mod shrunk;
mod store;
mod suggestion;
mod text;
mod trouble;
mod typed;
mod unordered;
mod verdict;
mod wire;

pub use agent::{ActivationSummary, AgentEnding, AgentOutcome, Crash, CrashPoint, Effect, ReviewDelivery};
pub use always::{AssertionOutcome, Offence};
pub use calls::{CallsOutcome, FinishedCall};
pub use definition::Case;
pub use error::{LoadError, Place};
#[cfg(feature = "sqlite")]
pub use journal::JournalError;
pub use operations::{FinishedOperation, OperationsOutcome};
pub use program::{ProgramOffence, ProgramOutcome, Tools};
pub use run::{CaseOutcome, CaseRun};
pub use shrunk::ShrunkCase;
pub use text::Format;
pub use verdict::Verdict;
pub use windtunnel_fixtures::difference::Difference;
