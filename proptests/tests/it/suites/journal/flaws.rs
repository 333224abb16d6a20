//! Deliberate mistakes of stores, and the points that must find them.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{
    Checkpoint, Claimed, Commit, Decision, Delivery, Fence, JournalLayer, JournalStore, MemoryStore, Record, Refusal,
    Started, StoreError, WorkflowHistory,
};
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{Finding, JournalStoreSubject, journal_store_suite};

use crate::suites::checked::{check_flaws, settings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    ReadsRecordsBackwards,
    ForgetsRecords,
    IgnoresFences,
    StoresRepeatsAgain,
    RefusesRepeats,
    AcknowledgesConflicts,
    DecidesAgain,
    HalvesLeases,
    ExtendsNothing,
    TakesEventsTwice,
    ForgetsEarlyEvents,
    CutsBounds,
    ForgetsAllWhenReopened,
    TakesWorkflowsForOthers,
    RefusesWhatWasLost,
    ClaimsForAll,
}

/// Each mistake with a point that it must break.
const CAUGHT: &[(Flaw, &str)] = &[
    (Flaw::ReadsRecordsBackwards, "order"),
    (Flaw::ForgetsRecords, "order"),
    (Flaw::IgnoresFences, "fences"),
    (Flaw::RefusesRepeats, "repeats"),
    (Flaw::AcknowledgesConflicts, "repeats"),
    (Flaw::DecidesAgain, "one_decision"),
    (Flaw::HalvesLeases, "leases"),
    (Flaw::ExtendsNothing, "leases"),
    (Flaw::TakesEventsTwice, "events"),
    (Flaw::ForgetsEarlyEvents, "events"),
    (Flaw::CutsBounds, "bounds"),
    (Flaw::ForgetsAllWhenReopened, "reopening"),
    (Flaw::TakesWorkflowsForOthers, "any_order"),
    (Flaw::RefusesWhatWasLost, "lost_acknowledgment"),
    (Flaw::StoresRepeatsAgain, "lost_acknowledgment"),
    (Flaw::ClaimsForAll, "at_once"),
];

/// A store with a flaw.
struct Flawed {
    inner: MemoryStore,
    flaw: Option<Flaw>,
    /// The last activation that was claimed.
    claimed: Mutex<Option<Claimed>>,
}

struct Subject(Option<Flaw>);

impl JournalStoreSubject for Subject {
    type Place = ();
    type Store = Flawed;

    fn place(&self) {}

    async fn open(&self, _: &(), before: Option<Flawed>, env: Env) -> Flawed {
        match before.filter(|_| self.0 != Some(Flaw::ForgetsAllWhenReopened)) {
            Some(before) => before,
            None => Flawed { inner: MemoryStore::new(env), flaw: self.0, claimed: Mutex::default() },
        }
    }
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    /// Whether a record with this key is stored.
    async fn is_stored(&self, fence: &Fence, record: &Record) -> bool {
        let history = self.inner.read(&fence.workflow_id).await.ok().flatten();
        let activations = history.into_iter().flat_map(|history| history.activations);
        let mut records = activations.flat_map(|activation| activation.records);
        records.any(|committed| committed.record.key() == record.key())
    }
}

impl JournalLayer for Flawed {
    fn inner(&self) -> &dyn JournalStore {
        &self.inner
    }

