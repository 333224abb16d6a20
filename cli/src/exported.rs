//! Files that a command writes beside what it prints.

use std::fs;
use std::path::Path;

use windtunnel_fixtures::cassette::replace;

use crate::failure::Failure;

/// Writes `text` to the file, if one was asked for: whole, or not at all.
pub(crate) fn write(file: Option<&str>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let (path, text) = (Path::new(file), text());
    // A device or a pipe is written to, and cannot be replaced.
    let is_replaced = path.metadata().map_or(true, |metadata| metadata.is_file());
    let written = if is_replaced { replace(path, text.as_bytes()) } else { fs::write(path, text) };
    written.map_err(|source| Failure::Export { file: file.to_owned(), source })
}
