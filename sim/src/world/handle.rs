//! The world as the code in it sees it.

use windtunnel_core::env::Env;

use crate::Trace;

/// What a scenario gets of its world. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorldHandle {
    pub(super) seed: u64,
    pub(super) env: Env,
    pub(super) trace: Trace,
}

impl WorldHandle {
    /// The world's seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The world's time, chance and identity. Hand it to everything that runs in the world.
    pub fn env(&self) -> Env {
        self.env.clone()
    }

    /// The world's trace, a sink for events.
    pub fn trace(&self) -> Trace {
        self.trace.clone()
    }
}
