//! What an adapter says.

use futures_util::future::LocalBoxFuture;
use windtunnel_core::durable::JournalStore;
use windtunnel_core::env::Env;

use crate::played::HandClock;
use crate::suites::{Stalled, drive};

/// Stores of one type.
///
/// ```
/// use windtunnel_core::durable::MemoryStore;
/// use windtunnel_core::env::Env;
/// use windtunnel_proptests::suites::{JournalStoreSubject, Settings, journal_store_suite};
///
/// /// A store that has forgotten everything when it is opened again.
/// struct Forgetful;
///
/// impl JournalStoreSubject for Forgetful {
///     type Place = ();
///     type Store = MemoryStore;
///
///     fn place(&self) {}
///
///     async fn open(&self, _: &(), _before: Option<MemoryStore>, env: Env) -> MemoryStore {
///         MemoryStore::new(env)
///     }
/// }
///
/// let suite = journal_store_suite().only(&["fences", "reopening"]);
/// let report = suite.run("mine", &Forgetful, &Settings { cases: 16, seed: 0 });
/// assert_eq!(report.broken(), ["reopening"]);
/// ```
pub trait JournalStoreSubject: 'static {
    /// Where one store is kept, such as a folder that goes with it.
    type Place;

    /// The stores.
    type Store: JournalStore;

    /// A new place, where nothing is.
    fn place(&self) -> Self::Place;

    /// Opens the store at a place, which takes its time from `env`: that stands still while the store answers. `before`
    /// is the one that was opened there last, if there was one: a store on a disk drops it and opens its file again; a
    /// store in memory gives it back.
    fn open(&self, place: &Self::Place, before: Option<Self::Store>, env: Env) -> impl Future<Output = Self::Store>;

    /// Runs a future that uses the store at a place: on this thread, unless an adapter says otherwise.
    ///
    /// # Errors
    /// [`Stalled`], if it does not end.
    fn drive(&self, _place: &Self::Place, future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
        drive(&HandClock::new(), future)
    }
}
