//! The suite for stores of journals.

mod at_once;
mod lost;
mod operations;
mod subject;
mod suite;
mod trial;

pub use at_once::AtOnceCase;
pub use lost::{LostCase, LostRequest};
pub use operations::StoreCase;
pub use subject::JournalStoreSubject;
pub use suite::journal_store_suite;
