//! Commits that wait at the same time share a transaction, and so one wait for the disk.
//!
//! Whoever comes first leads: it takes up what waits, again and again until nothing does. The others only wait.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, Transaction};

use super::fault::{Fault, Outcome};
use crate::env::BlockingError;

/// What a commit changes.
pub(super) type Change = Box<dyn FnOnce(&Connection, Duration) -> Outcome<()> + Send>;

/// The commits that wait. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Group {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    is_led: bool,
}

/// A commit that waits.
pub(super) struct Waiting {
    change: Change,
    answer: Answer,
}

/// Says what became of a commit; if it is dropped before, that it is lost.
struct Answer(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    outcome: Option<Outcome<()>>,
    waker: Option<Waker>,
}

/// Where a commit hears what became of it.
pub(super) struct Joined(Arc<Mutex<Slot>>);

/// The task of taking up what waits. Dropped before its end, it leaves nobody waiting.
pub(super) struct Lead {
    group: Group,
    is_over: bool,
}

impl Group {
    /// Adds a commit. Whoever is given the lead has to take it.
    pub(super) fn join(&self, change: Change) -> (Joined, Option<Lead>) {
        let slot = Arc::<Mutex<Slot>>::default();
        let waiting = Waiting { change, answer: Answer(Arc::clone(&slot)) };
        let mut state = self.state.lock();
        state.waiting.push(waiting);
        let is_led = std::mem::replace(&mut state.is_led, true);
        (Joined(slot), (!is_led).then(|| Lead { group: self.clone(), is_over: false }))
    }
}

impl Lead {
    /// What waits; nothing, if the lead is over.
    pub(super) fn take(&mut self) -> Option<Vec<Waiting>> {
        let mut state = self.group.state.lock();
        let waiting = std::mem::take(&mut state.waiting);
        state.is_led = !waiting.is_empty();
        self.is_over = !state.is_led;
        state.is_led.then_some(waiting)
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let waiting = {
            let mut state = self.group.state.lock();
            state.is_led = false;
            std::mem::take(&mut state.waiting)
        };
        drop(waiting);
    }
}

impl Joined {
    pub(super) async fn outcome(self) -> Outcome<()> {
        std::future::poll_fn(|context| {
            let mut slot = self.0.lock();
            match slot.outcome.take() {
                Some(outcome) => Poll::Ready(outcome),
                None => {
                    slot.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Waiting {
    /// Makes the change by `make`, which is all of its transaction.
    pub(super) fn make(self, make: impl FnOnce(Change) -> Outcome<()>) {
        self.answer.give(make(self.change));
    }
}

impl Answer {
    fn give(&self, outcome: Outcome<()>) {
        let waker = {
            let mut slot = self.0.lock();
            slot.outcome = Some(outcome);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // An answer that was given and not yet taken, or one that nobody can take any more, is the only other owner's.
        let is_open = Arc::strong_count(&self.0) > 1 && self.0.lock().outcome.is_none();
        if is_open {
            self.give(Err(Fault::Lost(BlockingError::Lost)));
        }
    }
}

/// Makes all changes in one transaction, each of them whole or not at all, and commits it.
///
/// Nobody is answered before: also a refusal may be by what another one of the group has changed.
pub(super) fn commit(begun: Outcome<Transaction<'_>>, group: Vec<Waiting>, now: impl FnOnce() -> Duration) {
    let transaction = match begun {
        Ok(transaction) => transaction,
        // Each of them would wait as long for the same.
        Err(Fault::Sqlite(error)) => return fail(group.into_iter().map(|waiting| waiting.answer), error),
        Err(Fault::Damage(place, problem)) => {
            let answers = group.into_iter().map(|waiting| waiting.answer);
            return answers.for_each(|answer| answer.give(Err(Fault::Damage(place.clone(), problem.clone()))));
        }
        // Then each hears that it is lost.
        Err(_) => return,
    };
    let now = now();
    let mut answers = Vec::with_capacity(group.len());
    for Waiting { change, answer } in group {
        let outcome = alone(&transaction, change, now);
        answers.push((answer, outcome));
    }
    // SQLite gives up the whole transaction where it cannot go on, as on a full disk: then this fails.
    match transaction.commit() {
        Ok(()) => answers.into_iter().for_each(|(answer, outcome)| answer.give(outcome)),
        Err(error) => fail(answers.into_iter().map(|(answer, _)| answer), error),
    }
}

fn fail(answers: impl Iterator<Item = Answer>, error: rusqlite::Error) {
    let error = Arc::new(error);
    answers.for_each(|answer| answer.give(Err(Fault::Unsure(Arc::clone(&error)))));
}

/// A change that is taken back if it fails.
fn alone(transaction: &Transaction<'_>, change: Change, now: Duration) -> Outcome<()> {
    transaction.prepare_cached("SAVEPOINT change")?.execute([])?;
    let made = change(transaction, now);
    if made.is_err() {
        transaction.prepare_cached("ROLLBACK TO change")?.execute([])?;
    }
    transaction.prepare_cached("RELEASE change")?.execute([])?;
    made
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn change() -> Change {
        Box::new(|_, _| Ok(()))
    }

    fn is_lost(joined: Joined) -> bool {
        matches!(joined.outcome().now_or_never(), Some(Err(Fault::Lost(_))))
    }

    #[test]
    fn one_leads_until_nobody_waits_and_then_another_one_does() {
        let group = Group::default();
        let (first, Some(mut lead)) = group.join(change()) else { panic!("nobody leads") };
        let (second, None) = group.join(change()) else { panic!("two lead") };
        let waiting = lead.take().unwrap();
        assert_eq!(waiting.len(), 2);
        let (third, None) = group.join(change()) else { panic!("two lead") };
        waiting.into_iter().for_each(|waiting| waiting.make(|_| Ok(())));
        lead.take().unwrap().into_iter().for_each(|waiting| waiting.make(|_| Ok(())));
        assert!(lead.take().is_none());
        let (fourth, next) = group.join(change());
        assert!(next.is_some());
        drop(lead);
        for made in [first, second, third] {
            assert!(matches!(made.outcome().now_or_never(), Some(Ok(()))));
        }
        assert!(fourth.outcome().now_or_never().is_none(), "a lead that is over takes nothing from the next one");
    }

    #[test]
    fn nobody_waits_for_a_lead_that_is_lost() {
        let group = Group::default();
        let (first, lead) = group.join(change());
        let (second, _) = group.join(change());
        drop(lead);
        assert!(is_lost(first) && is_lost(second));
        let (third, Some(mut lead)) = group.join(change()) else { panic!("nobody leads again") };
        // As by a panic in one of them.
        drop(lead.take());
        assert!(is_lost(third));
    }
}
