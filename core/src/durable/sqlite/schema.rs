//! The tables, which are a contract with every other version of this toolkit: a change of them is a new version.

use rusqlite::Connection;

use super::error::Place;
use super::fault::{Fault, Outcome};

/// Says whose file it is: "Wnd1".
pub(super) const APPLICATION_ID: i64 = 0x576E_6431;

/// The format of the file. It is raised with every change that another version would not understand.
pub(super) const VERSION: i64 = 1;

/// Bytes of a page.
pub(super) const PAGE_BYTES: usize = 4096;

/// Every table and index with its definition, by name.
///
/// - `activations`: all that changes while one runs, sealed as a row. `ready_ns` is when it can be claimed, so that what is
///   decided, and what waits for an event without a timeout, costs a claim nothing.
/// - `contents`: how many workflows there are.
/// - `decisions`: at position n what activation n decided, and at 0 where the workflow was started: so activation n begins
///   with what stands at n − 1. Each is sealed in the row of its activation, the first in that of activation 1.
/// - `events`: what was delivered, and what is or was waited for.
/// - `records`: each with the attempt that committed it, sealed as a chain.
const TABLES: [(&str, &str); 7] = [
    (
        "activations",
        "CREATE TABLE activations (
            workflow INTEGER NOT NULL REFERENCES workflows (number),
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            due_ns INTEGER,
            lease_until_ns INTEGER,
            ready_ns INTEGER,
            woken INTEGER NOT NULL,
            event_key TEXT,
            attempts INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            records INTEGER NOT NULL,
            records_bytes INTEGER NOT NULL,
            chain BLOB NOT NULL,
            checkpoint_seal BLOB NOT NULL,
            decision_seal BLOB,
            decided_by INTEGER,
            failed_by INTEGER NOT NULL,
            seal BLOB NOT NULL,
            PRIMARY KEY (workflow, position)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "contents",
        "CREATE TABLE contents (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            workflows INTEGER NOT NULL,
            seal BLOB NOT NULL
        ) STRICT",
    ),
    (
        "decisions",
        "CREATE TABLE decisions (
            workflow INTEGER NOT NULL REFERENCES workflows (number),
            position INTEGER NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (workflow, position)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "events",
        "CREATE TABLE events (
            workflow INTEGER NOT NULL REFERENCES workflows (number),
            key TEXT NOT NULL,
            is_waited INTEGER NOT NULL,
            payload TEXT,
            seal BLOB NOT NULL,
            PRIMARY KEY (workflow, key)
        ) STRICT, WITHOUT ROWID",
    ),
    ("ready", "CREATE INDEX ready ON activations (name, ready_ns, workflow, position) WHERE ready_ns IS NOT NULL"),
    (
        "records",
        "CREATE TABLE records (
            workflow INTEGER NOT NULL,
            activation INTEGER NOT NULL,
            key TEXT NOT NULL,
            position INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            text TEXT NOT NULL,
            seal BLOB NOT NULL,
            PRIMARY KEY (workflow, activation, key),
            FOREIGN KEY (workflow, activation) REFERENCES activations (workflow, position)
        ) STRICT, WITHOUT ROWID",
    ),
    (
        "workflows",
        "CREATE TABLE workflows (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            events INTEGER NOT NULL,
            seal BLOB NOT NULL
        ) STRICT",
    ),
];

/// Makes the tables in an empty file.
pub(super) fn create(connection: &Connection) -> Outcome<()> {
    connection.execute_batch(&format!("PRAGMA page_size = {PAGE_BYTES}; BEGIN EXCLUSIVE"))?;
    for (_, definition) in TABLES {
        connection.execute_batch(definition)?;
    }
    super::workflow::insert_contents(connection)?;
    connection
        .execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; COMMIT"))?;
    Ok(())
}

/// Whether the tables are those of this version.
pub(super) fn check(connection: &Connection) -> Outcome<()> {
    let mut statement =
        connection.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut expected = TABLES.iter();
    let damage =
        || Fault::damage(Place::Page { page: 1 }, "the definitions of the tables are not those that were stored");
    while let Some(row) = rows.next()? {
        let (name, definition) = (row.get_ref(0)?.as_str(), row.get_ref(1)?.as_str());
        let (Ok(name), Ok(definition)) = (name, definition) else { return Err(damage()) };
        if expected.next() != Some(&(name, definition)) {
            return Err(damage());
        }
    }
    if expected.next().is_none() { Ok(()) } else { Err(damage()) }
}
