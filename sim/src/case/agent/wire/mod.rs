//! The fields of a case of kind `agent`, exactly as they are written.

mod case;
mod crash;
mod expect;
mod model;
mod tool;

pub(super) use case::{WireApproval, WireCase, WireWorkers};
pub(super) use crash::{WireCrash, WirePoint};
pub(super) use expect::{WireCrashed, WireExpect, WireOutcome};
pub(super) use model::{WireCall, WireMessage, WireModel, WireModelFailure, WireTurn};
pub(super) use tool::{Manners, WireAgentTool};
