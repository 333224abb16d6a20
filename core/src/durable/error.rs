//! How a durable operation, or the decision after it, fails (D4a).

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::commit::Commit;
use super::difference::BindingDifference;
use super::frozen::JsonFlaw;
use super::text::NameFlaw;
use crate::BoxError;

/// The kinds of error (D4a), and those that the list there has no name for: `invalid-callable`, `nested-operation` (D7),
/// `out-of-order`, `activation-closed`, `unknown-entry` and `journal-damaged`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The key belongs to a request that was another one.
    BindingMismatch,
    /// A key, an entry or an identifier cannot be stored.
    InvalidKey,
    /// A version cannot be stored.
    InvalidVersion,
    /// A callable's name cannot be stored.
    InvalidCallable,
    /// A value cannot be stored, or does not read back.
    InvalidJson,
    /// Something is over a bound.
    TooLarge,
    /// The activation has as many records as it may.
    TooManyRecords,
    /// The callable failed. It leaves no record.
    CallFailed,
    /// The result may or may not be committed.
    CommitUnacknowledged,
    /// An earlier commit of this attempt was not acknowledged.
    ActivationPoisoned,
    /// The activation is over.
    ActivationClosed,
    /// An operation inside an operation's callable (D7).
    NestedOperation,
    /// The operations come in another order than they were recorded in.
    OutOfOrder,
    /// The workflow has no such entry.
    UnknownEntry,
    /// The stored records cannot be a journal.
    JournalDamaged,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::BindingMismatch,
        Self::InvalidKey,
        Self::InvalidVersion,
        Self::InvalidCallable,
        Self::InvalidJson,
        Self::TooLarge,
        Self::TooManyRecords,
        Self::CallFailed,
        Self::CommitUnacknowledged,
        Self::ActivationPoisoned,
        Self::ActivationClosed,
        Self::NestedOperation,
        Self::OutOfOrder,
        Self::UnknownEntry,
        Self::JournalDamaged,
    ];

    /// The kebab-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BindingMismatch => "binding-mismatch",
            Self::InvalidKey => "invalid-key",
            Self::InvalidVersion => "invalid-version",
            Self::InvalidCallable => "invalid-callable",
            Self::InvalidJson => "invalid-json",
            Self::TooLarge => "too-large",
            Self::TooManyRecords => "too-many-records",
            Self::CallFailed => "call-failed",
            Self::CommitUnacknowledged => "commit-unacknowledged",
            Self::ActivationPoisoned => "activation-poisoned",
            Self::ActivationClosed => "activation-closed",
            Self::NestedOperation => "nested-operation",
            Self::OutOfOrder => "out-of-order",
            Self::UnknownEntry => "unknown-entry",
            Self::JournalDamaged => "journal-damaged",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A cause whose text may hold anything: it is in no message, and reachable as the error's source.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl<E: Into<BoxError>> From<E> for Cause {
    fn from(error: E) -> Self {
        Self(error.into().into())
    }
}

/// So that the source is the error itself.
impl Deref for Cause {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Cause")
    }
}

