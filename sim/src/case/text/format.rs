//! The formats of case files.

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
