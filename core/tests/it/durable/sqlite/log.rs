//! The write-ahead log: what a crash leaves is taken, and what rots is not passed over in silence.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use windtunnel_core::durable::sqlite::{Place, SqliteError, SqliteStore, verify};
use windtunnel_core::durable::{Claimed, Decision, JournalStore, WorkflowHistory};

use crate::durable::ground::{HandClock, checkpoint, record};

const HEADER_BYTES: usize = 32;
const FRAME_BYTES: usize = 24 + 4096;

/// A file with a log, as a crash leaves them, and what was in it after each transaction.
struct Crashed {
    file: Vec<u8>,
    log: Vec<u8>,
    /// How long the log was, and what there was then.
    states: Vec<(usize, Option<WorkflowHistory>)>,
}

fn log_path(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

async fn crashed(folder: &Path) -> Crashed {
    let path = folder.join("crashed.db");
    let store = SqliteStore::open(&path, HandClock::default().env()).await.unwrap();
    let mut states = vec![(0, None)];
    store.start("w", "test", checkpoint(1)).await.unwrap();
    note(&path, &store, &mut states).await;
    for round in 0..3_usize {
        let Claimed::Activation(claim) = store.claim(&["test".into()], Duration::from_secs(60)).await.unwrap() else {
            panic!("nothing is due")
        };
        note(&path, &store, &mut states).await;
        for number in 0..3 {
            let output = json!("y".repeat(100 + 4000 * (number % 2)));
            let _acknowledged = store.commit_record(&claim.fence, record(&number.to_string(), output)).await;
            note(&path, &store, &mut states).await;
        }
        let decision = Decision::continue_("start", json!("s".repeat(9000 * (round % 2)))).unwrap();
        let _acknowledged = store.commit_decision(&claim.fence, decision).await;
        note(&path, &store, &mut states).await;
    }
    let (file, log) = (fs::read(&path).unwrap(), fs::read(log_path(&path)).unwrap());
    Crashed { file, log, states }
}

async fn note(path: &Path, store: &SqliteStore, states: &mut Vec<(usize, Option<WorkflowHistory>)>) {
    let length = usize::try_from(fs::metadata(log_path(path)).unwrap().len()).unwrap();
    assert!(states.last().unwrap().0 < length, "each call is a transaction of its own");
    states.push((length, store.read("w").await.unwrap()));
}

impl Crashed {
    /// What was acknowledged when the log was so long.
    fn state(&self, length: usize) -> &Option<WorkflowHistory> {
        &self.states.iter().rev().find(|(then, _)| *then <= length).unwrap().1
    }

    async fn open(&self, path: &Path, log: &[u8]) -> Result<SqliteStore, SqliteError> {
        for leftover in ["db-shm", "db-wal"] {
            let _absent = fs::remove_file(path.with_extension(leftover));
        }
        fs::write(path, &self.file).unwrap();
        fs::write(log_path(path), log).unwrap();
        SqliteStore::open(path, HandClock::default().env()).await
    }
}

#[tokio::test]
async fn what_was_acknowledged_before_a_cut_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let crashed = crashed(folder.path()).await;
    let path = folder.path().join("cut.db");
    let frames = (crashed.log.len() - HEADER_BYTES) / FRAME_BYTES;
    assert!(frames > 30, "{frames}");
    let cuts = (0..=frames).flat_map(|frame| [0, 17, 24, 2000].map(|more| HEADER_BYTES + frame * FRAME_BYTES + more));
    for cut in cuts.chain([0, 5]).filter(|cut| *cut <= crashed.log.len()) {
        let store = crashed.open(&path, &crashed.log[..cut]).await.unwrap();
        assert_eq!(store.read("w").await.unwrap(), *crashed.state(cut), "cut at {cut}");
    }
}

#[tokio::test]
async fn a_rotten_frame_before_the_last_transaction_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let crashed = crashed(folder.path()).await;
    let path = folder.path().join("rotten.db");
    let [.., (before_last, state), _] = &crashed.states[..] else { panic!("too few transactions") };
    for (number, at) in (HEADER_BYTES..crashed.log.len()).step_by(FRAME_BYTES).enumerate() {
        for offset in [0, 1, 3, 4, 7, 8, 12, 16, 20, 23, 24, 25 + 61 * number] {
            let mut log = crashed.log.clone();
            log[at + offset % FRAME_BYTES] ^= 0x04;
            let opened = crashed.open(&path, &log).await;
            if at < *before_last {
                let error = opened.unwrap_err();
                let SqliteError::LogDamaged { frame, .. } = error else { panic!("{error}") };
                assert_eq!(frame, number as u64 + 1, "byte {offset}");
                assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
                assert!(fs::read(&path).unwrap() == crashed.file && fs::read(log_path(&path)).unwrap() == log);
            } else {
                // It looks as if it was cut off by a crash.
                assert_eq!(opened.unwrap().read("w").await.unwrap(), *state);
            }
        }
    }
}

#[tokio::test]
async fn a_check_tells_of_the_log_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let crashed = crashed(folder.path()).await;
    let path = folder.path().join("rotten.db");
    let mut log = crashed.log.clone();
    log[HEADER_BYTES + 2 * FRAME_BYTES + 100] ^= 1;
    assert!(crashed.open(&path, &log).await.is_err());
    let report = verify(&path).unwrap();
    assert_eq!(report.findings[0].place, Place::Frame { frame: 3 });
    assert!(fs::read(&path).unwrap() == crashed.file && fs::read(log_path(&path)).unwrap() == log);
    drop(crashed.open(&path, &crashed.log).await.unwrap());
    assert!(verify(&path).unwrap().is_sound());
}

#[tokio::test]
async fn a_log_that_begins_anew_over_an_older_one_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.db");
    let store = SqliteStore::open(&path, HandClock::default().env()).await.unwrap();
    for number in 0..8 {
        store.start(&format!("w{number}"), "test", checkpoint(1)).await.unwrap();
    }
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update_and_check(None, "wal_checkpoint", "RESTART", |_| Ok(())).unwrap();
    let length = fs::metadata(log_path(&path)).unwrap().len();
    store.start("next", "test", checkpoint(1)).await.unwrap();
    assert_eq!(fs::metadata(log_path(&path)).unwrap().len(), length, "it is written from its beginning");
    let second = SqliteStore::open(&path, HandClock::default().env()).await.unwrap();
    assert_eq!(second.workflow_ids().await.unwrap().len(), 9);
    assert!(verify(&path).unwrap().is_sound());
}
