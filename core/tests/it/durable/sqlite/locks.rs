//! Who looks at a file takes nobody's locks away: not even those of their own process.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use windtunnel_core::durable::sqlite::{JournalFile, SqliteStore, verify};
use windtunnel_core::env::Env;

/// The bytes that SQLite locks for as long as a connection uses the file. Without that lock another program, if its SQLite is
/// an older one, deletes the write-ahead log when it closes the file, and what is committed afterwards with it.
const SHARED: &str = "1073741826 1073742335";

fn is_locked(path: &Path) -> bool {
    let (process, inode) = (std::process::id().to_string(), fs::metadata(path).unwrap().ino());
    let locks = fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|lock| {
        lock.ends_with(&format!(":{inode} {SHARED}")) && lock.split_whitespace().any(|word| word == process)
    })
}

#[tokio::test]
async fn a_store_keeps_its_lock_whoever_looks_at_the_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let other_name = folder.path().join("link");
    let store = SqliteStore::open(&path, Env::system()).await.unwrap();
    std::os::unix::fs::symlink(&path, &other_name).unwrap();
    assert!(is_locked(&path));
    drop(JournalFile::open(&path).unwrap());
    assert!(is_locked(&path), "after a reader");
    assert!(verify(&other_name).unwrap().is_sound());
    assert!(is_locked(&path), "after a check under another name");
    drop(SqliteStore::open(&path, Env::system()).await.unwrap());
    assert!(SqliteStore::create_new(&path, Env::system()).await.is_err());
    assert!(is_locked(&path), "after other stores");
    let second = SqliteStore::open(&path, Env::system()).await.unwrap();
    drop(store);
    assert!(is_locked(&path), "after the first store");
    drop(second);
    assert!(!is_locked(&path));
}
