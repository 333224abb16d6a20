//! The state of one running attempt of an activation (D2, D3): what it may still do. Knows no future and no store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::binding::Binding;
use super::commit::Commit;
use super::error::DurableError;
use super::journal::{Answer, Journal, check_same};
use super::record::Record;
use crate::canary::{Weakness, is_weakened};

/// Whether the order of operations is compared with that of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderCheck {
    /// An operation is found by its key, wherever it comes.
    #[default]
    None,
    /// The nth operation must be the nth record, and every record must be requested. For workflows that make their
    /// operations one after another: records of operations that run at the same time stand in the order of their commits.
    Strict,
}

/// One attempt: requests come in, and each is replayed, executed and committed, or refused.
#[derive(Debug)]
pub struct Activation {
    journal: Journal,
    order: OrderCheck,
    /// How many records there were when the attempt began.
    recorded: usize,
    /// The keys requested so far, and which records that were there at the beginning they are.
    requested: BTreeSet<Arc<str>>,
    replayed: BTreeSet<usize>,
    in_flight: BTreeMap<Arc<str>, Binding>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open,
    /// By the operation with this key.
    Poisoned(Arc<str>),
    Closed,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The journal has the result.
    Replay(Arc<Value>),
    /// The callable runs, and its result is committed.
    Execute,
    /// The same request is in flight: it shares that execution.
    Join,
}

impl Activation {
    /// An attempt that begins with these records.
    pub fn new(journal: Journal, order: OrderCheck) -> Self {
        Self {
            order,
            recorded: journal.len(),
            journal,
            requested: BTreeSet::new(),
            replayed: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            state: State::Open,
        }
    }

    /// The committed records.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Whether the attempt can go on (D3).
    ///
    /// # Errors
    /// [`DurableError::ActivationPoisoned`] or [`DurableError::ActivationClosed`].
    pub fn check_open(&self) -> Result<(), DurableError> {
        match &self.state {
            State::Open => Ok(()),
            State::Poisoned(by) => Err(DurableError::ActivationPoisoned { by: Arc::clone(by) }),
            State::Closed => Err(DurableError::ActivationClosed),
        }
    }

    /// Takes a request. After [`Step::Execute`] it is in flight until [`Activation::committed`] or
    /// [`Activation::abandoned`].
    ///
    /// # Errors
    /// The attempt cannot go on, the key is used for another request, the order is another one, or there is no room.
    pub fn request(&mut self, binding: &Binding) -> Result<Step, DurableError> {
        self.check_open()?;
        let answer = self.journal.answer(binding)?;
        let joined = match self.in_flight.get(binding.key()) {
            Some(flying) => check_same(flying, binding).map(|()| true)?,
            None => false,
        };
        if answer == Answer::Execute && !joined {
            self.journal.check_room(self.in_flight.len())?;
        }
        self.check_order(binding.key())?;
        self.requested.insert(Arc::clone(binding.key()));
        if let Some(place) = self.journal.place(binding.key()).filter(|place| *place < self.recorded) {
            self.replayed.insert(place);
        }
        Ok(match answer {
            Answer::Replay(output) => Step::Replay(output),
            Answer::Execute if joined => Step::Join,
            Answer::Execute => {
                self.in_flight.insert(Arc::clone(binding.key()), binding.clone());
                Step::Execute
            }
        })
    }

    /// Only the first request of a key has a place in the order.
    fn check_order(&self, key: &Arc<str>) -> Result<(), DurableError> {
        let place = self.requested.len();
        if self.order == OrderCheck::None || self.requested.contains(key) || place >= self.recorded {
            return Ok(());
        }
        let recorded = self.journal.records()[place].key();
        if recorded == key {
            return Ok(());
        }
        let (recorded, requested) = (Arc::clone(recorded), Some(Arc::clone(key)));
        Err(DurableError::OutOfOrder { position: place + 1, recorded, requested })
    }

