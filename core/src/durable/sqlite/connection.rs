//! Opening a file, and one call on it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::claim::Spot;
use super::error::{Place, SqliteError};
use super::fault::{Fault, Outcome};
use super::group::{self, Group, Lead};
use super::held::HeldFile;
use super::{header, log_file, schema};
use crate::env::Env;

/// How long a call waits for another process that writes.
const BUSY: Duration = Duration::from_secs(10);

/// How many statements are kept prepared: more than there are.
const STATEMENTS_MAX: usize = 64;

/// How many names are tried for a file that is being made.
const NAMES_MAX: u64 = 64;

/// Whether a file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// It must be there.
    Existing,
    /// It is made if it is absent.
    Any,
    /// It must not be there.
    New,
}

/// An open file.
pub(super) struct Shelf {
    pub(super) path: PathBuf,
    env: Env,
    connection: Mutex<Connection>,
    pub(super) group: Group,
    /// The activations that were found damaged, which are not tried again.
    pub(super) damaged: Mutex<BTreeSet<Spot>>,
    /// Let go after the connection.
    held: HeldFile,
}

impl Shelf {
    /// Opens a file.
    pub(super) fn open(path: PathBuf, env: Env, opening: Opening) -> Result<Self, SqliteError> {
        if opening == Opening::New && path.symlink_metadata().is_ok() {
            return Err(SqliteError::Exists { path });
        }
        let mut held = header::check(&path)?;
        if held.is_none() && opening != Opening::Existing {
            let is_first = create(&path, env.random_u64("durable/sqlite"))?;
            if opening == Opening::New && !is_first {
                return Err(SqliteError::Exists { path });
            }
            held = header::check(&path)?;
        }
        let Some(held) = held else { return Err(SqliteError::Absent { path }) };
        check_log(&path)?;
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|fault| fault.into_error(&path))?;
        check_content(&connection, &path)?;
        let configured = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        configured.map_err(|error| Fault::from(error).into_error(&path))?;
        Ok(Self {
            path,
            env,
            connection: Mutex::new(connection),
            group: Group::default(),
            damaged: Mutex::default(),
            held,
        })
    }

    /// Runs one transaction that writes, all or nothing, at the time that it is given.
    pub(super) fn write<T>(&self, work: impl FnOnce(&Connection, Duration) -> Outcome<T>) -> Outcome<T> {
        self.run(TransactionBehavior::Immediate, work)
    }

    /// Runs one transaction that sees one state.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
        self.run(TransactionBehavior::Deferred, |connection, _| work(connection))
    }

    fn run<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection, Duration) -> Outcome<T>,
    ) -> Outcome<T> {
        let mut connection = self.connection.lock();
        self.run_on(&mut connection, behavior, work)
    }

    fn run_on<T>(
        &self,
        connection: &mut Connection,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection, Duration) -> Outcome<T>,
    ) -> Outcome<T> {
        let transaction = self.begin(connection, behavior)?;
        let value = work(&transaction, self.now())?;
        transaction.commit().map_err(|error| Fault::Unsure(error.into()))?;
        Ok(value)
    }

    fn begin<'c>(&self, connection: &'c mut Connection, behavior: TransactionBehavior) -> Outcome<Transaction<'c>> {
        if !connection.is_autocommit() {
            // A failure has left a transaction open that could not be taken back then.
            connection.execute_batch("ROLLBACK")?;
        }
        let transaction = connection.transaction_with_behavior(behavior)?;
        // What is written to a file without a name is lost with the last process that has it open.
        if !self.held.is_at(&self.path) {
            return Err(Fault::damage(
                Place::File,
                "it was deleted, or another file has its name now; open the store again",
            ));
        }
        Ok(transaction)
    }

    /// The time, read when nobody else can write any more, so that times follow the order of transactions.
    fn now(&self) -> Duration {
        self.env.wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }

    /// Makes all changes that wait, those that came meanwhile together, until none does.
    pub(super) fn lead(&self, mut lead: Lead) {
        let mut connection = self.connection.lock();
        while let Some(group) = lead.take() {
            if group.len() > 1 {
                group::commit(self.begin(&mut connection, TransactionBehavior::Immediate), group, || self.now());
            } else {
                for waiting in group {
                    waiting.make(|change| self.run_on(&mut connection, TransactionBehavior::Immediate, change));
                }
            }
            // Others want it too.
            MutexGuard::bump(&mut connection);
        }
    }
}

pub(super) fn check_log(path: &Path) -> Result<(), SqliteError> {
    match log_file::find_damage(path) {
        Ok(None) => Ok(()),
        Ok(Some(frame)) => Err(SqliteError::LogDamaged { path: path.to_owned(), frame }),
        Err(source) => Err(SqliteError::Io { path: log_file::log_path(path), source }),
    }
}