/// A durable operation or decision failed. Messages hold names and places, never values or the texts of causes.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DurableError {
    /// The key belongs to a request that was another one (D2).
    #[error(
        "operation {key:?} is not the one that was recorded: {difference}; give a changed operation another key, or run \
         the code that recorded it"
    )]
    BindingMismatch {
        /// The key.
        key: Arc<str>,
        /// What differs first.
        difference: BindingDifference,
    },
    /// A key, an entry or an identifier cannot be stored (D1).
    #[error("{what} {flaw}")]
    InvalidKey {
        /// Which one.
        what: &'static str,
        /// What is wrong with it.
        flaw: NameFlaw,
    },
    /// A version cannot be stored (D1).
    #[error("the version of the operation {flaw}")]
    InvalidVersion {
        /// What is wrong with it.
        flaw: NameFlaw,
    },
    /// A callable's name cannot be stored (D1).
    #[error("the name of the callable, with its kind in front, {flaw}")]
    InvalidCallable {
        /// What is wrong with it.
        flaw: NameFlaw,
    },
    /// A value cannot be stored, or does not read back (D4).
    #[error("{what} {flaw}")]
    InvalidJson {
        /// Which value.
        what: &'static str,
        /// What is wrong with it.
        flaw: JsonFlaw,
        /// What serde says, which may hold values.
        source: Option<Cause>,
    },
    /// Something is over a bound (D4).
    #[error(
        "{what} has {bytes} bytes, more than the {bytes_max} allowed; nothing is trimmed: store a reference to it, or \
         checkpoint sooner"
    )]
    TooLarge {
        /// Which value.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// A wait is longer than it may be.
    #[error("{what} of {seconds} s is longer than the {seconds_max} s allowed; wait again from the next activation")]
    WaitTooLong {
        /// Which wait.
        what: &'static str,
        /// How long it is, in whole seconds.
        seconds: u64,
        /// The bound.
        seconds_max: u64,
    },
    /// The activation has as many records as it may (D4).
    #[error("the activation has {records_max} records, which is all it may have; continue in a new one sooner")]
    TooManyRecords {
        /// The bound.
        records_max: usize,
    },
    /// The callable failed. It leaves no record, and may run again (D3).
    #[error("the callable of operation {key:?} failed and left no record; see the cause")]
    CallFailed {
        /// The key.
        key: Arc<str>,
        /// What it failed with.
        source: Cause,
    },
    /// The result may or may not be committed (D3).
    #[error(
        "the commit of operation {key:?} was {commit}, so its result cannot be used; end this attempt: the next one \
         reads what was really committed"
    )]
    CommitUnacknowledged {
        /// The key.
        key: Arc<str>,
        /// What the store said.
        commit: Commit,
    },
    /// An earlier commit of this attempt was not acknowledged (D3).
    #[error(
        "the commit of operation {by:?} was not acknowledged, so this attempt can neither make operations nor decide; \
         end it: the next one reads what was really committed"
    )]
    ActivationPoisoned {
        /// The key of the operation whose commit it was.
        by: Arc<str>,
    },
    /// The activation is over.
    #[error("the activation is over; make operations only until its entry returns")]
    ActivationClosed,
    /// An operation inside an operation's callable (D7).
    #[error("operation {key:?} was made inside the callable of {inside:?}; make it from the workflow's entry")]
    NestedOperation {
        /// The key of the refused one.
        key: Arc<str>,
        /// The key of the one around it.
        inside: Arc<str>,
    },
    /// The operations come in another order than they were recorded in.
    #[error("operation {position} was recorded as {recorded:?}, and {}; make the same operations in the same order \
             in every attempt", requested_instead(.requested.as_deref()))]
    OutOfOrder {
        /// The place of the record, from 1.
        position: usize,
        /// The key there.
        recorded: Arc<str>,
        /// The key that was requested instead; nothing, if the attempt came to its decision without it.
        requested: Option<Arc<str>>,
    },
    /// The workflow has no such entry.
    #[error("workflow {workflow:?} has no entry {entry:?}; it has: {}", known.join(", "))]
    UnknownEntry {
        /// The workflow.
        workflow: Arc<str>,
        /// The entry.
        entry: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// The stored records cannot be a journal.
    #[error("the journal holds two records with the key {key:?}; it was changed outside this library")]
    JournalDamaged {
        /// The key.
        key: Arc<str>,
    },
}

fn requested_instead(requested: Option<&str>) -> String {
    match requested {
        Some(key) => format!("now {key:?} is requested"),
        None => "now it was not requested at all".to_owned(),
    }
}

impl DurableError {
    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::BindingMismatch { .. } => ErrorKind::BindingMismatch,
            Self::InvalidKey { .. } => ErrorKind::InvalidKey,
            Self::InvalidVersion { .. } => ErrorKind::InvalidVersion,
            Self::InvalidCallable { .. } => ErrorKind::InvalidCallable,
            Self::InvalidJson { .. } => ErrorKind::InvalidJson,
            Self::TooLarge { .. } | Self::WaitTooLong { .. } => ErrorKind::TooLarge,
            Self::TooManyRecords { .. } => ErrorKind::TooManyRecords,
            Self::CallFailed { .. } => ErrorKind::CallFailed,
            Self::CommitUnacknowledged { .. } => ErrorKind::CommitUnacknowledged,
            Self::ActivationPoisoned { .. } => ErrorKind::ActivationPoisoned,
            Self::ActivationClosed => ErrorKind::ActivationClosed,
            Self::NestedOperation { .. } => ErrorKind::NestedOperation,
            Self::OutOfOrder { .. } => ErrorKind::OutOfOrder,
            Self::UnknownEntry { .. } => ErrorKind::UnknownEntry,
            Self::JournalDamaged { .. } => ErrorKind::JournalDamaged,
        }
    }
}

/// As the message: a cause is not shown.
impl fmt::Debug for DurableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DurableError({}: {self})", self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_they_are_named() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_cause_is_reachable_and_in_no_message() {
        #[derive(Debug, thiserror::Error)]
        #[error("password=hunter2")]
        struct Leaky;
        let failed = DurableError::CallFailed { key: "pay".into(), source: Leaky.into() };
        assert!(!format!("{failed} {failed:?}").contains("hunter2"));
        assert!(failed.source().unwrap().is::<Leaky>());
    }

    #[test]
    fn an_order_that_changed_is_told_from_both_sides() {
        let error = |requested: Option<&str>| DurableError::OutOfOrder {
            position: 2,
            recorded: "a".into(),
            requested: requested.map(Into::into),
        };
        assert!(error(Some("b")).to_string().starts_with("operation 2 was recorded as \"a\", and now \"b\" is"));
        assert!(error(None).to_string().contains("now it was not requested at all"));
    }
}
