//! The rows of activations: all of them that changes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Row};

use super::error::Place;
use super::fault::{Fault, Outcome};
use super::seal::{Seal, Sealing};
use super::workflow::WorkflowRow;
use crate::durable::claim::Wake;
use crate::durable::rules::{Begins, activation_id};

/// Why an activation begins, as far as the decision before it does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// By its time.
    ByTime,
    /// It waits for an event.
    NotYet,
    ByEvent,
    ByTimeout,
}

#[derive(Clone, Debug)]
pub(super) struct ActivationRow {
    pub(super) workflow: i64,
    /// Counts the activations of the workflow from 1.
    pub(super) position: i64,
    /// The workflow's.
    pub(super) name: Arc<str>,
    /// When it begins by itself. Times are nanoseconds since 1970.
    pub(super) due_ns: Option<i64>,
    pub(super) lease_until_ns: Option<i64>,
    pub(super) woken: Woken,
    /// Which event it waits for or waited for.
    pub(super) event_key: Option<Arc<str>>,
    pub(super) attempts: i64,
    pub(super) failures: i64,
    pub(super) records: i64,
    pub(super) records_bytes: i64,
    pub(super) chain: Seal,
    pub(super) checkpoint_seal: Seal,
    pub(super) decision_seal: Option<Seal>,
    pub(super) decided_by: Option<i64>,
    /// The last attempt that said that it failed; 0, if none did.
    pub(super) failed_by: i64,
}

const COLUMNS: &str = "workflow, position, name, due_ns, lease_until_ns, ready_ns, woken, event_key, attempts, failures, \
                       records, records_bytes, chain, checkpoint_seal, decision_seal, decided_by, failed_by, seal";

impl ActivationRow {
    /// A new one after the decision that `checkpoint_seal` is of.
    pub(super) fn new(workflow: &WorkflowRow, position: i64, begins: &Begins, checkpoint_seal: Seal) -> Self {
        let (woken, event_key) = match begins {
            Begins::At(_, Wake::Event { key, .. }) => (Woken::ByEvent, Some(Arc::clone(key))),
            Begins::At(_, Wake::Timeout { key }) => (Woken::ByTimeout, Some(Arc::clone(key))),
            Begins::At(..) => (Woken::ByTime, None),
            Begins::WithEvent { key, .. } => (Woken::NotYet, Some(Arc::clone(key))),
        };
        Self {
            workflow: workflow.number,
            position,
            name: Arc::clone(&workflow.name),
            due_ns: begins.due().map(nanoseconds),
            lease_until_ns: None,
            woken,
            event_key,
            attempts: 0,
            failures: 0,
            records: 0,
            records_bytes: 0,
            chain: Seal::chain(workflow.number, position),
            checkpoint_seal,
            decision_seal: None,
            decided_by: None,
            failed_by: 0,
        }
    }

    pub(super) fn activation_id(&self) -> Arc<str> {
        activation_id(usize::try_from(self.position).unwrap_or_default())
    }

    pub(super) fn is_open(&self) -> bool {
        self.decision_seal.is_none()
    }

    /// When it can be claimed.
    pub(super) fn ready_ns(&self) -> Option<i64> {
        let due_ns = self.due_ns.filter(|_| self.is_open())?;
        Some(self.lease_until_ns.map_or(due_ns, |lease_until_ns| lease_until_ns.max(due_ns)))
    }

    fn seal(&self) -> Seal {
        Seal::of("activation")
            .integer(self.workflow)
            .integer(self.position)
            .text(&self.name)
            .optional(self.due_ns, Sealing::integer)
            .optional(self.lease_until_ns, Sealing::integer)
            .integer(self.woken as i64)
            .optional(self.event_key.as_deref(), Sealing::text)
            .integer(self.attempts)
            .integer(self.failures)
            .integer(self.records)
            .integer(self.records_bytes)
            .seal(self.chain)
            .seal(self.checkpoint_seal)
            .optional(self.decision_seal, Sealing::seal)
            .optional(self.decided_by, Sealing::integer)
            .integer(self.failed_by)
            .done()
    }

    /// Reads a row. Nothing, if it was changed.
    fn read(row: &Row<'_>) -> Outcome<Option<Self>> {
        let woken = match row.get(6)? {
            0 => Woken::ByTime,
            1 => Woken::NotYet,
            2 => Woken::ByEvent,
            3 => Woken::ByTimeout,
            _ => return Ok(None),
        };
        let ready_ns: Option<i64> = row.get(5)?;
        let read = Self {
            workflow: row.get(0)?,
            position: row.get(1)?,
            name: row.get(2)?,
            due_ns: row.get(3)?,
            lease_until_ns: row.get(4)?,
            woken,
            event_key: row.get(7)?,
            attempts: row.get(8)?,
            failures: row.get(9)?,
            records: row.get(10)?,
            records_bytes: row.get(11)?,
            chain: row.get(12)?,
            checkpoint_seal: row.get(13)?,
            decision_seal: row.get(14)?,
            decided_by: row.get(15)?,
            failed_by: row.get(16)?,
        };
        let is_sound = read.seal() == row.get(17)? && read.ready_ns() == ready_ns;
        Ok(is_sound.then_some(read))
    }