/// Opens a file whose header and log are sound.
pub(super) fn connect(path: &Path, flags: OpenFlags) -> Outcome<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // A file that is refused below is not changed by being closed either.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL")?;
    Ok(connection)
}

/// Whether the file is ours, as SQLite sees it: the log may hold a newer header.
pub(super) fn check_content(connection: &Connection, path: &Path) -> Result<(), SqliteError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let failed = |error: rusqlite::Error| Fault::from(error).into_error(path);
    if pragma("application_id").map_err(failed)? != schema::APPLICATION_ID {
        return Err(SqliteError::Foreign { path: path.to_owned(), problem: "another application made it" });
    }
    header::check_version(path, pragma("user_version").map_err(failed)?)?;
    schema::check(connection).map_err(|fault| fault.into_error(path))
}

/// Makes the file under another name, and gives it its own when it is whole: so nobody ever sees it half made, and of
/// several that make it at once one is first. Says whether this one was.
fn create(path: &Path, nonce: u64) -> Result<bool, SqliteError> {
    let io = |source| SqliteError::Io { path: path.to_owned(), source };
    let unfinished = reserve(path, nonce).map_err(io)?;
    let made = fill(&unfinished).map_err(|fault| fault.into_error(path)).and_then(|()| {
        let named = match fs::hard_link(&unfinished, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            named => named.map(|()| true),
        };
        named.and_then(|is_first| sync_folder(path).map(|()| is_first)).map_err(io)
    });
    // What is left of it does no harm.
    let _removed = fs::remove_file(&unfinished);
    made
}

/// A name that nobody else uses, with an empty file.
fn reserve(path: &Path, nonce: u64) -> io::Result<PathBuf> {
    let mut tried = 0;
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{:016x}.new", nonce.wrapping_add(tried)));
        match File::create_new(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < NAMES_MAX => tried += 1,
            made => return made.map(|_| name.into()),
        }
    }
}

fn fill(path: &Path) -> Outcome<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    schema::create(&connection)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| Fault::from(error))
}

/// A new name is durable when its folder is.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Other systems have no way to say so.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::ErrorCode;
    use serde_json::json;

    use super::super::{commit, history, workflow};
    use super::*;
    use crate::durable::checkpoint::Checkpoint;
    use crate::durable::commit::Commit;

    fn shelf(folder: &tempfile::TempDir) -> Shelf {
        Shelf::open(folder.path().join("journals.db"), Env::system(), Opening::Any).unwrap()
    }

    fn start(shelf: &Shelf, id: &str) -> Outcome<()> {
        let checkpoint = Checkpoint::new("start", json!("s".repeat(60_000))).unwrap();
        shelf.write(|connection, now| commit::start(connection, id, "test", &checkpoint, now)).map(drop)
    }

    #[track_caller]
    fn check_fails(outcome: Outcome<()>, code: ErrorCode) {
        let fault = outcome.unwrap_err();
        assert!(matches!(&fault, Fault::Sqlite(error) if error.sqlite_error_code() == Some(code)), "{fault:?}");
        // It is certainly not stored; but it may be tried again, which a refusal would forbid.
        assert_eq!(fault.into_commit(Path::new("journals.db")), Commit::Unknown);
    }

    #[test]
    fn a_full_disk_loses_nothing_and_is_over_when_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = shelf(&folder);
        start(&shelf, "w").unwrap();
        shelf.connection.lock().execute_batch("PRAGMA max_page_count = 1").unwrap();
        check_fails(start(&shelf, "v"), ErrorCode::DiskFull);
        assert!(shelf.read(|connection| history::workflow(connection, "w")).unwrap().is_some());
        shelf.connection.lock().execute_batch("PRAGMA max_page_count = 100000").unwrap();
        start(&shelf, "u").unwrap();
        let (ids, faults) = shelf.read(workflow::ids).unwrap();
        assert_eq!((ids, faults.len()), (vec!["w".into(), "u".into()], 0));
    }

    #[test]
    fn a_file_that_is_locked_for_too_long_can_be_used_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let (shelf, other) = (shelf(&folder), shelf(&folder));
        shelf.connection.lock().busy_timeout(Duration::ZERO).unwrap();
        other.connection.lock().execute_batch("BEGIN IMMEDIATE").unwrap();
        check_fails(start(&shelf, "w"), ErrorCode::DatabaseBusy);
        // What a failed call has left open is taken back by the next one.
        start(&other, "v").unwrap();
        start(&shelf, "w").unwrap();
    }
}
