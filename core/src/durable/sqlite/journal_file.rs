//! A file as it is: read without changing it, also beside damage.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::connection::{check_content, check_log, connect};
use super::error::{Place, SqliteError};
use super::fault::{Fault, Outcome};
use super::held::HeldFile;
use super::report::Finding;
use super::row::ActivationRow;
use super::workflow::{self, WorkflowRow};
use super::{header, history, log_file};
use crate::durable::history::ActivationHistory;

/// What a file of journals holds at one moment. Nothing is written, other processes may use the file meanwhile, and what is
/// damaged hides nothing else. Each call blocks its thread while it reads.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::durable::sqlite::{JournalFile, SqliteStore};
/// use windtunnel_core::durable::{Checkpoint, JournalStore};
/// use windtunnel_core::env::Env;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("journals.db");
/// let store = SqliteStore::create_new(&path, Env::system()).await?;
/// store.start("order-7", "refund", Checkpoint::new("start", json!({"order": 7}))?).await?;
///
/// let file = JournalFile::open(&path)?;
/// assert_eq!((file.workflows(), file.findings()), (1, &[][..]));
/// let reading = file.workflow_at(1)?.expect("it is sound");
/// assert_eq!(&*reading.workflow_id, "order-7");
/// assert_eq!(reading.activations[0].as_ref().map(|activation| activation.attempts), Ok(0));
/// # Ok(())
/// # }
/// ```
pub struct JournalFile {
    path: PathBuf,
    connection: Connection,
    workflows: u64,
    findings: Vec<Finding>,
    /// Let go after the connection.
    _held: HeldFile,
}

/// What can be read of a workflow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkflowReading {
    /// Its identifier.
    pub workflow_id: Arc<str>,
    /// Its name.
    pub workflow: Arc<str>,
    /// Its activations in order, or what is wrong with one.
    pub activations: Vec<Result<ActivationHistory, Finding>>,
    /// What is wrong beside them.
    pub findings: Vec<Finding>,
}

impl WorkflowReading {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings().next().is_none()
    }

    /// All that is wrong.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let of_activations = self.activations.iter().filter_map(|activation| activation.as_ref().err());
        of_activations.chain(&self.findings)
    }
}

impl JournalFile {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// [`SqliteError`], if the file is absent, none of ours, of a newer version, or so damaged that nothing in it can be
    /// found.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        let path = path.as_ref().to_owned();
        let Some(held) = header::check(&path)? else { return Err(SqliteError::Absent { path }) };
        let had_log = match log_file::has_frames(&path) {
            Ok(had_log) => had_log,
            Err(source) => return Err(SqliteError::Io { path, source }),
        };
        let mut findings = Vec::new();
        match check_log(&path) {
            Err(SqliteError::LogDamaged { frame, .. }) => {
                let problem = "it is damaged, and committed transactions follow it that are lost";
                findings.push(Finding { place: Place::Frame { frame }, problem: problem.to_owned() });
            }
            sound_or_failed => sound_or_failed?,
        }
        let failed = |fault: Fault| fault.into_error(&path);
        // Only who may write can take away the empty log that reading makes; there is nothing to move from it to the file.
        let is_tidied = !had_log && !has_rollback_journal(&path);
        let flags = if is_tidied { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
        let connection = connect(&path, flags).map_err(failed)?;
        connection.execute_batch("PRAGMA query_only = ON").map_err(|error| failed(error.into()))?;
        check_content(&connection, &path)?;
        if is_tidied {
            let configured = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
            configured.map_err(|error| failed(error.into()))?;
        }
        // All that is read is of one moment: that of the first read.
        connection.execute_batch("BEGIN").map_err(|error| failed(error.into()))?;
        let workflows = count(&connection, &mut findings).map_err(failed)?;
        Ok(Self { path, connection, workflows, findings, _held: held })
    }

    /// How many workflows were started, as far as that can be told.
    pub fn workflows(&self) -> u64 {
        self.workflows
    }

    /// What is wrong with the file itself.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The identifiers in the order of the workflows' starts, or what is wrong with the row of one.
    ///
    /// # Errors
    /// [`SqliteError`], if the file cannot be read for another reason than damage.
    pub fn workflow_ids(&self) -> Result<Vec<Result<Arc<str>, Finding>>, SqliteError> {
        let numbers = 1..=self.workflows.cast_signed();
        let ids = numbers.map(|number| Ok(found(Place::Number { number }, self.row_at(number))?.map(|row| row.id)));
        ids.collect::<Outcome<_>>().map_err(|fault| fault.into_error(&self.path))
    }

