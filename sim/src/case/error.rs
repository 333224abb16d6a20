//! Why a case file was not accepted.

use std::fmt;

use windtunnel_core::json::Path;

/// A case file was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It could not be read.
    #[error("{file}: cannot be read: {source}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Its name does not say its format.
    #[error("{file}: the name of a case file ends in .json, .jsonl or .toml")]
    UnknownFormat {
        /// The file's name.
        file: String,
    },
    /// It is too large.
    #[error("{file}: larger than the {bytes_max} bytes allowed; split it")]
    TooLarge {
        /// The file's name.
        file: String,
        /// The bound.
        bytes_max: u64,
    },
    /// It holds no case.
    #[error("{file}: there is no case in it")]
    Empty {
        /// The file's name.
        file: String,
    },
    /// Something in it is wrong.
    #[error("{place}: {}{problem}", prefix(path.as_ref()))]
    Invalid {
        /// Where it is in the text.
        place: Place,
        /// Where it is in the value, if the text could be read that far.
        path: Option<Path>,
        /// What is wrong, and what is accepted instead.
        problem: String,
    },
}

/// How many characters of a path are shown; names in it may be of any length.
const PATH_MAX: usize = 300;
/// How many characters a problem has; it may quote a value of any length.
const PROBLEM_MAX: usize = 600;

impl LoadError {
    pub(super) fn invalid(place: Place, path: Option<Path>, problem: impl Into<String>) -> Self {
        Self::Invalid { place, path, problem: cut(problem.into(), PROBLEM_MAX) }
    }
}

fn prefix(path: Option<&Path>) -> String {
    path.map(|path| cut(path.to_string(), PATH_MAX) + ": ").unwrap_or_default()
}

fn cut(text: String, letters_max: usize) -> String {
    match text.char_indices().nth(letters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A place in a file, printed `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// The place of a byte in a text.
    pub(super) fn of_offset(file: &str, text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        Self { file: file.to_owned(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}
