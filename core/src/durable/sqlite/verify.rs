//! A check of a whole file.

use std::path::Path;

use super::error::{Place, SqliteError};
use super::event::{self, EventRow};
use super::fault::{Fault, Outcome};
use super::journal_file::{JournalFile, found};
use super::report::{FileReport, Finding};
use super::workflow::WorkflowRow;

/// Checks a file of journals and changes nothing: SQLite's own structures, every digest and chain, the bounds (D4), and
/// that every activation but an open last one has its decision and begins as the one before it decided.
///
/// Other processes may use the file meanwhile: what is checked is its state at one moment. Blocks its thread for as long as
/// it takes to read the file. See [`SqliteStore`](super::SqliteStore) for an example.
///
/// # Errors
/// [`SqliteError`], if the file is absent, none of ours, of a newer version, or so damaged that nothing in it can be found.
pub fn verify(path: impl AsRef<Path>) -> Result<FileReport, SqliteError> {
    let file = JournalFile::open(path)?;
    let mut check = Check { file: &file, report: FileReport::default() };
    check.report.findings.extend_from_slice(file.findings());
    check.whole().map_err(|fault| fault.into_error(file.path()))?;
    Ok(check.report)
}

struct Check<'f> {
    file: &'f JournalFile,
    report: FileReport,
}

impl Check<'_> {
    fn find(&mut self, place: Place, problem: impl Into<String>) {
        self.report.findings.push(Finding { place, problem: problem.into() });
    }

    /// Takes note of damage; any other fault ends the check.
    fn note<T>(&mut self, place: Place, outcome: Outcome<T>) -> Outcome<Option<T>> {
        let found = found(place, outcome)?;
        Ok(found.map_err(|finding| self.report.findings.push(finding)).ok())
    }

    fn whole(&mut self) -> Outcome<()> {
        let structure = self.structure();
        self.note(Place::File, structure)?;
        for number in 1..=self.file.workflows().cast_signed() {
            let row = self.file.row_at(number);
            if let Some(row) = self.note(Place::Number { number }, row)? {
                let before = self.report.findings.len();
                self.workflow(&row)?;
                self.report.sound_workflows += u64::from(self.report.findings.len() == before);
            }
        }
        for (table, sound) in [
            ("activations", self.report.sound_activations),
            ("records", self.report.sound_records),
            ("events", self.report.sound_events),
        ] {
            let sql = format!("SELECT count(*) FROM {table}");
            let counted = self.file.connection().query_row(&sql, [], |row| row.get::<_, i64>(0));
            let counted = self.note(Place::File, counted.map_err(Fault::from))?;
            // Next to other damage, not all that is sound is counted so.
            if self.report.is_sound() && counted.is_some_and(|counted| counted.unsigned_abs() != sound) {
                self.find(Place::File, format!("there are {table} that belong to nothing"));
            }
        }
        Ok(())
    }

    /// What SQLite says of its own structures.
    fn structure(&mut self) -> Outcome<()> {
        let mut statement = self.file.connection().prepare("PRAGMA integrity_check")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let said: String = row.get(0)?;
            if said != "ok" {
                self.find(Place::File, said);
            }
        }
        Ok(())
    }

    fn workflow(&mut self, row: &WorkflowRow) -> Outcome<()> {
        let reading = self.file.reading(row)?;
        self.report.findings.extend(reading.findings().cloned());
        for activation in reading.activations.iter().flatten() {
            self.report.sound_activations += 1;
            self.report.sound_records += activation.records.len() as u64;
        }
        let keys = event::keys(self.file.connection(), row);
        for key in self.note(row.place(), keys)?.unwrap_or_default() {
            let place = Place::Event { workflow_id: row.id.clone(), key: key.clone() };
            let event = EventRow::find(self.file.connection(), row, &key);
            self.report.sound_events += u64::from(self.note(place, event)?.is_some());
        }
        Ok(())
    }
}
