//! The fields of a case of kind `calls`, exactly as they are written.

mod case;
mod expect;
mod tool;

pub(super) use case::{WireApproval, WireBackoff, WireCall, WireCase, WireDecision, WireRunLimits};
pub(super) use expect::{WireExpect, WireInvocation, WireResult};
pub(super) use tool::{WireCacheScope, WireRandom, WireStep, WireTool};
