//! One attempt of one activation, from its claim to its ending.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt;
use futures_util::future::Shared;

use super::attempt::{Attempt, AttemptParts};
use super::claim::Claim;
use super::commit::{Commit, Refusal};
use super::context::WorkflowContext;
use super::decision::Decision;
use super::journal::Journal;
use super::report::{Finish, Report};
use super::retry::{AttemptError, Verdict};
use super::settle::{Settled, Settlement};
use super::worker::{Ending, Worker};
use crate::causes::{self, Panicked};

pub(super) struct Run<'w> {
    worker: &'w Worker,
    claim: Claim,
    report: Report,
    began: Duration,
    counts: Counts,
    is_over: bool,
}

/// Completes when another attempt has taken over; until then it extends the lease.
pub(super) type Superseded = Shared<BoxFuture<'static, ()>>;

/// What an attempt came to, while it gave signs of life.
enum CameTo {
    Ending(Ending),
    /// It failed, and gives its claim up.
    Retry {
        error: AttemptError,
        after: Duration,
        is_failure: bool,
    },
}

/// What all entries of an attempt did, also those that were dropped.
#[derive(Default)]
struct Counts {
    executed: AtomicUsize,
    replayed: AtomicUsize,
}

/// How far an entry came.
enum Progress {
    Ended(Result<Decision, AttemptError>),
    /// It is to be run again with this journal.
    Outdated(Journal),
    Superseded,
}

impl<'w> Run<'w> {
    pub(super) fn new(worker: &'w Worker, claim: Claim) -> Self {
        let report = Report::new(worker.emitter.clone(), &claim);
        Self { worker, claim, report, began: worker.env.now(), counts: Counts::default(), is_over: false }
    }

    pub(super) async fn attempt(mut self) -> Ending {
        let superseded = self.signs_of_life().shared();
        let mut signs = Some(superseded.clone());
        let came_to = {
            let mut came_to = Box::pin(self.come_to(superseded));
            // Whatever it waits for: somebody who hears nothing of it would take over.
            poll_fn(|context| {
                if signs.as_mut().is_some_and(|signs| Pin::new(signs).poll(context).is_ready()) {
                    signs = None;
                }
                came_to.as_mut().poll(context)
            })
            .await
        };
        let ending = match came_to {
            CameTo::Ending(ending) => ending,
            CameTo::Retry { error, after, is_failure } => self.try_again(error, after, is_failure).await,
        };
        self.is_over = true;
        self.report.finished(self.finish(Some(&ending))).await;
        ending
    }

    async fn come_to(&self, superseded: Superseded) -> CameTo {
        self.report.started(&self.claim).await;
        match self.enter(&superseded).await {
            None => CameTo::Ending(Ending::Superseded),
            Some(Ok(decision)) => self.decide(decision, &superseded).await,
            Some(Err(error)) => self.fail(error, &superseded).await,
        }
    }

    /// Runs the entry, again and again where every record is to be replayed. Nothing, if another attempt took over.
    async fn enter(&self, superseded: &Superseded) -> Option<Result<Decision, AttemptError>> {
        let mut journal = match Journal::from_records(self.claim.records.iter().cloned()) {
            Ok(journal) => journal,
            Err(damage) => return Some(Err(AttemptError::Durable(damage))),
        };
        loop {
            match self.enter_once(journal, superseded.clone()).await {
                Progress::Ended(result) => return Some(result),
                Progress::Superseded => return None,
                Progress::Outdated(longer) => {
                    self.report.replaying(longer.len()).await;
                    journal = longer;
                }
            }
        }
    }