    fn start<'s>(
        &'s self,
        workflow_id: &'s str,
        workflow: &'s str,
        checkpoint: Checkpoint,
    ) -> BoxFuture<'s, Result<Started, StoreError>> {
        Box::pin(async move {
            let started = self.inner.start(workflow_id, workflow, checkpoint).await?;
            let is_taken = self.has(Flaw::TakesWorkflowsForOthers) && started == Started::Conflict;
            Ok(if is_taken { Started::Already } else { started })
        })
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        Box::pin(async move {
            let lease = if self.has(Flaw::HalvesLeases) { lease / 2 } else { lease };
            let claimed = self.inner.claim(workflows, lease).await?;
            if !self.has(Flaw::ClaimsForAll) {
                return Ok(claimed);
            }
            let mut last = self.claimed.lock();
            if matches!(claimed, Claimed::Activation(_)) {
                *last = Some(claimed.clone());
            }
            Ok(last.clone().unwrap_or(claimed))
        })
    }

    fn extend<'s>(&'s self, fence: &'s Fence, lease: Duration) -> BoxFuture<'s, Commit> {
        match self.flaw {
            Some(Flaw::ExtendsNothing) => Box::pin(async { Commit::Acknowledged }),
            _ => self.inner.extend(fence, lease),
        }
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let is_repeat = self.is_stored(fence, &record).await;
            let commit = match self.flaw {
                Some(Flaw::ForgetsRecords) => return Commit::Acknowledged,
                Some(Flaw::RefusesRepeats | Flaw::RefusesWhatWasLost) if is_repeat => {
                    return Commit::Refused(Refusal::Conflict);
                }
                _ => self.inner.commit_record(fence, record).await,
            };
            match (self.flaw, &commit) {
                (Some(Flaw::IgnoresFences), Commit::Refused(Refusal::Superseded))
                | (Some(Flaw::AcknowledgesConflicts), Commit::Refused(Refusal::Conflict))
                | (Some(Flaw::CutsBounds), Commit::Refused(Refusal::OverBound)) => Commit::Acknowledged,
                _ => commit,
            }
        })
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let commit = self.inner.commit_decision(fence, decision).await;
            match (self.flaw, &commit) {
                (Some(Flaw::DecidesAgain), Commit::Refused(Refusal::Closed)) => Commit::Acknowledged,
                _ => commit,
            }
        })
    }

    fn deliver<'s>(
        &'s self,
        workflow_id: &'s str,
        key: &'s str,
        payload: Value,
    ) -> BoxFuture<'s, Result<Delivery, StoreError>> {
        Box::pin(async move {
            let is_awaited =
                self.inner.read(workflow_id).await?.is_some_and(|history| {
                    history.activations.last().is_some_and(|activation| activation.wake.is_none())
                });
            if self.has(Flaw::ForgetsEarlyEvents) && !is_awaited {
                return Ok(Delivery::Accepted);
            }
            let delivery = self.inner.deliver(workflow_id, key, payload).await?;
            let is_again = self.has(Flaw::TakesEventsTwice) && delivery == Delivery::Already;
            Ok(if is_again { Delivery::Accepted } else { delivery })
        })
    }

    fn read<'s>(&'s self, workflow_id: &'s str) -> BoxFuture<'s, Result<Option<WorkflowHistory>, StoreError>> {
        Box::pin(async move {
            let mut history = self.inner.read(workflow_id).await?;
            for activation in history.iter_mut().flat_map(|history| &mut history.activations) {
                match self.flaw {
                    Some(Flaw::ReadsRecordsBackwards) => activation.records.reverse(),
                    Some(Flaw::StoresRepeatsAgain) => {
                        let again = activation.records.clone();
                        activation.records.extend(again);
                    }
                    _ => {}
                }
            }
            Ok(history)
        })
    }
}

#[test]
fn a_layer_without_flaws_keeps_every_point() {
    let report = journal_store_suite().run("a layer", &Subject(None), &settings(32));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn each_flaw_breaks_its_point_and_each_point_has_a_flaw() {
    check_flaws(journal_store_suite, CAUGHT, |flaw| Subject(Some(flaw)), &settings(64));
}

#[test]
fn a_counterexample_is_small() {
    let report =
        journal_store_suite().only(&["fences"]).run("no fences", &Subject(Some(Flaw::IgnoresFences)), &settings(64));
    let Some(Finding::Broken(found)) = report.finding("fences") else { panic!("{report}") };
    // It is started, claimed twice, and the first attempt commits.
    assert_eq!(found.case.lines().count(), 4, "{report}");
}
