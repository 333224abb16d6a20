//! Which calls of a run may run (E2, E7).

use std::time::Duration;

use crate::cases::{CallCase, Policies};

/// A run's guards, as a list of the calls that were counted.
///
/// ```
/// use windtunnel_proptests::cases::{ArgumentsCase, CallCase, Policies};
/// use windtunnel_proptests::models::{GuardAnswer, GuardModel};
///
/// let call = |id: &str| CallCase {
///     id: id.to_owned(),
///     tool: "search".to_owned(),
///     arguments: ArgumentsCase { number: 1, is_float: false, is_reordered: false },
/// };
/// let mut guards = GuardModel::new(Policies::new(), Some(1));
/// assert_eq!(guards.commit(&call("a")), GuardAnswer::Passes);
/// assert_eq!(guards.commit(&call("b")), GuardAnswer::MaxCalls);
/// // A repeat is not a new call.
/// assert_eq!(guards.commit(&call("a")), GuardAnswer::Passes);
/// ```
#[derive(Clone, Debug)]
pub struct GuardModel {
    policies: Policies,
    calls_max: Option<u64>,
    counted: Vec<CallCase>,
}

/// What a guard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardAnswer {
    /// The call may go on.
    Passes,
    /// Its tool may run once, and did.
    OncePerRun,
    /// The run has made all its calls.
    MaxCalls,
}

impl GuardAnswer {
    /// The kind of error (E6) of a call that is stopped so.
    pub fn error_kind(self) -> Option<&'static str> {
        match self {
            Self::Passes => None,
            Self::OncePerRun => Some("once-per-run"),
            Self::MaxCalls => Some("max-calls"),
        }
    }
}

/// What a reviewer does with a call of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// How long the decision takes.
    pub after: Duration,
    /// Whether the call may run.
    pub is_approved: bool,
}

impl GuardModel {
    /// Guards that have counted nothing.
    pub fn new(policies: Policies, calls_max: Option<u64>) -> Self {
        Self { policies, calls_max, counted: Vec::new() }
    }

    /// What a call hears that arrives now.
    pub fn check(&self, call: &CallCase) -> GuardAnswer {
        if self.counted.iter().any(|counted| counted.is_repeat_of(call)) {
            return GuardAnswer::Passes;
        }
        let once_per_run = self.policies.get(&call.tool).is_some_and(|policy| policy.once_per_run);
        if once_per_run && self.counted.iter().any(|counted| counted.tool == call.tool) {
            return GuardAnswer::OncePerRun;
        }
        match self.calls_max {
            Some(calls_max) if self.counted.len() as u64 >= calls_max => GuardAnswer::MaxCalls,
            _ => GuardAnswer::Passes,
        }
    }

    /// What a call hears that is about to run; it is counted if it may.
    pub fn commit(&mut self, call: &CallCase) -> GuardAnswer {
        let answer = self.check(call);
        if answer == GuardAnswer::Passes && !self.counted.iter().any(|counted| counted.is_repeat_of(call)) {
            self.counted.push(call.clone());
        }
        answer
    }

    /// How many calls were counted.
    pub fn counted(&self) -> u64 {
        self.counted.len() as u64
    }

    /// What calls hear that arrive at once and each wait for a reviewer: they are checked when they arrive, and again
    /// when their decision comes. Decisions that come at the same time come in the order of the calls. A call that is
    /// denied has no answer.
    pub fn play(&mut self, calls: &[(CallCase, Reviewed)]) -> Vec<Option<GuardAnswer>> {
        let mut answers = vec![None; calls.len()];
        let mut waiting = Vec::new();
        for (index, (call, reviewed)) in calls.iter().enumerate() {
            match self.check(call) {
                // A decision without delay is there before the next call arrives.
                GuardAnswer::Passes if reviewed.after.is_zero() => {
                    answers[index] = reviewed.is_approved.then(|| self.commit(call));
                }
                GuardAnswer::Passes => waiting.push((reviewed.after, index)),
                refusal => answers[index] = Some(refusal),
            }
        }
        waiting.sort();
        for (_, index) in waiting {
            let (call, reviewed) = &calls[index];
            answers[index] = reviewed.is_approved.then(|| self.commit(call));
        }
        answers
    }
}
