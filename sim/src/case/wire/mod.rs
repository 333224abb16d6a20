//! The fields of a case file, exactly as they are written.

mod case;
mod expect;
mod number;
mod present;
mod tool;

pub(super) use case::{
    WireAlways, WireApproval, WireBackoff, WireCall, WireCase, WireDecision, WireEach, WireKind, WireRunLimits,
};
pub(super) use expect::{WireExpect, WireInvocation, WireResult};
pub(super) use number::Delay;
pub(super) use tool::{WireCacheScope, WireFail, WireParameter, WireRandom, WireRates, WireStep, WireTool};
