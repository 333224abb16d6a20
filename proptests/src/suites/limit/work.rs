//! The work that a suite hands to a limiter, and what it notes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::env::Env;

use super::WorkEnding;

/// The work of one call, which notes when it is done.
pub struct Work {
    env: Env,
    cost: u64,
    takes: Duration,
    ending: WorkEnding,
    note: Arc<Mutex<WorkNote>>,
}

/// The work failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work failed")]
pub struct WorkError;

/// What was noted of a call's work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkNote {
    pub(super) began: Option<Duration>,
    pub(super) ended: Option<Duration>,
}

impl Work {
    pub(super) fn new(env: Env, cost: u64, takes: Duration, ending: WorkEnding, note: Arc<Mutex<WorkNote>>) -> Self {
        Self { env, cost, takes, ending, note }
    }

    /// What it costs. It is known before the work begins.
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Does it. Nothing happens before the future is polled.
    ///
    /// # Errors
    /// [`WorkError`], if that is how the work ends.
    ///
    /// # Panics
    /// If that is how the work ends.
    pub async fn run(self) -> Result<(), WorkError> {
        self.note.lock().began = Some(self.env.now());
        let under_way = UnderWay(&self);
        if !self.takes.is_zero() {
            self.env.until(self.env.now().saturating_add(self.takes)).await;
        }
        drop(under_way);
        match self.ending {
            WorkEnding::Value => Ok(()),
            WorkEnding::Error => Err(WorkError),
            // Unwinds as a panic does, without the panic hook: a test's output stays readable.
            WorkEnding::Panic => std::panic::resume_unwind(Box::new("the work panicked")),
        }
    }
}

/// Notes when the work ends, also if it is dropped.
struct UnderWay<'w>(&'w Work);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.note.lock().ended = Some(self.0.env.now());
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Work").field("cost", &self.cost).finish_non_exhaustive()
    }
}
