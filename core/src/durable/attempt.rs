//! One attempt at work: what its context, its operations and the worker share.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::future::BoxFuture;
use futures_util::future::Shared;
use parking_lot::Mutex;
use serde_json::Value;

use super::activation::{Activation, OrderCheck, Step};
use super::binding::Binding;
use super::claim::{Claim, Fence, Wake};
use super::error::DurableError;
use super::journal::Journal;
use super::leg::{Leg, Outcome, WeakLeg};
use super::nesting::{Inside, enclosing};
use super::record::Record;
use super::report::Report;
use super::store::JournalStore;
use crate::env::Env;

/// What a callable comes to, before it is frozen.
pub(super) type Callable = BoxFuture<'static, Result<Value, DurableError>>;

pub(super) struct Attempt {
    pub(super) env: Env,
    pub(super) report: Report,
    pub(super) fence: Fence,
    pub(super) workflow: Arc<str>,
    pub(super) entry: Arc<str>,
    /// The entries that the workflow has.
    pub(super) entries: Vec<Arc<str>>,
    pub(super) wake: Wake,
    store: Arc<dyn JournalStore>,
    replays_always: bool,
    inner: Mutex<Inner>,
    /// Records are committed one after another.
    turn: futures_util::lock::Mutex<()>,
}

struct Inner {
    activation: Activation,
    legs: BTreeMap<Arc<str>, WeakLeg>,
    executed: usize,
    replayed: usize,
    /// A record was committed, and the attempt is to be run again.
    is_outdated: bool,
    waker: Option<Waker>,
    /// How often the entry has been polled to where it waits.
    turns: u64,
}

/// What an attempt is made of.
pub(super) struct AttemptParts<'a> {
    pub(super) env: &'a Env,
    pub(super) report: &'a Report,
    pub(super) store: &'a Arc<dyn JournalStore>,
    pub(super) entries: Vec<Arc<str>>,
    pub(super) order: OrderCheck,
    pub(super) replays_always: bool,
}

/// A request that has its answer or its execution.
pub(super) enum Answered {
    Replayed(Arc<Value>),
    Waiting(Shared<Leg>),
    /// The last one who waited for the same request is just going.
    Again(Callable),
}

impl Attempt {
    pub(super) fn new(parts: AttemptParts<'_>, claim: &Claim, journal: Journal) -> Self {
        Self {
            env: parts.env.clone(),
            report: parts.report.clone(),
            fence: claim.fence.clone(),
            workflow: Arc::clone(&claim.workflow),
            entry: Arc::clone(claim.checkpoint.entry()),
            entries: parts.entries,
            wake: claim.wake.clone(),
            store: Arc::clone(parts.store),
            replays_always: parts.replays_always,
            inner: Mutex::new(Inner {
                activation: Activation::new(journal, parts.order),
                legs: BTreeMap::new(),
                executed: 0,
                replayed: 0,
                is_outdated: false,
                waker: None,
                turns: 0,
            }),
            turn: futures_util::lock::Mutex::new(()),
        }
    }

    /// Whether an operation may be asked for here and now (D3, D7).
    pub(super) fn check_open(&self, key: &str) -> Result<(), DurableError> {
        if let Some(inside) = enclosing() {
            return Err(DurableError::NestedOperation { key: key.into(), inside });
        }
        self.inner.lock().activation.check_open()
    }

    /// Takes a request; the callable is begun only if its result is needed.
    pub(super) fn request(self: &Arc<Self>, binding: &Binding, callable: Callable) -> Result<Answered, DurableError> {
        let mut inner = self.inner.lock();
        match inner.activation.request(binding)? {
            Step::Replay(output) => {
                inner.replayed += 1;
                Ok(Answered::Replayed(output))
            }
            Step::Join => match inner.legs.get(binding.key()).and_then(WeakLeg::join) {
                Some(leg) => Ok(Answered::Waiting(leg)),
                None => Ok(Answered::Again(callable)),
            },
            Step::Execute => {
                let (shared, leg) = Leg::new(Box::pin(execute(Arc::clone(self), binding.clone(), callable)));
                inner.legs.insert(Arc::clone(binding.key()), leg);
                Ok(Answered::Waiting(shared))
            }
        }
    }

    /// What the journal has under this key.
    pub(super) fn recorded(&self, key: &str) -> Option<Arc<Value>> {
        self.inner.lock().activation.journal().get(key).map(|record| Arc::clone(record.output()))
    }

    /// Whether the attempt may come to a decision (D3).
    pub(super) fn decide(&self) -> Result<(), DurableError> {
        let inner = self.inner.lock();
        inner.activation.decide()?;
        if self.replays_always { inner.activation.check_all_requested(None) } else { Ok(()) }
    }

