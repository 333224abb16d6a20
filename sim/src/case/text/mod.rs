//! From the text of a case file to JSON values that know their place in it.

mod json;
mod toml;

use serde_json::Value;
use windtunnel_core::json::{Bounds, Path};

use super::error::{LoadError, Place};

/// The format of a case file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One case, or an array of cases.
    Json,
    /// One case on each line; blank lines are skipped.
    JsonLines,
    /// One case, or a `[[case]]` table for each.
    Toml,
}

impl Format {
    /// The format that a file's name ends with: `.json`, `.jsonl` (or `.ndjson`) or `.toml`.
    ///
    /// ```
    /// use windtunnel_sim::case::Format;
    ///
    /// assert_eq!(Format::of_name("cases/retries.jsonl"), Some(Format::JsonLines));
    /// assert_eq!(Format::of_name("notes.txt"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// One case as a JSON value, and where it stands.
pub(super) struct Document<'t> {
    /// The file's name, for messages.
    pub(super) file: &'t str,
    /// The value.
    pub(super) value: Value,
    /// The path of the value in `text`.
    pub(super) root: Path,
    format: Format,
    /// The text that the path begins in: the file, or one line of it.
    text: &'t str,
    /// The line of the file that `text` begins on, from 1.
    first_line: usize,
}

/// Which end of a member a message points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointing {
    /// Its name.
    AtName,
    /// Its value.
    AtValue,
}

impl Document<'_> {
    /// An error at `path`, which begins with the root.
    pub(super) fn error(&self, path: Path, pointing: Pointing, problem: impl Into<String>) -> LoadError {
        let offset = match self.format {
            Format::Json | Format::JsonLines => json::locate(self.text, &path, pointing),
            Format::Toml => toml::locate(self.text, &path, pointing),
        };
        LoadError::Invalid { place: self.place(offset.unwrap_or(0)), path: Some(path), problem: problem.into() }
    }

    /// The place where the value begins.
    pub(super) fn begin(&self) -> Place {
        let offset = match self.format {
            Format::Json | Format::JsonLines => json::locate(self.text, &self.root, Pointing::AtValue),
            Format::Toml => toml::locate(self.text, &self.root, Pointing::AtValue),
        };
        self.place(offset.unwrap_or(0))
    }

    fn place(&self, offset: usize) -> Place {
        let place = Place::of_offset(self.file, self.text, offset);
        Place { line: place.line + self.first_line - 1, ..place }
    }
}

/// Splits the text of a file into its cases. Numbers have kept their identity, and all bounds hold.
pub(super) fn documents<'t>(
    file: &'t str,
    format: Format,
    text: &'t str,
    bounds: Bounds,
) -> Result<Vec<Document<'t>>, LoadError> {
    let whole = |value, root| Document { file, value, root, format, text, first_line: 1 };
    let documents = match format {
        Format::Json => match json::parse(file, text, 1, bounds)? {
            Value::Array(elements) => {
                let roots = (0..).map(|index| Path::root().element(index));
                elements.into_iter().zip(roots).map(|(value, root)| whole(value, root)).collect()
            }
            value => vec![whole(value, Path::root())],
        },
        Format::JsonLines => {
            let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
            let document = |(text, first_line)| {
                let value = json::parse(file, text, first_line, bounds)?;
                Ok(Document { file, value, root: Path::root(), format, text, first_line })
            };
            lines.map(document).collect::<Result<_, LoadError>>()?
        }
        Format::Toml => toml::parse(file, text, bounds)?.into_iter().map(|(root, value)| whole(value, root)).collect(),
    };
    Ok(documents)
}
