//! The fields of a case of kind `program`, exactly as they are written.

mod case;
mod expect;
mod tool;

pub(super) use case::{WireCase, WireLimits, WireParallelFailures, WirePolicy};
pub(super) use expect::{WireCall, WireError, WireExpect};
pub(super) use tool::{WireAnswer, WireFail, WireRandom, WireStep, WireTool};
