//! Acknowledgments that go wrong on purpose.

use std::collections::VecDeque;

use super::super::commit::{Commit, Refusal};

/// What happens to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgment {
    /// What the store says arrives.
    Ok,
    /// The store does as it is asked, and its acknowledgment is lost.
    Lost,
    /// The store rejects it.
    Rejected,
}

/// What happens to the next commits, one after another; after the last one all is well.
#[derive(Debug, Default)]
pub(super) struct Script {
    next: VecDeque<Acknowledgment>,
}

impl Script {
    pub(super) fn extend(&mut self, acknowledgments: impl IntoIterator<Item = Acknowledgment>) {
        self.next.extend(acknowledgments);
    }

    pub(super) fn play(&mut self, commit: impl FnOnce() -> Commit) -> Commit {
        match self.next.pop_front().unwrap_or(Acknowledgment::Ok) {
            Acknowledgment::Ok => commit(),
            Acknowledgment::Rejected => Commit::Refused(Refusal::Rejected),
            Acknowledgment::Lost => {
                let _nobody_hears_it = commit();
                Commit::Unknown
            }
        }
    }
}
