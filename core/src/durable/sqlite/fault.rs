//! Why one call on the file came to nothing.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use super::error::{Place, SqliteError};
use crate::durable::commit::{Commit, Refusal};
use crate::durable::error::DurableError;
use crate::durable::store::StoreError;
use crate::env::BlockingError;

pub(super) type Outcome<T> = Result<T, Fault>;

#[derive(Debug)]
pub(super) enum Fault {
    /// By the rules of stores.
    Refused(Refusal),
    /// It can be stored nowhere.
    Invalid(DurableError),
    Damage(Place, Cow<'static, str>),
    /// Before anything could have been committed.
    Sqlite(rusqlite::Error),
    /// Of the commit itself: it may have happened.
    Unsure(Arc<rusqlite::Error>),
    Lost(BlockingError),
}

impl Fault {
    pub(super) fn damage(place: Place, problem: &'static str) -> Self {
        Self::Damage(place, Cow::Borrowed(problem))
    }

    /// Says where SQLite found damage.
    pub(super) fn at(self, place: impl FnOnce() -> Place) -> Self {
        match self {
            Self::Sqlite(error) if is_corruption(&error) => {
                Self::Damage(place(), format!("SQLite cannot read it ({error})").into())
            }
            other => other,
        }
    }

    /// Whether what is stored is to blame, so that asking again does not help.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Damage(..) => true,
            Self::Sqlite(error) => is_corruption(error),
            Self::Unsure(error) => is_corruption(error),
            Self::Refused(_) | Self::Invalid(_) | Self::Lost(_) => false,
        }
    }

    /// What to say of a commit. One that failed for now is unknown, although it may certainly not be stored: then it is
    /// found out and sent again, where a refusal would count as a failure of the workflow.
    pub(super) fn into_commit(self, path: &Path) -> Commit {
        let commit = match self {
            Self::Refused(refusal) => return Commit::Refused(refusal),
            Self::Unsure(_) => Commit::Unknown,
            _ if self.is_damage() => Commit::Refused(Refusal::Rejected),
            _ => Commit::Unknown,
        };
        let error = self.into_store_error(path);
        tracing::warn!(cause = crate::causes::text(&error), "a commit failed");
        commit
    }

    pub(super) fn into_store_error(self, path: &Path) -> StoreError {
        match self {
            Self::Invalid(error) => StoreError(error.into()),
            other => StoreError(other.into_error(path).into()),
        }
    }

    pub(super) fn into_error(self, path: &Path) -> SqliteError {
        let path = path.to_owned();
        match self {
            Self::Damage(place, problem) => SqliteError::Damaged { path, place, problem },
            Self::Sqlite(error) if is_corruption(&error) => SqliteError::Corrupt { path, source: error.into() },
            Self::Sqlite(error) => SqliteError::Failed { path, source: error.into() },
            Self::Unsure(error) if is_corruption(&error) => SqliteError::Corrupt { path, source: error.into() },
            Self::Unsure(error) => SqliteError::Failed { path, source: error.into() },
            Self::Lost(source) => SqliteError::Lost { path, source },
            Self::Refused(refusal) => SqliteError::Failed { path, source: refusal.into() },
            Self::Invalid(error) => SqliteError::Failed { path, source: error.into() },
        }
    }
}

/// What SQLite finds damaged, and columns that hold what no program of ours writes.
fn is_corruption(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => true,
        other => matches!(other.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)),
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
