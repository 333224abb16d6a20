//! Which files are opened, and what a failure leaves.

use std::fs;
use std::path::Path;

use windtunnel_core::durable::JournalStore;
use windtunnel_core::durable::sqlite::{SqliteError, SqliteStore, verify};
use windtunnel_core::env::Env;

use crate::durable::ground::{HandClock, checkpoint};

async fn open(path: &Path) -> Result<SqliteStore, SqliteError> {
    SqliteStore::open(path, HandClock::default().env()).await
}

/// That it is refused, with these words and the file's name, and left as it is.
#[track_caller]
fn check_refused(path: &Path, opened: Result<SqliteStore, SqliteError>, before: &[u8], words: &str) {
    let message = opened.unwrap_err().to_string();
    assert!(message.contains(words) && message.contains(path.to_str().unwrap()), "{message}");
    assert_eq!(fs::read(path).unwrap(), before);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[tokio::test]
async fn what_is_not_ours_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (bytes, words) in
        [(&b""[..], "it is empty"), (b"notes", "no file of SQLite"), (&[7; 5000], "no file of SQLite")]
    {
        fs::write(&path, bytes).unwrap();
        check_refused(&path, open(&path).await, bytes, words);
    }
    fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE notes (text)").unwrap();
    other.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    check_refused(&path, open(&path).await, &bytes, "another application made it");
    assert!(matches!(verify(&path), Err(SqliteError::Foreign { .. })));
}

#[tokio::test]
async fn a_newer_format_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    drop(open(&path).await.unwrap());
    let raised = rusqlite::Connection::open(&path).unwrap();
    raised.execute_batch("PRAGMA user_version = 2").unwrap();
    raised.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    check_refused(&path, open(&path).await, &bytes, "has format 2, and this program knows formats up to 1");
    assert!(matches!(verify(&path), Err(SqliteError::Newer { version: 2, version_max: 1, .. })));
}

#[tokio::test]
async fn an_absent_file_is_made_only_by_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let absent = SqliteStore::open_existing(&path, Env::system()).await;
    assert!(matches!(absent, Err(SqliteError::Absent { .. })));
    assert!(matches!(verify(&path), Err(SqliteError::Absent { .. })));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    drop(open(&path).await.unwrap());
    assert!(SqliteStore::open_existing(&path, Env::system()).await.is_ok());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left of making it");
    assert!(matches!(open(&folder.path().join("no/file")).await, Err(SqliteError::Io { .. })));
}

#[tokio::test]
async fn a_new_file_takes_the_place_of_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let create = || SqliteStore::create_new(&path, Env::system());
    for bytes in [&b""[..], b"notes"] {
        fs::write(&path, bytes).unwrap();
        check_refused(&path, create().await, bytes, "exists; nothing was changed");
    }
    fs::remove_file(&path).unwrap();
    drop(create().await.unwrap());
    let bytes = fs::read(&path).unwrap();
    check_refused(&path, create().await, &bytes, "exists; nothing was changed");
    let second = folder.path().join("no/file");
    assert!(matches!(SqliteStore::create_new(second, Env::system()).await, Err(SqliteError::Io { .. })));
}

#[tokio::test]
async fn a_log_without_its_file_is_no_new_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let store = open(&path).await.unwrap();
    store.start("w", "test", checkpoint(1)).await.unwrap();
    let log = fs::read(folder.path().join("file-wal")).unwrap();
    drop(store);
    fs::remove_file(&path).unwrap();
    fs::write(folder.path().join("file-wal"), &log).unwrap();
    let refused = open(&path).await.unwrap_err().to_string();
    assert!(refused.contains("it is gone, and its write-ahead log is still there"), "{refused}");
    assert!(!path.exists() && fs::read(folder.path().join("file-wal")).unwrap() == log);
}