    async fn enter_once(&self, journal: Journal, mut superseded: Superseded) -> Progress {
        let worker = self.worker;
        // The worker claims only what it has.
        let Some(workflow) = worker.workflows.get(&self.claim.workflow) else { return Progress::Superseded };
        let parts = AttemptParts {
            env: &worker.env,
            report: &self.report,
            store: &worker.store,
            entries: workflow.entries(),
            order: worker.order,
            replays_always: worker.replays_always,
        };
        let attempt = Arc::new(Attempt::new(parts, &self.claim, journal));
        // Whatever happens, also to this future, nothing of the attempt runs on.
        let closing = Closing { attempt: &attempt, counts: &self.counts };
        let context = WorkflowContext::new(Arc::clone(&attempt));
        let checkpoint = &self.claim.checkpoint;
        let entered = AssertUnwindSafe(async {
            match workflow.enter(checkpoint.entry(), context, checkpoint.state()) {
                Ok(entered) => entered.await.map_err(AttemptError::of_entry),
                Err(error) => Err(AttemptError::Durable(error)),
            }
        })
        .catch_unwind();
        let mut entered = Box::pin(entered);
        let progress = poll_fn(|context| {
            // First, so that nothing begins after it is known.
            if Pin::new(&mut superseded).poll(context).is_ready() {
                return Poll::Ready(Progress::Superseded);
            }
            let polled = entered.as_mut().poll(context);
            if let Some(journal) = attempt.outdated(context) {
                return Poll::Ready(Progress::Outdated(journal));
            }
            match polled {
                Poll::Ready(Ok(result)) => Poll::Ready(Progress::Ended(result)),
                Poll::Ready(Err(panic)) => {
                    Poll::Ready(Progress::Ended(Err(AttemptError::Panicked(Panicked::of(&*panic).into()))))
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
        // D3: a decision after a commit that was not acknowledged is none.
        let progress = match progress {
            Progress::Ended(Ok(decision)) => {
                Progress::Ended(attempt.decide().map(|()| decision).map_err(AttemptError::Durable))
            }
            // Nor is an error the entry's own: what it made of that commit is the store's failure.
            Progress::Ended(Err(error)) if error.is_own() => {
                let poisoned = attempt.check_unpoisoned().map_err(AttemptError::Durable);
                if poisoned.is_err() {
                    tracing::debug!(cause = causes::text(&error), "a poisoned attempt failed");
                }
                Progress::Ended(poisoned.and(Err(error)))
            }
            other => other,
        };
        drop(entered);
        drop(closing);
        progress
    }

    /// Extends the lease as long as that works. Completes when another attempt has taken over.
    fn signs_of_life(&self) -> BoxFuture<'static, ()> {
        let Worker { env, store, lease, .. } = self.worker.clone();
        let fence = self.claim.fence.clone();
        Box::pin(async move {
            loop {
                env.until(env.now().saturating_add(lease / 3)).await;
                let extended = store.extend(&fence, lease).await;
                if matches!(extended, Commit::Refused(Refusal::Superseded | Refusal::Closed | Refusal::NoActivation)) {
                    return;
                }
            }
        })
    }

    async fn decide(&self, decision: Decision, superseded: &Superseded) -> CameTo {
        CameTo::Ending(match self.settlement(superseded).settle(&decision).await {
            Settled::Decided => Ending::Decided { decision, error: None },
            Settled::Superseded => Ending::Superseded,
            Settled::Uncertain => Ending::Uncertain,
            Settled::Refused(refusal) => return self.fail(AttemptError::Refused(refusal), superseded).await,
        })
    }

    fn settlement<'a>(&'a self, superseded: &'a Superseded) -> Settlement<'a> {
        Settlement {
            env: &self.worker.env,
            store: &self.worker.store,
            report: &self.report,
            fence: &self.claim.fence,
            backoff: self.worker.retry.backoff,
            superseded,
        }
    }

    async fn fail(&self, error: AttemptError, superseded: &Superseded) -> CameTo {
        tracing::debug!(
            workflow_id = &*self.claim.fence.workflow_id,
            activation_id = &*self.claim.fence.activation_id,
            cause = causes::text(&error),
            "an attempt of an activation failed"
        );
        let unit = self.worker.env.unit("durable/retry");
        match self.worker.retry.judge(&error, self.claim.fence.attempt, self.claim.failures, unit) {
            Verdict::Retry { after, is_failure } => {
                self.report.retrying(error.kind(), after).await;
                CameTo::Retry { error, after, is_failure }
            }
            Verdict::Fail => CameTo::Ending(self.give_up(error, superseded).await),
        }
    }

    /// Gives the claim up. A sign of life would take it again.
    async fn try_again(&self, error: AttemptError, after: Duration, is_failure: bool) -> Ending {
        match self.worker.store.retry(&self.claim.fence, after, is_failure).await {
            Commit::Refused(Refusal::Superseded | Refusal::Closed) => Ending::Superseded,
            // Where this does not get through, the lease passes.
            Commit::Acknowledged | Commit::Refused(_) | Commit::Unknown => Ending::Retried { after, error },
        }
    }

    async fn give_up(&self, error: AttemptError, superseded: &Superseded) -> Ending {
        tracing::warn!(
            workflow_id = &*self.claim.fence.workflow_id,
            activation_id = &*self.claim.fence.activation_id,
            error = error.kind(),
            "a workflow fails with its last attempt"
        );
        let decision = match Decision::fail(error.kind(), &error.message()) {
            Ok(decision) => decision,
            // Its own kind and message always fit.
            Err(refused) => return Ending::Retried { after: self.worker.lease, error: AttemptError::Durable(refused) },
        };
        match self.settlement(superseded).settle(&decision).await {
            Settled::Decided => Ending::Decided { decision, error: Some(error) },
            Settled::Superseded => Ending::Superseded,
            Settled::Uncertain => Ending::Uncertain,
            Settled::Refused(_) => Ending::Retried { after: self.worker.lease, error },
        }
    }

    fn finish(&self, ending: Option<&Ending>) -> Finish {
        let (status, decision, error) = match ending {
            None => ("cancelled", None, None),
            Some(Ending::Decided { decision, error }) => {
                ("decided", Some(decision.name()), error.as_ref().map(AttemptError::kind))
            }
            Some(Ending::Retried { error, .. }) => ("failed", None, Some(error.kind())),
            Some(Ending::Superseded) => ("superseded", None, None),
            Some(Ending::Uncertain) => ("uncertain", None, None),
        };
        let duration = self.worker.env.now().saturating_sub(self.began);
        let [executed, replayed] =
            [&self.counts.executed, &self.counts.replayed].map(|count| count.load(Ordering::Relaxed));
        Finish { status, decision, error, executed, replayed, duration }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.report.dropped(self.finish(None));
        }
    }
}

/// Closes an attempt when it is dropped, and counts what it did.
struct Closing<'a> {
    attempt: &'a Arc<Attempt>,
    counts: &'a Counts,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.attempt.close();
        let (executed, replayed) = self.attempt.counts();
        self.counts.executed.fetch_add(executed, Ordering::Relaxed);
        self.counts.replayed.fetch_add(replayed, Ordering::Relaxed);
    }
}
