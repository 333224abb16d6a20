//! Files that a command writes beside what it prints.

use windtunnel_sim::export;

use crate::failure::Failure;

/// Writes `text` to the file, if one was asked for: whole, or not at all.
pub(crate) fn write(file: Option<&str>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    Ok(export::save(file, &text())?)
}
