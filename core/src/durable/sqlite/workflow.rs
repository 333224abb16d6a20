//! The rows of workflows, and how many there are.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::error::Place;
use super::fault::{Fault, Outcome};
use super::seal::Seal;

#[derive(Clone, Debug)]
pub(super) struct WorkflowRow {
    /// Counts the starts from 1.
    pub(super) number: i64,
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    /// How many rows of events it has.
    pub(super) events: i64,
}

const COLUMNS: &str = "number, id, name, events, seal";

impl WorkflowRow {
    pub(super) fn place(&self) -> Place {
        Place::Workflow { workflow_id: Arc::clone(&self.id) }
    }

    fn seal(&self) -> Seal {
        Seal::of("workflow").integer(self.number).text(&self.id).text(&self.name).integer(self.events).done()
    }

    fn read(row: &Row<'_>) -> Outcome<Self> {
        let number = row.get(0)?;
        let read = Self { number, id: row.get(1)?, name: row.get(2)?, events: row.get(3)? };
        if read.seal() != row.get(4)? {
            return Err(Fault::damage(Place::Number { number }, "the row of the workflow was changed"));
        }
        Ok(read)
    }

    /// By its identifier. Nothing only if there is none for certain: the index through which it is looked up may be damaged.
    pub(super) fn find(connection: &Connection, id: &str) -> Outcome<Option<Self>> {
        let found = Self::look_up(connection, id)?;
        if found.is_none() {
            check_absence(connection, id)?;
        }
        Ok(found)
    }

    /// As [`WorkflowRow::find`], for one that is to be inserted if there is none: only its neighbours in the index are
    /// checked, so that many can be started.
    pub(super) fn find_to_insert(connection: &Connection, id: &str) -> Outcome<Option<Self>> {
        let found = Self::look_up(connection, id)?;
        if found.is_none() {
            let before = "SELECT number FROM workflows WHERE id < ? ORDER BY id DESC LIMIT 1";
            let after = "SELECT number FROM workflows WHERE id > ? ORDER BY id LIMIT 1";
            let neighbour = |sql: &str| -> Outcome<Option<Self>> {
                let number = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
                number.map(|number| Self::at(connection, number)?.ok_or_else(index_damage)).transpose()
            };
            let is_before = neighbour(before)?.is_none_or(|row| *row.id < *id);
            let is_after = neighbour(after)?.is_none_or(|row| *row.id > *id);
            if !is_before || !is_after {
                return Err(index_damage());
            }
        }
        Ok(found)
    }

    fn look_up(connection: &Connection, id: &str) -> Outcome<Option<Self>> {
        let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM workflows WHERE id = ?"))?;
        let mut rows = statement.query([id])?;
        let found = rows.next()?.map(Self::read).transpose()?;
        if found.as_ref().is_some_and(|found| *found.id != *id) {
            return Err(index_damage());
        }
        Ok(found)
    }

    /// By its number.
    pub(super) fn at(connection: &Connection, number: i64) -> Outcome<Option<Self>> {
        let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM workflows WHERE number = ?"))?;
        let mut rows = statement.query([number])?;
        rows.next()?.map(Self::read).transpose()
    }

    /// Adds the next one.
    pub(super) fn insert(connection: &Connection, id: &str, name: &str) -> Outcome<Self> {
        let number = count(connection)? + 1;
        let row = Self { number, id: id.into(), name: name.into(), events: 0 };
        let sql = format!("INSERT INTO workflows ({COLUMNS}) VALUES (?, ?, ?, ?, ?)");
        connection.prepare_cached(&sql)?.execute((number, id, name, row.events, row.seal()))?;
        let sql = "UPDATE contents SET workflows = ?, seal = ? WHERE only = 1";
        connection.prepare_cached(sql)?.execute((number, contents_seal(number)))?;
        Ok(row)
    }

    /// Counts one more event.
    pub(super) fn add_event(&mut self, connection: &Connection) -> Outcome<()> {
        self.events += 1;
        let sql = "UPDATE workflows SET events = ?, seal = ? WHERE number = ?";
        connection.prepare_cached(sql)?.execute((self.events, self.seal(), self.number))?;
        Ok(())
    }
}

fn index_damage() -> Fault {
    Fault::damage(Place::File, "the index of the workflows' identifiers is not that of the workflows")
}

fn contents_seal(workflows: i64) -> Seal {
    Seal::of("contents").integer(workflows).done()
}

pub(super) fn insert_contents(connection: &Connection) -> Outcome<()> {
    let sql = "INSERT INTO contents (only, workflows, seal) VALUES (1, 0, ?)";
    connection.execute(sql, [contents_seal(0)])?;
    Ok(())
}

/// How many workflows were started.
pub(super) fn count(connection: &Connection) -> Outcome<i64> {
    let mut statement = connection.prepare_cached("SELECT workflows, seal FROM contents WHERE only = 1")?;
    let counted = statement.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Seal>(1)?))).optional()?;
    match counted {
        Some((workflows, seal)) if contents_seal(workflows) == seal => Ok(workflows),
        _ => Err(Fault::damage(Place::File, "the row that counts the workflows was changed")),
    }
}

/// Reads all rows: one that should have been found is damage.
fn check_absence(connection: &Connection, id: &str) -> Outcome<()> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM workflows ORDER BY number"))?;
    let mut rows = statement.query([])?;
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        seen += 1;
        let row = WorkflowRow::read(row)?;
        if *row.id == *id {
            return Err(index_damage());
        }
    }
    if seen != count(connection)? {
        return Err(Fault::damage(Place::File, "rows of workflows are missing"));
    }
    Ok(())
}

/// The identifiers of all that can be read, in the order of their starts, and the faults of the others.
pub(super) fn ids(connection: &Connection) -> Outcome<(Vec<Arc<str>>, Vec<Fault>)> {
    let (mut ids, mut faults) = (Vec::new(), Vec::new());
    for number in 1..=count(connection)? {
        match WorkflowRow::at(connection, number) {
            Ok(Some(row)) => ids.push(row.id),
            Ok(None) => faults.push(Fault::damage(Place::Number { number }, "the row of the workflow is missing")),
            Err(fault) if fault.is_damage() => faults.push(fault),
            Err(fault) => return Err(fault),
        }
    }
    Ok((ids, faults))
}
