//! One step of a run.

use std::time::Duration;

/// One step of a run: something is done, or nothing for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<O> {
    /// Something is done to the system.
    Do(O),
    /// Time passes.
    Wait(Duration),
}

impl<O> Step<O> {
    /// What is done, if something is.
    pub fn operation(&self) -> Option<&O> {
        match self {
            Self::Do(operation) => Some(operation),
            Self::Wait(_) => None,
        }
    }
}
