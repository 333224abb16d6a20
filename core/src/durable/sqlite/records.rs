//! The journals of activations.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};

use super::error::Place;
use super::fault::{Fault, Outcome};
use super::row::ActivationRow;
use super::seal::Seal;
use super::workflow::WorkflowRow;
use crate::durable::commit::Refusal;
use crate::durable::history::CommittedRecord;
use crate::durable::journal::{Journal, check_bounds};
use crate::durable::record::Record;

/// The journal of an activation, and the attempts that committed its records.
pub(super) struct Loaded {
    pub(super) journal: Journal,
    committed_by: Vec<u64>,
}

impl Loaded {
    pub(super) fn committed(&self) -> Vec<CommittedRecord> {
        let records = self.journal.records().iter().zip(&self.committed_by);
        records.map(|(record, attempt)| CommittedRecord { record: Arc::clone(record), attempt: *attempt }).collect()
    }
}

/// The journal of an activation, if it is exactly what was committed.
pub(super) fn load(connection: &Connection, workflow: &WorkflowRow, activation: &ActivationRow) -> Outcome<Loaded> {
    let (mut journal, mut chain) = (Journal::new(), Seal::chain(activation.workflow, activation.position));
    let mut committed_by = Vec::new();
    for (stored_position, key, attempt, text, seal) in stored(connection, activation)? {
        let position = journal.len();
        let damage = |problem| Fault::damage(record_place(workflow, activation, position, key.clone()), problem);
        if stored_position != position as i64 {
            return Err(damage("a record is missing before it"));
        }
        chain = chain.link(attempt, &text);
        if chain != seal {
            return Err(damage("its text or one before it was changed"));
        }
        if !(0..=activation.attempts).contains(&attempt) {
            return Err(damage("no attempt could have committed it"));
        }
        let record: Record = serde_json::from_str(&text).map_err(|_| damage("it does not read as a record"))?;
        if key.as_ref() != Some(record.key()) {
            return Err(damage("it stands under another key"));
        }
        journal.push(Arc::new(record)).map_err(|_| damage("no journal could have come to hold it"))?;
        committed_by.push(attempt.cast_unsigned());
    }
    check_head(workflow, activation, &journal, chain)?;
    Ok(Loaded { journal, committed_by })
}

/// Position, key, attempt, text and seal. The key may be what is damaged.
type Stored = (i64, Option<Arc<str>>, i64, String, Seal);

/// As many records as there are said to be, in order. It is not looked whether there are more, which would read on into what
/// belongs to others, and may be damaged there.
fn stored(connection: &Connection, activation: &ActivationRow) -> Outcome<Vec<Stored>> {
    let sql = "SELECT position, key, attempt, text, seal FROM records WHERE workflow = ? AND activation = ? LIMIT ?";
    let mut statement = connection.prepare_cached(sql)?;
    let place = (activation.workflow, activation.position, activation.records);
    let rows =
        statement.query_map(place, |row| Ok((row.get(0)?, row.get(1).ok(), row.get(2)?, row.get(3)?, row.get(4)?)))?;
    let mut stored = rows.collect::<Result<Vec<Stored>, _>>()?;
    stored.sort_by_key(|(position, ..)| *position);
    Ok(stored)
}

fn check_head(workflow: &WorkflowRow, activation: &ActivationRow, journal: &Journal, chain: Seal) -> Outcome<()> {
    let bytes: usize = journal.records().iter().map(|record| record.bytes()).sum();
    let counted = (journal.len() as i64, bytes as i64, chain);
    if counted == (activation.records, activation.records_bytes, activation.chain) {
        return Ok(());
    }
    let place = record_place(workflow, activation, journal.len(), None);
    Err(Fault::damage(place, "the journal ends elsewhere than it was committed"))
}

fn record_place(workflow: &WorkflowRow, activation: &ActivationRow, position: usize, key: Option<Arc<str>>) -> Place {
    let workflow_id = Arc::clone(&workflow.id);
    Place::Record { workflow_id, activation_id: activation.activation_id(), position, key }
}

/// Adds a record that an attempt commits to an open activation, unless it is there.
pub(super) fn append(
    connection: &Connection,
    workflow: &WorkflowRow,
    activation: &mut ActivationRow,
    attempt: i64,
    record: &Record,
) -> Outcome<()> {
    let as_size = |stored: i64| usize::try_from(stored).unwrap_or(usize::MAX);
    let bytes = (as_size(activation.records_bytes), record.bytes());
    if check_bounds(as_size(activation.records), bytes.0, bytes.1).is_err() {
        return again(connection, workflow, activation, record)?.ok_or_else(|| Refusal::OverBound.into());
    }
    // Its form is made of strings and of what was checked when it was made: writing it cannot fail.
    let text = serde_json::to_string(record).map_err(|_| Refusal::Rejected)?;
    let seal = activation.chain.link(attempt, &text);
    let sql = "INSERT INTO records (workflow, activation, key, position, attempt, text, seal) \
               VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let place = (activation.workflow, activation.position, &**record.key());
    let values = (place.0, place.1, place.2, activation.records, attempt, text, seal);
    if connection.prepare_cached(sql)?.execute(values)? == 0 {
        return again(connection, workflow, activation, record)?.ok_or_else(|| Refusal::Conflict.into());
    }
    activation.records += 1;
    activation.records_bytes += record.bytes() as i64;
    activation.chain = seal;
    activation.update_records(connection)
}

/// What to say of a record whose key is stored already; nothing, if it is not.
fn again(
    connection: &Connection,
    workflow: &WorkflowRow,
    activation: &ActivationRow,
    record: &Record,
) -> Outcome<Option<()>> {
    let sql = "SELECT text FROM records WHERE workflow = ? AND activation = ? AND key = ?";
    let place = (activation.workflow, activation.position, &**record.key());
    let stored = connection.prepare_cached(sql)?.query_row(place, |row| row.get::<_, String>(0)).optional()?;
    let Some(text) = stored else { return Ok(None) };
    if serde_json::from_str::<Record>(&text).is_ok_and(|stored| stored == *record) {
        return Ok(Some(()));
    }
    // Another record, unless it was changed since.
    load(connection, workflow, activation)?;
    Err(Refusal::Conflict.into())
}
