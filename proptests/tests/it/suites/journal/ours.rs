//! Our own stores.

use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::io::DuplexStream;
use windtunnel_core::durable::remote::{RemoteStore, serve};
use windtunnel_core::durable::sqlite::{SqliteStore, verify};
use windtunnel_core::durable::{JournalStore, MemoryStore};
use windtunnel_core::env::Env;
use windtunnel_proptests::played::HandClock;
use windtunnel_proptests::suites::{JournalStoreSubject, Stalled, drive, journal_store_suite};

use crate::journals::store::folder;
use crate::suites::checked::settings;

/// The store in memory lives on when it is opened again.
pub(crate) struct Memory;

impl JournalStoreSubject for Memory {
    type Place = ();
    type Store = MemoryStore;

    fn place(&self) {}

    async fn open(&self, _: &(), before: Option<MemoryStore>, env: Env) -> MemoryStore {
        before.unwrap_or_else(|| MemoryStore::new(env))
    }
}

/// The file is closed and opened again, and sound whenever it is closed.
struct Sqlite;

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("journals.db")
}

impl JournalStoreSubject for Sqlite {
    type Place = TempDir;
    type Store = SqliteStore;

    fn place(&self) -> TempDir {
        folder()
    }

    async fn open(&self, folder: &TempDir, before: Option<SqliteStore>, env: Env) -> SqliteStore {
        let is_first = before.is_none();
        drop(before);
        if is_first {
            return SqliteStore::open(path(folder), env).await.unwrap();
        }
        assert!(verify(path(folder)).unwrap().is_sound(), "a file that is closed is sound");
        SqliteStore::open_existing(path(folder), env).await.unwrap()
    }
}

/// A store in memory behind streams, which are new ones whenever it is opened.
struct Remote;

#[derive(Default)]
struct FarEnd {
    store: Mutex<Option<MemoryStore>>,
    streams: Arc<Mutex<Vec<DuplexStream>>>,
}

impl JournalStoreSubject for Remote {
    type Place = FarEnd;
    type Store = RemoteStore;

    fn place(&self) -> FarEnd {
        FarEnd::default()
    }

    async fn open(&self, far: &FarEnd, before: Option<RemoteStore>, env: Env) -> RemoteStore {
        drop(before);
        far.store.lock().get_or_insert_with(|| MemoryStore::new(env.clone()));
        let streams = Arc::clone(&far.streams);
        RemoteStore::new(env, move || {
            let (near, far) = tokio::io::duplex(4096);
            streams.lock().push(far);
            async { io::Result::Ok(near) }
        })
    }

    /// Polls client and servers in turn.
    fn drive(&self, far: &FarEnd, mut future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
        let mut serving = FuturesUnordered::new();
        let both = poll_fn(move |context| {
            if Pin::new(&mut future).poll(context).is_ready() {
                return Poll::Ready(());
            }
            for stream in far.streams.lock().drain(..) {
                let store: Arc<dyn JournalStore> = Arc::new(far.store.lock().clone().unwrap());
                serving.push(serve(store, stream));
            }
            while let Poll::Ready(Some(served)) = serving.poll_next_unpin(context) {
                served.unwrap();
            }
            Poll::Pending
        });
        drive(&HandClock::new(), Box::pin(both))
    }
}

#[test]
fn the_store_in_memory_keeps_every_point() {
    journal_store_suite().run("in memory", &Memory, &settings(32)).assert_kept();
}

#[test]
fn the_store_in_a_file_keeps_every_point() {
    journal_store_suite().run("in a file", &Sqlite, &settings(8)).assert_kept();
}

#[test]
fn the_store_behind_a_stream_keeps_every_point() {
    journal_store_suite().run("behind a stream", &Remote, &settings(8)).assert_kept();
}
