//! Cases of kind `calls`: tool calls through the executor.

mod build;
mod definition;
mod expectation;
mod outcome;
mod play;
mod wire;

pub(super) use build::build;
pub use outcome::{CallsOutcome, FinishedCall};
