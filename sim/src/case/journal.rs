//! Runs whose journal is kept in a file.

use std::path::Path;

use windtunnel_core::durable::sqlite::SqliteError;

use super::definition::Case;
use super::run::CaseRun;
use super::store::Keeping;

/// The journal of a run cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The case makes no durable operations.
    #[error("the case {case:?} has no journal: only cases of the kinds operations and agent keep one")]
    NoJournal {
        /// The case's id.
        case: String,
    },
    /// The file cannot be made.
    #[error(transparent)]
    File(#[from] SqliteError),
}

impl Case {
    /// Runs the case as [`Case::run`] does, event for event, and keeps its journal in a new file, which is there also if the
    /// case comes to no end.
    ///
    /// ```
    /// use windtunnel_core::durable::sqlite::JournalFile;
    /// use windtunnel_sim::case::{Case, Format};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("paid.db");
    /// let text = r#"{"model": {"turns": [{"calls": [{"name": "pay"}]}, {"says": "paid"}]}, "tools": [{"name": "pay"}]}"#;
    /// let case = &Case::parse("paid.json", Format::Json, text)?[0];
    /// let run = case.run_with_journal(7, &path)?;
    /// assert_eq!(run.digest(), case.run(7).digest());
    /// assert_eq!(JournalFile::open(&path)?.workflows(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`JournalError`], if the case has no journal, or the file exists or cannot be made: then nothing was run.
    pub fn run_with_journal(&self, seed: u64, path: impl AsRef<Path>) -> Result<CaseRun, JournalError> {
        let keeping = Keeping::InFile(path.as_ref().to_owned());
        if !self.kind.has_journal() {
            return Err(JournalError::NoJournal { case: self.id.clone() });
        }
        let mut run = self.kind.run(&self.trouble.setting(seed), &keeping);
        // What fails later is inside an error of the store.
        run.world.outcome = match run.world.outcome {
            Ok(Err(error)) => Ok(Err(match error.downcast::<SqliteError>() {
                Ok(unmade) => return Err(JournalError::File(*unmade)),
                Err(error) => error,
            })),
            outcome => outcome,
        };
        Ok(run)
    }
}
