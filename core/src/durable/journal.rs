//! The records of one activation, and what a request means in their light (D2).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::binding::Binding;
use super::difference::BindingDifference;
use super::error::DurableError;
use super::limits::{JOURNAL_BYTES_MAX, RECORDS_MAX};
use super::record::Record;

/// The committed records of an activation, in the order of their commits. Never over a bound, and never trimmed (D4).
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::durable::{Answer, Binding, ErrorKind, Journal, OperationKind, Record};
///
/// let bind = |version| Binding::new("tool:turn:0", OperationKind::Tool, "agent:call", version, json!({}));
/// let mut journal = Journal::new();
/// assert_eq!(journal.answer(&bind("1")?)?, Answer::Execute);
/// journal.push(Record::new(bind("1")?, json!("done"))?.into())?;
/// assert_eq!(journal.answer(&bind("1")?)?, Answer::Replay(json!("done").into()));
/// let changed = journal.answer(&bind("2")?).unwrap_err();
/// assert_eq!(changed.kind(), ErrorKind::BindingMismatch);
/// # Ok::<(), windtunnel_core::durable::DurableError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Journal {
    records: Vec<Arc<Record>>,
    places: BTreeMap<Arc<str>, usize>,
    /// Of the records alone.
    bytes: usize,
}

/// What a request means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was made before, with this result.
    Replay(Arc<Value>),
    /// It is new: the callable runs.
    Execute,
}

impl Journal {
    /// A journal without records.
    pub fn new() -> Self {
        Self::default()
    }

    /// A journal of stored records, in order.
    ///
    /// # Errors
    /// [`DurableError::TooManyRecords`], [`DurableError::TooLarge`] or [`DurableError::JournalDamaged`] if no journal
    /// could have come to hold them.
    pub fn from_records(records: impl IntoIterator<Item = Arc<Record>>) -> Result<Self, DurableError> {
        let mut journal = Self::new();
        records.into_iter().try_for_each(|record| journal.push(record))?;
        Ok(journal)
    }

    /// What the request means: never anything but an error if the key was used for another one.
    ///
    /// # Errors
    /// [`DurableError::BindingMismatch`] with what differs first.
    pub fn answer(&self, binding: &Binding) -> Result<Answer, DurableError> {
        let Some(record) = self.get(binding.key()) else { return Ok(Answer::Execute) };
        check_same(record.binding(), binding)?;
        Ok(Answer::Replay(Arc::clone(record.output())))
    }

    /// Whether there is room for one more record beside those that are on their way, before its callable runs.
    ///
    /// # Errors
    /// [`DurableError::TooManyRecords`] if there is none.
    pub fn check_room(&self, on_their_way: usize) -> Result<(), DurableError> {
        if self.len() + on_their_way >= RECORDS_MAX {
            return Err(DurableError::TooManyRecords { records_max: RECORDS_MAX });
        }
        Ok(())
    }

    /// Whether the record may be committed.
    ///
    /// # Errors
    /// [`DurableError::TooManyRecords`] or [`DurableError::TooLarge`] if the journal would be over a bound with it,
    /// [`DurableError::JournalDamaged`] if it holds its key.
    pub fn admit(&self, record: &Record) -> Result<(), DurableError> {
        self.check_room(0)?;
        if self.places.contains_key(record.key()) {
            return Err(DurableError::JournalDamaged { key: Arc::clone(record.key()) });
        }
        check_bounds(self.len(), self.bytes, record.bytes())
    }

    /// Takes in a committed record.
    ///
    /// # Errors
    /// As for [`Journal::admit`].
    pub fn push(&mut self, record: Arc<Record>) -> Result<(), DurableError> {
        self.admit(&record)?;
        self.bytes += record.bytes();
        self.places.insert(Arc::clone(record.key()), self.records.len());
        self.records.push(record);
        Ok(())
    }

    /// The records, in the order of their commits.
    pub fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// The record with this key.
    pub fn get(&self, key: &str) -> Option<&Arc<Record>> {
        self.place(key).map(|place| &self.records[place])
    }

