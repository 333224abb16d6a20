//! Committing a decision, and finding out what became of it (D3).

use std::sync::Arc;

use super::claim::Fence;
use super::commit::{Commit, Refusal};
use super::decision::Decision;
use super::report::Report;
use super::run::Superseded;
use super::store::JournalStore;
use crate::env::Env;
use crate::executor::Backoff;

/// How often a decision is sent before it is left to the next attempt.
const COMMITS_MAX: u32 = 5;

/// What became of a decision.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled {
    Decided,
    Superseded,
    Refused(Refusal),
    Uncertain,
}

pub(super) struct Settlement<'a> {
    pub(super) env: &'a Env,
    pub(super) store: &'a Arc<dyn JournalStore>,
    pub(super) report: &'a Report,
    pub(super) fence: &'a Fence,
    pub(super) backoff: Backoff,
    /// Whether another attempt has taken over, as far as is known.
    pub(super) superseded: &'a Superseded,
}

impl Settlement<'_> {
    /// Commits the decision. A repeat of a commit that got through changes nothing, so one whose acknowledgment is lost may
    /// be sent again; but what was really committed is read first, since another attempt may have decided otherwise.
    pub(super) async fn settle(&self, decision: &Decision) -> Settled {
        self.report.decided(decision.name()).await;
        if self.superseded.peek().is_some() {
            return Settled::Superseded;
        }
        for sent in 1..=COMMITS_MAX {
            match self.store.commit_decision(self.fence, decision.clone()).await {
                Commit::Acknowledged => return Settled::Decided,
                Commit::Refused(Refusal::Superseded) => return Settled::Superseded,
                Commit::Refused(refusal) => return Settled::Refused(refusal),
                Commit::Unknown => {}
            }
            let read = self.read_back(decision).await;
            let status = match read {
                Some(Settled::Decided) => "decided",
                Some(Settled::Superseded) => "superseded",
                Some(_) => "unknown",
                None => "open",
            };
            self.report.reconciled(status).await;
            if let Some(settled @ (Settled::Decided | Settled::Superseded)) = read {
                return settled;
            }
            if sent < COMMITS_MAX {
                let unit = self.env.unit("durable/settle");
                self.env.sleep(self.backoff.delay(sent, unit)).await;
            }
        }
        Settled::Uncertain
    }

    /// What the store holds: nothing, if the activation is still open to this attempt.
    async fn read_back(&self, decision: &Decision) -> Option<Settled> {
        let history = match self.store.read(&self.fence.workflow_id).await {
            Ok(history) => history?,
            Err(error) => {
                tracing::debug!(cause = crate::causes::text(&error), "what was decided could not be read back");
                return Some(Settled::Uncertain);
            }
        };
        let activation = history.activation(&self.fence.activation_id)?;
        match &activation.decision {
            Some((decided, by)) if *by == self.fence.attempt && decided == decision => Some(Settled::Decided),
            Some(_) => Some(Settled::Superseded),
            None if activation.attempts > self.fence.attempt => Some(Settled::Superseded),
            None => None,
        }
    }
}