    /// Before a result is committed: nothing is sent after a commit that was not acknowledged (D3), or over a bound (D4).
    ///
    /// # Errors
    /// The attempt cannot go on, or the journal has no room for the record. Then it is not in flight any more.
    pub fn committing(&mut self, record: &Record) -> Result<(), DurableError> {
        let allowed = self.check_open().and_then(|()| self.journal.admit(record));
        if allowed.is_err() {
            self.abandoned(record.key());
        }
        allowed
    }

    /// What the store said. Only an acknowledged result may be used; anything else poisons the attempt (D3).
    ///
    /// # Errors
    /// [`DurableError::CommitUnacknowledged`] for anything but an acknowledgment.
    pub fn committed(&mut self, record: &Arc<Record>, commit: Commit) -> Result<(), DurableError> {
        self.in_flight.remove(record.key());
        let is_presumed = is_weakened(Weakness::AcknowledgmentPresumed) && commit == Commit::Unknown;
        if commit == Commit::Acknowledged || is_presumed {
            return self.journal.push(Arc::clone(record));
        }
        let key = Arc::clone(record.key());
        self.poison(&key);
        Err(DurableError::CommitUnacknowledged { key, commit })
    }

    /// The operation ended without a commit: its callable failed, or nobody waits for it any more.
    pub fn abandoned(&mut self, key: &str) {
        self.in_flight.remove(key);
    }

    /// The operation was dropped while its commit was under way: it may be stored or not (D3).
    pub fn abandoned_commit(&mut self, key: &Arc<str>) {
        self.in_flight.remove(key);
        self.poison(key);
    }

    fn poison(&mut self, by: &Arc<str>) {
        if matches!(self.state, State::Open) {
            self.state = State::Poisoned(Arc::clone(by));
        }
    }

    /// Whether only this operation is in flight.
    pub(super) fn is_alone(&self, key: &str) -> bool {
        self.in_flight.keys().all(|flying| &**flying == key)
    }

    /// The first record from before this attempt that it has not requested.
    pub(super) fn check_all_requested(&self, instead: Option<&Arc<str>>) -> Result<(), DurableError> {
        let Some(place) = (0..self.recorded).find(|place| !self.replayed.contains(place)) else { return Ok(()) };
        let recorded = Arc::clone(self.journal.records()[place].key());
        Err(DurableError::OutOfOrder { position: place + 1, recorded, requested: instead.map(Arc::clone) })
    }

    /// Whether the attempt may come to a decision (D3).
    ///
    /// # Errors
    /// The attempt is poisoned or over or, where the order is checked, did not request all that was recorded.
    pub fn decide(&self) -> Result<(), DurableError> {
        self.check_open()?;
        if self.order == OrderCheck::Strict { self.check_all_requested(None) } else { Ok(()) }
    }

