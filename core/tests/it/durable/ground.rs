//! Stores of every kind, on a clock that moves when it is told.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{Binding, Checkpoint, JournalStore, MemoryStore, OperationKind, Record};
use windtunnel_core::env::{Blocking, Clock, CountingIds, Env};

/// It stands where it was set to.
#[derive(Clone, Default)]
pub(crate) struct HandClock(Arc<Mutex<Duration>>);

impl HandClock {
    pub(crate) fn set(&self, now: Duration) {
        *self.0.lock() = now;
    }

    /// An environment on it, which does blocking work at once.
    pub(crate) fn env(&self) -> Env {
        Env::from_parts(self.clone(), || 0.0, CountingIds::default(), AtOnce)
    }
}

impl Clock for HandClock {
    fn now(&self) -> Duration {
        *self.0.lock()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.now()
    }

    /// Stores do not wait.
    fn until(&self, _deadline: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

struct AtOnce;

impl Blocking for AtOnce {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        Box::pin(async move { work() })
    }
}

/// One place where workflows are stored.
pub(crate) struct Ground {
    pub(crate) clock: HandClock,
    kind: Kind,
}

enum Kind {
    Memory(MemoryStore),
    #[cfg(feature = "sqlite")]
    File(tempfile::TempDir),
}

impl Ground {
    pub(crate) fn memory() -> Self {
        let clock = HandClock::default();
        Self { kind: Kind::Memory(MemoryStore::new(clock.env())), clock }
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn file() -> Self {
        Self { kind: Kind::File(tempfile::tempdir().unwrap()), clock: HandClock::default() }
    }

    /// The store. What is in a file is opened anew each time.
    pub(crate) async fn store(&self) -> Arc<dyn JournalStore> {
        match &self.kind {
            Kind::Memory(store) => Arc::new(store.clone()),
            #[cfg(feature = "sqlite")]
            Kind::File(folder) => {
                use windtunnel_core::durable::sqlite::SqliteStore;
                let path = folder.path().join("journals.db");
                Arc::new(SqliteStore::open(path, self.clock.env()).await.unwrap())
            }
        }
    }

    /// The store, with a workflow `w`.
    pub(crate) async fn begun(&self) -> Arc<dyn JournalStore> {
        let store = self.store().await;
        store.start("w", "test", checkpoint(1)).await.unwrap();
        store
    }
}

pub(crate) fn checkpoint(state: u64) -> Checkpoint {
    Checkpoint::new("start", json!(state)).unwrap()
}

pub(crate) fn record(key: &str, output: Value) -> Arc<Record> {
    let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", json!({})).unwrap();
    Arc::new(Record::new(binding, output).unwrap())
}
