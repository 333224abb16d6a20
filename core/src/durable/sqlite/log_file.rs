//! The write-ahead log beside a file.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::log::{FRAME_BYTES, HEADER_BYTES, Log};

/// How often a log is read that changes meanwhile. After that many a writer is certainly alive, and knows what it wrote.
const READS_MAX: usize = 8;

/// What one reading found.
#[derive(PartialEq, Eq)]
struct Reading {
    header: [u8; HEADER_BYTES],
    /// The first bad frame.
    damage: Option<u64>,
}

/// The file beside `path` that SQLite keeps its log in.
pub(super) fn log_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}

/// The first bad frame that committed transactions follow, if there is one. Another process may write meanwhile: what it has
/// written by half looks bad once and not again, and what it began anew has another header.
pub(super) fn find_damage(path: &Path) -> io::Result<Option<u64>> {
    let mut last = None;
    for _ in 0..READS_MAX {
        let Some(reading) = read(path)? else { return Ok(None) };
        let is_settled = read_header(path)? == Some(reading.header);
        if is_settled && (reading.damage.is_none() || last.as_ref() == Some(&reading)) {
            return Ok(reading.damage);
        }
        last = Some(reading);
    }
    Ok(None)
}

/// Whether there is a log with anything in it.
pub(super) fn has_frames(path: &Path) -> io::Result<bool> {
    match std::fs::metadata(log_path(path)) {
        Ok(metadata) => Ok(metadata.len() > HEADER_BYTES as u64),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Nothing, if there is no log.
fn read(path: &Path) -> io::Result<Option<Reading>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut file = BufReader::with_capacity(16 * FRAME_BYTES, file);
    let Some(header) = filled::<HEADER_BYTES>(&mut file)? else { return Ok(None) };
    let mut log = Log::new(&header);
    while let Some(frame) = filled(&mut file)? {
        log.push(&frame);
        if log.damage().is_some() {
            break;
        }
    }
    Ok(Some(Reading { header, damage: log.damage() }))
}

fn read_header(path: &Path) -> io::Result<Option<[u8; HEADER_BYTES]>> {
    open(path)?.map_or(Ok(None), |mut file| filled(&mut file))
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(log_path(path)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The next bytes, if there are so many.
fn filled<const BYTES: usize>(file: &mut impl Read) -> io::Result<Option<[u8; BYTES]>> {
    let mut bytes = [0; BYTES];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
