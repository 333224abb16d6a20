//! One case as a value that knows its place in the file.

use serde_json::Value;
use windtunnel_core::json::Path;

use super::{Format, json, toml};
use crate::case::error::{LoadError, Place};

/// One case as a JSON value, and where it stands.
pub(in crate::case) struct Document<'t> {
    /// The file's name, for messages.
    pub(in crate::case) file: &'t str,
    /// The value.
    pub(in crate::case) value: Value,
    /// The path of the value in `text`.
    pub(in crate::case) root: Path,
    pub(super) format: Format,
    /// The text that the path begins in: the file, or one line of it.
    pub(super) text: &'t str,
    /// The line of the file that `text` begins on, from 1.
    pub(super) first_line: usize,
    /// Where the value begins.
    pub(in crate::case) begin: Place,
}

/// Which end of a member a message points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::case) enum Pointing {
    /// Its name.
    AtName,
    /// Its value.
    AtValue,
}

impl Document<'_> {
    /// An error at `path`, which begins with the root.
    pub(in crate::case) fn error(&self, path: Path, pointing: Pointing, problem: impl Into<String>) -> LoadError {
        LoadError::invalid(self.place_of(&path, pointing), Some(path), problem)
    }

    /// The place of `path`, which begins with the root.
    pub(in crate::case) fn place_of(&self, path: &Path, pointing: Pointing) -> Place {
        let located = self.locate(path, pointing).map(|offset| self.place(offset));
        located.unwrap_or_else(|| self.begin.clone())
    }

    fn locate(&self, path: &Path, pointing: Pointing) -> Option<usize> {
        match self.format {
            Format::Json | Format::JsonLines => json::locate(self.text, path, pointing),
            Format::Toml => toml::locate(self.text, path, pointing),
        }
    }

    fn place(&self, offset: usize) -> Place {
        let place = Place::of_offset(self.file, self.text, offset);
        Place { line: place.line + self.first_line - 1, ..place }
    }
}
