//! Journals in a file, kept by SQLite: a store for one machine, whose processes may share the file.
//!
//! [`SqliteStore`] is the [`JournalStore`](super::JournalStore). [`verify`] looks for damage in a file without changing it,
//! and [`JournalFile`] reads what is in one, also beside damage.
//!
//! # What is stored, and how damage is found
//! SQLite checks the form of its pages and not their content, so every row carries a SHA-256 of itself. The records of an
//! activation form a chain: the digest of each is that of the digest before it, its attempt and its own text. The row of the activation
//! holds how many there are, how many bytes, and the head of the chain, beside the digests of its checkpoint and its
//! decision. So what is changed, missing, exchanged or cut off is found when it is read or claimed, and is a
//! [`SqliteError::Damaged`] that says where. A damaged activation holds up no other one: a claim passes over it.
//!
//! The write-ahead log beside the file has checksums of SQLite's own, but SQLite drops all that follows a bad one in
//! silence, as after a crash. [`SqliteStore::open`] reads the log first, and refuses it where a bad frame is followed by a
//! later transaction, since no crash leaves that behind.
//!
//! # What cannot be found
//! A last transaction of the log that rots looks like one that a crash cut off. A log that is deleted, or a file that is
//! replaced by an older copy of itself, is sound in itself. A row that stands between two pages is found through the page
//! before it, so the loss of a page can cost one workflow more than stand on it.

mod claim;
mod commit;
mod connection;
mod error;
mod event;
mod fault;
mod group;
mod header;
mod held;
mod history;
mod journal_file;
mod log;
mod log_file;
mod records;
mod report;
mod row;
mod schema;
mod seal;
mod store;
mod verify;
mod workflow;

pub use error::{Place, SqliteError};
pub use journal_file::{JournalFile, WorkflowReading};
pub use report::{FileReport, Finding};
pub use store::SqliteStore;
pub use verify::verify;
