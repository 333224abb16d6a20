//! The fields of a case of kind `calls`, exactly as they are written.

mod case;
mod expect;
mod tool;

pub(super) use case::{WireApproval, WireCall, WireCase};
pub(in crate::case) use case::{WireBackoff, WireDecision, WireRunLimits, no_arguments};
pub(super) use expect::{WireExpect, WireInvocation, WireResult};
pub(in crate::case) use tool::{WireCacheScope, WireFail, WireRandom, WireStep, WireTool, yes};
