//! What a tool does, attempt by attempt.

use std::time::Duration;

/// The attempts of one call, in order.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_proptests::cases::{Ending, Script, Step};
///
/// let script = Script { steps: vec![Step::at_once(Ending::ForeignError), Step::at_once(Ending::Value)] };
/// assert_eq!(script.step(1).ending, Ending::ForeignError);
/// // The last step repeats.
/// assert_eq!(script.step(7), Step { takes: Duration::ZERO, ending: Ending::Value });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// One step for each attempt. The last one repeats; without any, every attempt gives a value at once.
    pub steps: Vec<Step>,
}

impl Script {
    /// The same step at every attempt.
    pub fn always(step: Step) -> Self {
        Self { steps: vec![step] }
    }

    /// What attempt `attempt` (from 1) does.
    pub fn step(&self, attempt: u32) -> Step {
        let index = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        self.steps.get(index).or(self.steps.last()).copied().unwrap_or(Step::at_once(Ending::Value))
    }
}

/// One attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How long the attempt takes, if no time limit ends it.
    pub takes: Duration,
    /// How it then ends.
    pub ending: Ending,
}

impl Step {
    /// An attempt that takes no time.
    pub const fn at_once(ending: Ending) -> Self {
        Self { takes: Duration::ZERO, ending }
    }
}

/// How an attempt ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// With a value.
    Value,
    /// With an error that is not a tool error: retried (E3).
    ForeignError,
    /// With a tool error that says "try later": retried (E3).
    RetryableError,
    /// With a tool error for the model to read: not retried (E3).
    Refusal,
    /// By a panic, which counts as a foreign error (E14).
    Panic,
    /// With the control-flow error `Cancelled`, which passes through (E3).
    Cancelled,
}
