//! A check of a whole file.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::connection::{check_content, check_log, connect};
use super::error::{Place, SqliteError};
use super::event::{self, EventRow};
use super::fault::{Fault, Outcome};
use super::report::{FileReport, Finding};
use super::row::ActivationRow;
use super::workflow::{self, WorkflowRow};
use super::{header, history, log_file};

/// Checks a file of journals and changes nothing: SQLite's own structures, every digest and chain, the bounds (D4), and
/// that every activation but an open last one has its decision and begins as the one before it decided.
///
/// Other processes may use the file meanwhile: what is checked is its state at one moment. Blocks its thread for as long as
/// it takes to read the file. See [`SqliteStore`](super::SqliteStore) for an example.
///
/// # Errors
/// [`SqliteError`], if the file is absent, none of ours, of a newer version, or so damaged that nothing in it can be found.
pub fn verify(path: impl AsRef<Path>) -> Result<FileReport, SqliteError> {
    let path = path.as_ref();
    if !header::check(path)? {
        return Err(SqliteError::Absent { path: path.to_owned() });
    }
    let io = |source| SqliteError::Io { path: path.to_owned(), source };
    let had_log = log_file::has_frames(path).map_err(io)?;
    let mut check = Check { report: FileReport::default() };
    match check_log(path) {
        Err(SqliteError::LogDamaged { frame, .. }) => {
            check.find(Place::Frame { frame }, "it is damaged, and committed transactions follow it that are lost");
        }
        sound_or_failed => sound_or_failed?,
    }
    let failed = |fault: Fault| fault.into_error(path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    check_content(&connection, path)?;
    if !had_log {
        // Takes away the empty log that reading makes; there is nothing to move from it to the file.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
            .map_err(|error| failed(error.into()))?;
    }
    check.file(&connection).map_err(failed)?;
    Ok(check.report)
}

struct Check {
    report: FileReport,
}

impl Check {
    fn find(&mut self, place: Place, problem: impl Into<String>) {
        self.report.findings.push(Finding { place, problem: problem.into() });
    }

    /// Takes note of damage; any other fault ends the check.
    fn note<T>(&mut self, place: Place, outcome: Outcome<T>) -> Outcome<Option<T>> {
        match outcome.map_err(|fault| fault.at(|| place)) {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Damage(place, problem)) => {
                self.find(place, problem);
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    fn file(&mut self, connection: &Connection) -> Outcome<()> {
        let transaction = connection.unchecked_transaction()?;
        let structure = self.structure(connection);
        self.note(Place::File, structure)?;
        let count = self.note(Place::File, workflow::count(connection))?;
        let highest = "SELECT coalesce(max(number), 0) FROM workflows";
        let highest = connection.query_row(highest, [], |row| row.get::<_, i64>(0)).map_err(Fault::from);
        let highest = self.note(Place::File, highest)?.unwrap_or_default();
        for number in 1..=count.unwrap_or(highest) {
            let missing = || Fault::damage(Place::Number { number }, "its row is missing");
            let row = WorkflowRow::at(connection, number).and_then(|row| row.ok_or_else(missing));
            if let Some(row) = self.note(Place::Number { number }, row)? {
                let before = self.report.findings.len();
                self.workflow(connection, &row)?;
                self.report.sound_workflows += u64::from(self.report.findings.len() == before);
            }
        }
        if count.is_some_and(|count| count < highest) {
            self.find(Place::Number { number: highest }, "it is not among those that were started");
        }
        for (table, sound) in [
            ("activations", self.report.sound_activations),
            ("records", self.report.sound_records),
            ("events", self.report.sound_events),
        ] {
            let counted =
                connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
            let counted = self.note(Place::File, counted.map_err(Fault::from))?;
            // Next to other damage, not all that is sound is counted so.
            if self.report.is_sound() && counted.is_some_and(|counted| counted.unsigned_abs() != sound) {
                self.find(Place::File, format!("there are {table} that belong to nothing"));
            }
        }
        Ok(transaction.finish()?)
    }

    /// What SQLite says of its own structures.
    fn structure(&mut self, connection: &Connection) -> Outcome<()> {
        let mut statement = connection.prepare("PRAGMA integrity_check")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let said: String = row.get(0)?;
            if said != "ok" {
                self.find(Place::File, said);
            }
        }
        Ok(())
    }

    fn workflow(&mut self, connection: &Connection, row: &WorkflowRow) -> Outcome<()> {
        let found = WorkflowRow::find(connection, &row.id).map(drop);
        self.note(row.place(), found)?;
        let last = ActivationRow::last_position(connection, row);
        let last = self.note(row.place(), last)?.unwrap_or_default();
        if last == 0 {
            self.find(row.place(), "it has no activation");
        }
        for position in 1..=last {
            let activation = history::activation_at(connection, row, position);
            let Some(activation) = self.note(ActivationRow::place_at(row, position), activation)? else { continue };
            let goes_on = activation.decision.as_ref().is_some_and(|(decision, _)| decision.checkpoint().is_some());
            match (goes_on, position < last) {
                (true, false) => self.find(ActivationRow::place_at(row, position + 1), "its row is missing"),
                (false, true) => {
                    self.find(
                        ActivationRow::place_at(row, position + 1),
                        "nothing decided that there is such an activation",
                    );
                }
                _ => {
                    self.report.sound_activations += 1;
                    self.report.sound_records += activation.records.len() as u64;
                }
            }
        }
        let keys = event::keys(connection, row);
        for key in self.note(row.place(), keys)?.unwrap_or_default() {
            let place = Place::Event { workflow_id: row.id.clone(), key: key.clone() };
            let event = EventRow::find(connection, row, &key);
            self.report.sound_events += u64::from(self.note(place, event)?.is_some());
        }
        Ok(())
    }
}
