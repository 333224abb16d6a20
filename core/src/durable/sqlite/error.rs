//! What goes wrong with a file of journals.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::BoxError;

/// A file of journals cannot be opened, read or written. Messages name the file and the place, never values.
///
/// Inside a [`StoreError`](crate::durable::StoreError) it is the source:
/// `error.0.downcast_ref::<SqliteError>()`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// There is no such file, and it was not to be made.
    #[error("{} does not exist; check the path, or open it with a program that writes journals", .path.display())]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// There is such a file, and a new one was to be made. It is not changed.
    #[error("{} exists; nothing was changed, give another path or move it away", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file holds something else. It is not changed.
    #[error("{} holds no journals of this toolkit ({problem}); nothing was changed, give another path", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
    },
    /// A newer version of this toolkit made the file. It is not changed.
    #[error(
        "{} has format {version}, and this program knows formats up to {version_max}; nothing was changed, use a newer \
         program", .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: i64,
        /// The newest known one.
        version_max: i64,
    },
    /// The write-ahead log is damaged before its last transaction: SQLite would drop what follows, which was acknowledged.
    #[error(
        "the write-ahead log {}-wal is damaged at frame {frame}, and committed transactions follow it; nothing was changed: \
         restore both files from a copy, or move the log away to go on without what it holds", .path.display()
    )]
    LogDamaged {
        /// The file that the log belongs to.
        path: PathBuf,
        /// The first bad frame, from 1; 0 is the header.
        frame: u64,
    },
    /// Something in the file is not what was stored.
    #[error(
        "{} is damaged: {place}: {problem}; everything else can still be read, restore this from a copy", .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        place: Place,
        /// What is wrong.
        problem: Cow<'static, str>,
    },
    /// SQLite finds that the file is damaged.
    #[error("{} is damaged: SQLite cannot read it; restore it from a copy, and see the cause", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: BoxError,
    },
    /// SQLite could not do it: the disk is full, the file is locked for too long or may not be written, and so on.
    #[error("SQLite failed with {}; see the cause, and try it again when that is over", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: BoxError,
    },
    /// The operating system could not do it.
    #[error("{} cannot be read or made; see the cause", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The thread that did it was lost.
    #[error("the work on {} was lost; see the cause", .path.display())]
    Lost {
        /// The file.
        path: PathBuf,
        /// How.
        source: crate::env::BlockingError,
    },
}

/// Where in a file of journals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Place {
    /// The file as a whole.
    File,
    /// A page of the file.
    Page {
        /// Its number, from 1.
        page: u64,
    },
    /// A frame of the write-ahead log.
    Frame {
        /// Its number, from 1; 0 is the header.
        frame: u64,
    },
    /// A workflow whose identifier cannot be read.
    Number {
        /// The how manieth it was that was started, from 1.
        number: i64,
    },
    /// A workflow.
    Workflow {
        /// Its identifier.
        workflow_id: Arc<str>,
    },
    /// An event that was delivered to a workflow, or that it waits for.
    Event {
        /// The workflow's identifier.
        workflow_id: Arc<str>,
        /// The event's key.
        key: Arc<str>,
    },
    /// An activation.
    Activation {
        /// The workflow's identifier.
        workflow_id: Arc<str>,
        /// The activation's.
        activation_id: Arc<str>,
    },
    /// A record of an activation.
    Record {
        /// The workflow's identifier.
        workflow_id: Arc<str>,
        /// The activation's.
        activation_id: Arc<str>,
        /// The how manieth one, from 0.
        position: usize,
        /// Its key, as far as it can be read.
        key: Option<Arc<str>>,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => formatter.write_str("the file"),
            Self::Page { page } => write!(formatter, "page {page}"),
            Self::Frame { frame } => write!(formatter, "frame {frame} of the write-ahead log"),
            Self::Number { number } => write!(formatter, "workflow number {number}"),
            Self::Workflow { workflow_id } => write!(formatter, "workflow {workflow_id:?}"),
            Self::Event { workflow_id, key } => write!(formatter, "workflow {workflow_id:?}, event {key:?}"),
            Self::Activation { workflow_id, activation_id } => {
                write!(formatter, "workflow {workflow_id:?}, {activation_id}")
            }
            Self::Record { workflow_id, activation_id, position, key } => {
                write!(formatter, "workflow {workflow_id:?}, {activation_id}, record {position}")?;
                key.as_ref().map_or(Ok(()), |key| write!(formatter, " ({key:?})"))
            }
        }
    }
}