    /// A workflow by the order of their starts, from 1; or why nothing can be said of it.
    ///
    /// # Errors
    /// [`SqliteError`], if the file cannot be read for another reason than damage.
    pub fn workflow_at(&self, number: u64) -> Result<Result<WorkflowReading, Finding>, SqliteError> {
        self.at(number.cast_signed()).map_err(|fault| fault.into_error(&self.path))
    }

    fn at(&self, number: i64) -> Outcome<Result<WorkflowReading, Finding>> {
        match found(Place::Number { number }, self.row_at(number))? {
            Ok(row) => self.reading(&row).map(Ok),
            Err(finding) => Ok(Err(finding)),
        }
    }

    pub(super) fn row_at(&self, number: i64) -> Outcome<WorkflowRow> {
        let missing = || Fault::damage(Place::Number { number }, "its row is missing");
        WorkflowRow::at(&self.connection, number)?.ok_or_else(missing)
    }

    pub(super) fn reading(&self, row: &WorkflowRow) -> Outcome<WorkflowReading> {
        let (connection, mut findings) = (&self.connection, Vec::new());
        let indexed = WorkflowRow::find(connection, &row.id).map(drop);
        findings.extend(found(row.place(), indexed)?.err());
        let last = match found(row.place(), ActivationRow::last_position(connection, row))? {
            Ok(last) => last,
            Err(finding) => {
                findings.push(finding);
                1
            }
        };
        let mut find = |place, problem: &str| findings.push(Finding { place, problem: problem.to_owned() });
        if last == 0 {
            find(row.place(), "it has no activation");
        }
        let mut activations = Vec::new();
        for position in 1..=last {
            let read = history::activation_at(connection, row, position);
            let activation = found(ActivationRow::place_at(row, position), read)?;
            let decision = activation.as_ref().ok().map(|activation| activation.decision.as_ref());
            let goes_on =
                decision.map(|decision| decision.is_some_and(|(decision, _)| decision.checkpoint().is_some()));
            let after = ActivationRow::place_at(row, position + 1);
            match (goes_on, position < last) {
                (Some(true), false) => find(after, "its row is missing"),
                (Some(false), true) => find(after, "nothing decided that there is such an activation"),
                _ => {}
            }
            activations.push(activation);
        }
        let (workflow_id, workflow) = (Arc::clone(&row.id), Arc::clone(&row.name));
        Ok(WorkflowReading { workflow_id, workflow, activations, findings })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether there is what SQLite would take back into the file. We make none; a file of another format may have had one.
fn has_rollback_journal(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    Path::new(&name).exists()
}

/// How many workflows there are, or the highest number of one where that is not known.
fn count(connection: &Connection, findings: &mut Vec<Finding>) -> Outcome<u64> {
    let count = found(Place::File, workflow::count(connection))?;
    let highest = "SELECT coalesce(max(number), 0) FROM workflows";
    let highest = connection.query_row(highest, [], |row| row.get::<_, i64>(0)).map_err(Fault::from);
    let highest = found(Place::File, highest)?;
    if let (Ok(count), Ok(highest)) = (&count, &highest)
        && count < highest
    {
        let problem = "it is not among those that were started".to_owned();
        findings.push(Finding { place: Place::Number { number: *highest }, problem });
    }
    let known = count.as_ref().or(highest.as_ref()).copied().unwrap_or_default();
    findings.extend([count.err(), highest.err()].into_iter().flatten());
    Ok(known.max(0).cast_unsigned())
}

/// Makes damage a finding; any other fault stays one.
pub(super) fn found<T>(place: Place, outcome: Outcome<T>) -> Outcome<Result<T, Finding>> {
    match outcome.map_err(|fault| fault.at(|| place)) {
        Ok(value) => Ok(Ok(value)),
        Err(Fault::Damage(place, problem)) => Ok(Err(Finding { place, problem: problem.into_owned() })),
        Err(fault) => Err(fault),
    }
}

impl Drop for JournalFile {
    fn drop(&mut self) {
        // A connection that still reads when it is closed leaves its empty log behind. There is nobody to tell a failure.
        let _ended = self.connection.execute_batch("ROLLBACK");
    }
}

impl fmt::Debug for JournalFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, workflows) = (&self.path, self.workflows);
        formatter.debug_struct("JournalFile").field("path", path).field("workflows", &workflows).finish_non_exhaustive()
    }
}
