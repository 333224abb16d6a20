//! Calls made at once, under all policies that need no reviewer.

use windtunnel_core::executor::BackoffSettings;

use super::{Caps, Policies, Script};

/// A batch in one fresh run. Jitter draws 0.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchCase {
    /// The tools.
    pub policies: Policies,
    /// How many calls the run may make.
    pub calls_max: Option<u64>,
    /// How many calls of a kind may run at once.
    pub caps: Caps,
    /// How long to wait between attempts.
    pub backoff: BackoffSettings,
    /// The calls, in order. Each has an id of its own.
    pub calls: Vec<BatchCall>,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchCall {
    /// The tool's name. It may be one that is not there.
    pub tool: String,
    /// What the tool does in this call.
    pub script: Script,
}