    /// Ends the attempt: nothing more is requested or committed.
    pub fn close(&mut self) {
        self.state = State::Closed;
        self.in_flight.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::binding::OperationKind;
    use super::super::commit::Refusal;
    use super::super::error::ErrorKind;
    use super::super::limits::RECORDS_MAX;
    use super::*;

    fn bind(key: &str, version: &str) -> Binding {
        Binding::new(key, OperationKind::Tool, "agent:call", version, json!({})).unwrap()
    }

    fn record(key: &str) -> Arc<Record> {
        Arc::new(Record::new(bind(key, "1"), json!(key)).unwrap())
    }

    fn activation(recorded: &[&str], order: OrderCheck) -> Activation {
        Activation::new(Journal::from_records(recorded.iter().map(|key| record(key))).unwrap(), order)
    }

    fn kind<T: std::fmt::Debug>(result: Result<T, DurableError>) -> ErrorKind {
        result.unwrap_err().kind()
    }

    #[test]
    fn the_same_request_shares_one_execution_until_it_ends() {
        let mut activation = activation(&[], OrderCheck::None);
        assert_eq!(activation.request(&bind("a", "1")), Ok(Step::Execute));
        assert_eq!(activation.request(&bind("a", "1")), Ok(Step::Join));
        assert_eq!(kind(activation.request(&bind("a", "2"))), ErrorKind::BindingMismatch);
        activation.abandoned("a");
        assert_eq!(activation.request(&bind("a", "2")), Ok(Step::Execute));
    }

    impl PartialEq for DurableError {
        fn eq(&self, other: &Self) -> bool {
            self.to_string() == other.to_string()
        }
    }

    #[test]
    fn an_acknowledged_result_is_replayed() {
        let mut activation = activation(&[], OrderCheck::None);
        assert_eq!(activation.request(&bind("a", "1")), Ok(Step::Execute));
        activation.committing(&record("a")).unwrap();
        activation.committed(&record("a"), Commit::Acknowledged).unwrap();
        assert_eq!(activation.request(&bind("a", "1")), Ok(Step::Replay(json!("a").into())));
        assert_eq!(activation.decide(), Ok(()));
    }

    #[test]
    fn a_commit_without_acknowledgment_poisons_all_that_follows() {
        for commit in [Commit::Unknown, Commit::Refused(Refusal::Rejected)] {
            let mut activation = activation(&["old"], OrderCheck::None);
            activation.request(&bind("a", "1")).unwrap();
            activation.request(&bind("b", "1")).unwrap();
            activation.committing(&record("a")).unwrap();
            let failed = activation.committed(&record("a"), commit);
            assert_eq!(kind(failed), ErrorKind::CommitUnacknowledged);
            assert_eq!(kind(activation.committing(&record("b"))), ErrorKind::ActivationPoisoned);
            assert_eq!(kind(activation.request(&bind("old", "1"))), ErrorKind::ActivationPoisoned);
            assert_eq!(kind(activation.decide()), ErrorKind::ActivationPoisoned);
            assert_eq!(activation.journal().len(), 1);
        }
    }

    #[test]
    fn a_commit_that_was_dropped_under_way_poisons_too() {
        let mut activation = activation(&[], OrderCheck::None);
        activation.request(&bind("a", "1")).unwrap();
        activation.committing(&record("a")).unwrap();
        activation.abandoned_commit(&"a".into());
        assert_eq!(kind(activation.decide()), ErrorKind::ActivationPoisoned);
    }

    #[test]
    fn operations_in_flight_take_up_room() {
        let mut activation = activation(&[], OrderCheck::None);
        for number in 0..RECORDS_MAX {
            assert_eq!(activation.request(&bind(&number.to_string(), "1")), Ok(Step::Execute));
        }
        assert_eq!(activation.request(&bind("0", "1")), Ok(Step::Join));
        assert_eq!(kind(activation.request(&bind("more", "1"))), ErrorKind::TooManyRecords);
    }

    #[test]
    fn a_strict_order_is_compared_by_place() {
        let mut strict = activation(&["a", "b"], OrderCheck::Strict);
        let error = strict.request(&bind("b", "1")).unwrap_err();
        assert!(
            error.to_string().starts_with(r#"operation 1 was recorded as "a", and now "b" is requested"#),
            "{error}"
        );
        assert!(strict.request(&bind("a", "1")).is_ok() && strict.request(&bind("a", "1")).is_ok());
        assert_eq!(kind(strict.request(&bind("new", "1"))), ErrorKind::OutOfOrder);
        assert_eq!(kind(strict.decide()), ErrorKind::OutOfOrder);
        strict.request(&bind("b", "1")).unwrap();
        assert_eq!(strict.request(&bind("new", "1")), Ok(Step::Execute));
        assert_eq!(strict.decide(), Ok(()));
        let mut by_key = activation(&["a", "b"], OrderCheck::None);
        assert!(by_key.request(&bind("b", "1")).is_ok() && by_key.decide().is_ok());
    }

    #[test]
    fn nothing_goes_on_after_the_end() {
        let mut activation = activation(&["a"], OrderCheck::None);
        activation.close();
        assert_eq!(kind(activation.request(&bind("a", "1"))), ErrorKind::ActivationClosed);
        assert_eq!(kind(activation.committing(&record("b"))), ErrorKind::ActivationClosed);
        assert_eq!(kind(activation.decide()), ErrorKind::ActivationClosed);
    }
}