    /// The activation at this position, if there is one.
    pub(super) fn at(connection: &Connection, workflow: &WorkflowRow, position: i64) -> Outcome<Option<Self>> {
        let sql = format!("SELECT {COLUMNS} FROM activations WHERE workflow = ? AND position = ?");
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((workflow.number, position))?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let read = Self::read(row)?.filter(|read| (read.workflow, read.position) == (workflow.number, position));
        match read {
            Some(read) if read.name == workflow.name => Ok(Some(read)),
            _ => Err(Self::damage(workflow, position, "its row was changed")),
        }
    }

    /// The last one of a workflow, which every workflow has.
    pub(super) fn last(connection: &Connection, workflow: &WorkflowRow) -> Outcome<Self> {
        let position = Self::last_position(connection, workflow)?;
        let last = Self::at(connection, workflow, position)?;
        last.ok_or_else(|| Self::damage(workflow, position, "its row is missing"))
    }

    /// 0, if the workflow has none.
    pub(super) fn last_position(connection: &Connection, workflow: &WorkflowRow) -> Outcome<i64> {
        let sql = "SELECT coalesce(max(position), 0) FROM activations WHERE workflow = ?";
        Ok(connection.prepare_cached(sql)?.query_row([workflow.number], |row| row.get(0))?)
    }

    pub(super) fn place_at(workflow: &WorkflowRow, position: i64) -> Place {
        let activation_id = activation_id(usize::try_from(position).unwrap_or_default());
        Place::Activation { workflow_id: Arc::clone(&workflow.id), activation_id }
    }

    pub(super) fn damage(workflow: &WorkflowRow, position: i64, problem: &'static str) -> Fault {
        Fault::damage(Self::place_at(workflow, position), problem)
    }

    pub(super) fn insert(&self, connection: &Connection) -> Outcome<()> {
        let sql = format!("INSERT INTO activations ({COLUMNS}) VALUES (?1{})", placeholders(2..=18));
        self.write(connection, &sql)
    }

    /// Writes all that can change.
    pub(super) fn update(&self, connection: &Connection) -> Outcome<()> {
        let sql = "UPDATE activations SET due_ns = ?4, lease_until_ns = ?5, ready_ns = ?6, woken = ?7, event_key = ?8, \
                   attempts = ?9, failures = ?10, records = ?11, records_bytes = ?12, chain = ?13, checkpoint_seal = ?14, \
                   decision_seal = ?15, decided_by = ?16, failed_by = ?17, seal = ?18 WHERE workflow = ?1 AND position = ?2 AND name = ?3";
        self.write(connection, sql)
    }

    fn write(&self, connection: &Connection, sql: &str) -> Outcome<()> {
        let written = connection.prepare_cached(sql)?.execute(rusqlite::params![
            self.workflow,
            self.position,
            self.name,
            self.due_ns,
            self.lease_until_ns,
            self.ready_ns(),
            self.woken as i64,
            self.event_key,
            self.attempts,
            self.failures,
            self.records,
            self.records_bytes,
            self.chain,
            self.checkpoint_seal,
            self.decision_seal,
            self.decided_by,
            self.failed_by,
            self.seal(),
        ])?;
        check_one(written)
    }

    /// Writes what one more record changes, which no index knows of.
    pub(super) fn update_records(&self, connection: &Connection) -> Outcome<()> {
        let sql = "UPDATE activations SET records = ?, records_bytes = ?, chain = ?, seal = ? \
                   WHERE workflow = ? AND position = ?";
        let values = (self.records, self.records_bytes, self.chain, self.seal(), self.workflow, self.position);
        check_one(connection.prepare_cached(sql)?.execute(values)?)
    }
}

fn check_one(written: usize) -> Outcome<()> {
    if written == 1 { Ok(()) } else { Err(Fault::damage(Place::File, "a row of an activation cannot be written")) }
}

fn placeholders(numbers: std::ops::RangeInclusive<usize>) -> String {
    numbers.map(|number| format!(", ?{number}")).collect()
}

/// As much as fits: until the year 2262.
pub(super) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

pub(super) fn duration(nanoseconds: i64) -> Duration {
    Duration::from_nanos(nanoseconds.try_into().unwrap_or_default())
}