    /// Whether every commit so far was acknowledged (D3).
    pub(super) fn check_unpoisoned(&self) -> Result<(), DurableError> {
        self.inner.lock().activation.check_open()
    }

    /// The journal to run the attempt again with, if it is to be.
    pub(super) fn outdated(&self, context: &Context<'_>) -> Option<Journal> {
        let mut inner = self.inner.lock();
        if inner.is_outdated {
            return Some(inner.activation.journal().clone());
        }
        inner.turns += 1;
        inner.waker = Some(context.waker().clone());
        None
    }

    /// Waits until the entry has asked for all that it asks for at once, whichever of it is polled first.
    async fn turn_ends(&self) {
        let began = self.inner.lock().turns;
        poll_fn(|context| {
            let mut inner = self.inner.lock();
            if inner.turns > began {
                return Poll::Ready(());
            }
            // Whoever waits for the operation may be another task than the entry.
            context.waker().wake_by_ref();
            if let Some(waker) = inner.waker.take() {
                waker.wake();
            }
            Poll::Pending
        })
        .await;
    }

    /// How many callables ran, and how many requests were answered from the journal.
    pub(super) fn counts(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        (inner.executed, inner.replayed)
    }

    /// Ends the attempt: whatever runs is dropped now, and nothing begins.
    pub(super) fn close(&self) {
        let legs = {
            let mut inner = self.inner.lock();
            inner.activation.close();
            std::mem::take(&mut inner.legs)
        };
        for leg in legs.into_values() {
            leg.end();
        }
    }

    /// Counts a callable that begins now, if one may.
    fn begin(&self) -> Result<(), DurableError> {
        let mut inner = self.inner.lock();
        inner.activation.check_open()?;
        inner.executed += 1;
        Ok(())
    }

    fn committing(&self, record: &Record) -> Result<(), DurableError> {
        let activation = &mut self.inner.lock().activation;
        if self.replays_always && activation.is_alone(record.key()) {
            // Whoever replays otherwise asks for something new before it has asked for all that was recorded.
            activation.check_all_requested(Some(record.key()))?;
        }
        activation.committing(record)
    }

    fn become_outdated(&self) {
        let mut inner = self.inner.lock();
        inner.is_outdated = true;
        if let Some(waker) = inner.waker.take() {
            waker.wake();
        }
    }
}

/// Runs the callable, commits its result, and only then gives it out (D3).
async fn execute(attempt: Arc<Attempt>, binding: Binding, callable: Callable) -> Outcome {
    let key = binding.key();
    let mut flight = Flight { attempt: &attempt, key, stage: Stage::Running };
    attempt.report.operation_started(&binding).await;
    let began = attempt.env.now();
    // Another commit may have failed while that was said: then no callable begins any more (D3).
    let output = match attempt.begin() {
        Ok(()) => Inside::new(Arc::clone(key), callable).await,
        Err(error) => Err(error),
    };
    let record = output.and_then(|output| Record::new(binding.clone(), output)).map(Arc::new);
    let error = record.as_ref().err().map(DurableError::kind);
    attempt.report.operation_executed(key, error, attempt.env.now().saturating_sub(began)).await;
    let record = record?;
    if attempt.replays_always {
        attempt.turn_ends().await;
    }
    let turn = attempt.turn.lock().await;
    attempt.committing(&record)?;
    // From here on nobody can say whether it is stored, until the store does.
    flight.stage = Stage::Committing;
    attempt.report.operation_commit(&record).await;
    let commit = attempt.store.commit_record(&attempt.fence, Arc::clone(&record)).await;
    let status = commit.status();
    let committed = attempt.inner.lock().activation.committed(&record, commit);
    flight.stage = Stage::Done;
    if committed.is_ok() && attempt.replays_always {
        attempt.report.operation_committed(key, status).await;
        attempt.become_outdated();
        // With the turn in its hand: nothing more is committed.
        std::future::pending::<()>().await;
    }
    drop(turn);
    attempt.report.operation_committed(key, status).await;
    committed?;
    Ok(Arc::clone(record.output()))
}

/// An operation in flight. It is not any more when this is dropped, however that comes.
struct Flight<'a> {
    attempt: &'a Arc<Attempt>,
    key: &'a Arc<str>,
    stage: Stage,
}

enum Stage {
    Running,
    Committing,
    Done,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut inner = self.attempt.inner.lock();
        match self.stage {
            Stage::Running => inner.activation.abandoned(self.key),
            Stage::Committing => inner.activation.abandoned_commit(self.key),
            Stage::Done => {}
        }
        inner.legs.remove(self.key);
    }
}