    pub(super) fn place(&self, key: &str) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// How many records it has.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it has no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// How many bytes it counts: the canonical encoding of the list of its records.
    pub fn bytes(&self) -> usize {
        list_bytes(self.bytes, self.len())
    }
}

/// Whether a journal of `count` records, which are so many `bytes` themselves, may take in another one of `more_bytes`.
pub(super) fn check_bounds(count: usize, bytes: usize, more_bytes: usize) -> Result<(), DurableError> {
    if count >= RECORDS_MAX {
        return Err(DurableError::TooManyRecords { records_max: RECORDS_MAX });
    }
    let bytes = list_bytes(bytes + more_bytes, count + 1);
    if bytes > JOURNAL_BYTES_MAX {
        let what = "the journal of the activation with this record";
        return Err(DurableError::TooLarge { what, bytes, bytes_max: JOURNAL_BYTES_MAX });
    }
    Ok(())
}

/// With the brackets, and the commas between.
fn list_bytes(bytes: usize, count: usize) -> usize {
    2 + bytes + count.saturating_sub(1)
}

/// Whether a key is used for one request only (D2).
pub(super) fn check_same(recorded: &Binding, requested: &Binding) -> Result<(), DurableError> {
    match BindingDifference::between(recorded, requested) {
        None => Ok(()),
        Some(difference) => Err(DurableError::BindingMismatch { key: Arc::clone(requested.key()), difference }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::binding::OperationKind;
    use super::*;
    use crate::json::canonical;

    fn record(key: &str, output: Value) -> Arc<Record> {
        let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", json!({}));
        Arc::new(Record::new(binding.unwrap(), output).unwrap())
    }

    #[test]
    fn its_size_is_that_of_the_list_of_its_records() {
        let mut journal = Journal::new();
        assert_eq!(journal.bytes(), 2);
        for (key, output) in [("a", json!(1)), ("b", json!("é")), ("c", json!([null]))] {
            journal.push(record(key, output)).unwrap();
            let list: Value = journal.records().iter().map(|record| record.to_json()).collect();
            assert_eq!(journal.bytes(), canonical(&list).len());
        }
    }

    #[test]
    fn the_record_past_the_last_one_is_refused() {
        let records = (0..RECORDS_MAX).map(|number| record(&number.to_string(), json!(number)));
        let mut journal = Journal::from_records(records).unwrap();
        assert!(journal.check_room(0).is_err());
        let refusal = journal.push(record("more", json!(0))).unwrap_err();
        assert!(matches!(refusal, DurableError::TooManyRecords { records_max: 128 }));
        assert_eq!(journal.len(), RECORDS_MAX);
    }

    #[test]
    fn room_is_kept_for_records_on_their_way() {
        let records = (0..RECORDS_MAX - 3).map(|number| record(&number.to_string(), json!(number)));
        let journal = Journal::from_records(records).unwrap();
        assert!(journal.check_room(2).is_ok() && journal.check_room(3).is_err());
    }

    #[test]
    fn the_journal_may_be_full_to_the_byte() {
        let overhead = record("a", json!("")).bytes();
        let text = |key: &str, bytes: usize| record(key, json!("y".repeat(bytes - overhead)));
        // Two records, two brackets and a comma.
        let (first, second) = (text("a", 128 * 1024), text("b", 128 * 1024 - 3));
        let mut journal = Journal::from_records([first]).unwrap();
        let refusal = journal.push(text("b", 128 * 1024 - 2)).unwrap_err();
        assert!(matches!(refusal, DurableError::TooLarge { bytes: 262_145, bytes_max: 262_144, .. }));
        journal.push(second).unwrap();
        assert_eq!(journal.bytes(), JOURNAL_BYTES_MAX);
    }

    #[test]
    fn two_records_with_one_key_are_damage() {
        let error = Journal::from_records([record("a", json!(1)), record("a", json!(1))]).unwrap_err();
        assert!(matches!(error, DurableError::JournalDamaged { .. }));
    }
}
