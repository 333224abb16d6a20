//! Cases of kind `calls`: tool calls through the executor.

mod build;
mod definition;
mod expectation;
mod outcome;
mod play;
mod recorded;
mod wire;

pub(super) use build::{backoff_settings, build, limits, tools};
pub(super) use definition::CaseTool;
pub use outcome::{CallsOutcome, FinishedCall};
pub(super) use wire::{
    WireBackoff, WireCacheScope, WireDecision, WireFail, WireRandom, WireRunLimits, WireStep, WireTool, no_arguments,
    yes,
};
