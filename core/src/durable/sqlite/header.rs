//! The first bytes of a file, read before SQLite may touch it.

use std::io;
use std::path::Path;

use super::error::{Place, SqliteError};
use super::held::HeldFile;
use super::log_file;
use super::schema::{APPLICATION_ID, PAGE_BYTES, VERSION};

const HEADER_BYTES: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What stands at these places in every file of this version, besides the version and the application.
const CONSTANTS: [(usize, &[u8]); 6] = [
    // Pages of 4096 bytes, the write-ahead log for readers and writers, nothing kept free at the end of a page, and how full
    // pages are.
    (16, &[0x10, 0, 2, 2, 0, 64, 32, 32]),
    // The format of the definitions.
    (44, &[0, 0, 0, 4]),
    // Pages are not moved, and text is UTF-8.
    (52, &[0, 0, 0, 0, 0, 0, 0, 1]),
    // Nor are they moved when asked.
    (64, &[0, 0, 0, 0]),
    // For the future.
    (72, &[0; 10]),
    (82, &[0; 10]),
];

/// The file, if there is one. It is held for as long as there is a connection to it.
///
/// # Errors
/// [`SqliteError`], if it is none of ours, of a newer version, or damaged in its header.
pub(super) fn check(path: &Path) -> Result<Option<HeldFile>, SqliteError> {
    let io = |source| SqliteError::Io { path: path.to_owned(), source };
    let damaged =
        |place, problem: &'static str| SqliteError::Damaged { path: path.to_owned(), place, problem: problem.into() };
    let had_log = log_file::has_frames(path).map_err(io)?;
    let held = match HeldFile::open(path) {
        Ok(held) => held,
        Err(error) if error.kind() == io::ErrorKind::NotFound && had_log => {
            return Err(damaged(Place::File, "it is gone, and its write-ahead log is still there"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let (header, file_bytes) = held.beginning(HEADER_BYTES).map_err(io)?;
    if header.is_empty() {
        return Err(damaged(Place::File, "it is empty; delete it, if it was never used, to begin anew"));
    }
    let foreign = |problem| SqliteError::Foreign { path: path.to_owned(), problem };
    if !header.starts_with(MAGIC) {
        return Err(foreign("it is no file of SQLite"));
    }
    if header.len() < HEADER_BYTES {
        return Err(damaged(Place::Page { page: 1 }, "it is cut off"));
    }
    if number(&header, 68) != APPLICATION_ID {
        return Err(foreign("another application made it"));
    }
    check_version(path, number(&header, 60))?;
    if CONSTANTS.iter().any(|(place, bytes)| !header[*place..].starts_with(bytes)) {
        return Err(damaged(Place::Page { page: 1 }, "its header was changed"));
    }
    // With a log the file may be longer or shorter.
    let pages_bytes = number(&header, 28).unsigned_abs() * PAGE_BYTES as u64;
    let has_log = had_log || log_file::has_frames(path).map_err(io)?;
    if !has_log && pages_bytes != file_bytes && held.beginning(HEADER_BYTES).map_err(io)? == (header, file_bytes) {
        return Err(damaged(Place::File, "it has not as many pages as its header says"));
    }
    Ok(Some(held))
}

pub(super) fn check_version(path: &Path, version: i64) -> Result<(), SqliteError> {
    if version == VERSION {
        return Ok(());
    }
    if version < VERSION {
        return Err(SqliteError::Foreign { path: path.to_owned(), problem: "it has no known format" });
    }
    Err(SqliteError::Newer { path: path.to_owned(), version, version_max: VERSION })
}

fn number(header: &[u8], place: usize) -> i64 {
    header[place..place + 4].iter().fold(0, |number, byte| number << 8 | i64::from(*byte))
}
