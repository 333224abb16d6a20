//! Why a command could not do what it was asked.

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;

use windtunnel_core::durable::sqlite::SqliteError;
use windtunnel_fixtures::cassette::FileError;
use windtunnel_fixtures::foreign::ImportError;
use windtunnel_fixtures::golden::GoldenError;
use windtunnel_fixtures::proxy::ClientError;
use windtunnel_fixtures::record::RecordingError;
use windtunnel_fixtures::redaction::RedactionError;
use windtunnel_sim::ExploreError;
use windtunnel_sim::case::{JournalError, LoadError};
use windtunnel_sim::export::SaveError;

use crate::excerpt::Place;
use crate::init::InitError;

/// A command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A file does not hold cases.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{file}: cannot be written: {source}")]
    Unwritable {
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// A file that was to be written beside the output cannot be.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// There is nothing to explore.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// A file does not hold a program.
    #[error("{file} is not a valid program\n{flaws}")]
    Program {
        /// The file.
        file: String,
        /// Everything that is wrong with it, with its place, each on a line.
        flaws: String,
        /// Where they are in its text, as far as that is known.
        places: Vec<Place>,
    },
    /// The case or the tool that was asked for is not there, or was not said.
    #[error("{0}")]
    Selection(String),
    /// A file does not hold journals, or cannot be read.
    #[error("{}", with_causes(.0))]
    Journal(#[from] SqliteError),
    /// The journal of a run cannot be kept.
    #[error("{}", with_causes(.0))]
    Kept(#[from] JournalError),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// Ctrl-C cannot be handled.
    #[error("cannot handle Ctrl-C: {0}")]
    Interrupt(#[from] ctrlc::Error),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// A command cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Command {
        /// Its program.
        program: OsString,
        /// Why not.
        source: io::Error,
    },
    /// A file holds no cassette, or cannot be read or written.
    #[error(transparent)]
    Cassette(#[from] FileError),
    /// A recording of another tool cannot be taken over.
    #[error("{file}: {source}")]
    Import {
        /// The file.
        file: String,
        /// Why not.
        source: ImportError,
    },
    /// What a test found cannot be taken over.
    #[error(transparent)]
    Golden(#[from] GoldenError),
    /// A cassette cannot be redacted.
    #[error("{file}: {source}")]
    Redaction {
        /// The file.
        file: String,
        /// Why not.
        source: RedactionError,
    },
    /// Traffic cannot be recorded.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Services cannot be asked.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A crate gets no first test.
    #[error(transparent)]
    Init(#[from] InitError),
    /// There is no thread to work on.
    #[error("cannot start a worker thread: {0}")]
    Worker(io::Error),
    /// A worker is gone.
    #[error("a worker thread was lost; this is a defect of windtunnel")]
    Lost,
}

impl Failure {
    /// The places in files that it is about.
    pub(crate) fn places(&self) -> Vec<Place> {
        match self {
            Self::Load(error) => Place::of_case(error).into_iter().collect(),
            Self::Cassette(error) => Place::of_cassette(error).into_iter().collect(),
            Self::Program { places, .. } => places.clone(),
            _ => Vec::new(),
        }
    }
}

/// The error, and on lines of their own what caused it.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!("\ncause: {error}");
        cause = error.source();
    }
    text
}
