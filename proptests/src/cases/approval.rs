//! What a reviewer does.

use std::time::Duration;

/// What a reviewer answers about one call, each time it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalScript {
    /// One step for each time the reviewer is asked. The last one repeats; without any, it approves at once.
    pub steps: Vec<ApprovalStep>,
}

impl ApprovalScript {
    /// What happens when the reviewer is asked for the time `ask` (from 0).
    pub fn step(&self, ask: usize) -> ApprovalStep {
        let at_once = ApprovalStep { takes: Duration::ZERO, answer: Answer::Approve };
        self.steps.get(ask).or(self.steps.last()).copied().unwrap_or(at_once)
    }
}

/// One answer of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalStep {
    /// How long the reviewer thinks.
    pub takes: Duration,
    /// The answer.
    pub answer: Answer,
}

/// What a reviewer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// The call may run.
    Approve,
    /// The call may run with other arguments.
    Edit,
    /// The call may run with arguments that its schema refuses, so it may not.
    EditBadly,
    /// The call may not run.
    Deny,
    /// The decision comes later.
    Pending,
    /// The reviewer cannot be reached, which denies the call.
    Fail,
}
