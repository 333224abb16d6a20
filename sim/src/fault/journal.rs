//! A journal that takes faults.

use std::sync::Arc;

use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{Commit, Decision, Fence, JournalLayer, JournalStore, Record, Refusal};
use windtunnel_core::event::EventKind;

use super::claim::Claim;
use super::kind::Target;
use super::{FaultAction, Faults};
use crate::world::subject_of_world;

/// A journal that takes faults ([`Faults::journal`]).
#[derive(Debug)]
pub struct FaultyJournal<S> {
    journal: S,
    faults: Faults,
}

impl<S: JournalStore> FaultyJournal<S> {
    pub(super) fn new(journal: S, faults: Faults) -> Self {
        Self { journal, faults }
    }

    async fn commit(&self, commit: &'static str, committing: impl Future<Output = Commit>) -> Commit {
        let event = || EventKind::JournalCommit { commit };
        let claim = self.faults.take(Target::Journal, commit, &subject_of_world(), event).await;
        match claim.and_then(Claim::deliver) {
            Some(FaultAction::JournalLoseAcknowledgment {}) => {
                let _unseen = committing.await;
                Commit::Unknown
            }
            Some(FaultAction::JournalRefuseCommit {}) => Commit::Refused(Refusal::Rejected),
            _ => committing.await,
        }
    }
}

impl<S: JournalStore> JournalLayer for FaultyJournal<S> {
    fn inner(&self) -> &dyn JournalStore {
        &self.journal
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit("record", self.journal.commit_record(fence, record)))
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(self.commit("decision", self.journal.commit_decision(fence, decision)))
    }
}
