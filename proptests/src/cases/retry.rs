//! One call, alone, that may be retried.

use std::time::Duration;

use windtunnel_core::executor::BackoffSettings;

use super::{Script, ToolPolicy};

/// A lone call: what its tool does, and how it may be retried.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryCase {
    /// What the tool does.
    pub script: Script,
    /// How many attempts may follow the first.
    pub retries: u32,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// How long to wait between attempts.
    pub backoff: BackoffSettings,
    /// The random numbers in `[0, 1)` that the waits draw, in order. Past the end they are 0.
    pub units: Vec<f64>,
}

impl RetryCase {
    /// The random number that the wait after attempt `attempt` (from 1) draws.
    pub fn unit(&self, attempt: u32) -> f64 {
        let index = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        self.units.get(index).copied().unwrap_or(0.0)
    }

    /// The policy of a tool that is called so.
    pub fn policy(&self) -> ToolPolicy {
        ToolPolicy { retries: self.retries, timeout: self.timeout, ..ToolPolicy::default() }
    }
}
