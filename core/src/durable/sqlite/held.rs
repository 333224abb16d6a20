//! A descriptor of a file that is read beside SQLite, and is not closed too early.
//!
//! On Unix, the locks of a process on a file end when the process closes *any* descriptor of it. SQLite minds its own ones;
//! but one of ours, closed while a connection of this process is open, would take away its locks, and another process could
//! then delete the write-ahead log under it, with all that is committed later. So whoever has a connection holds the file,
//! and our descriptors of it are closed after the last of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;

use parking_lot::Mutex;

/// The files that are held, by what they are and not by what they are called.
static HELD: Mutex<BTreeMap<Identity, Descriptors>> = Mutex::new(BTreeMap::new());

type Identity = (u64, u64);

struct Descriptors {
    first: File,
    /// Of a name that was given to this file just when it was opened.
    more: Vec<File>,
    holders: usize,
}

/// A file that is open for reading. It must be dropped after every connection to it that was opened meanwhile.
#[derive(Debug)]
pub(super) struct HeldFile {
    identity: Identity,
}

impl HeldFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut held = HELD.lock();
        let metadata = fs::metadata(path)?;
        // To open a pipe would wait for its other end, and keep everybody else waiting.
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let known = identity(&metadata);
        if let Some(descriptors) = held.get_mut(&known) {
            descriptors.holders += 1;
            return Ok(Self { identity: known });
        }
        let file = File::open(path)?;
        let identity = identity(&file.metadata()?);
        match held.get_mut(&identity) {
            Some(descriptors) => {
                descriptors.more.push(file);
                descriptors.holders += 1;
            }
            None => {
                held.insert(identity, Descriptors { first: file, more: Vec::new(), holders: 1 });
            }
        }
        Ok(Self { identity })
    }

    /// Whether the file still is the one of that name.
    #[cfg(unix)]
    pub(super) fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| identity(&metadata) == self.identity)
    }

    /// Other systems do not let a file that is open be taken away.
    #[cfg(not(unix))]
    pub(super) fn is_at(&self, _path: &Path) -> bool {
        true
    }

    /// Its first bytes, and how long it is.
    pub(super) fn beginning(&self, bytes_max: usize) -> io::Result<(Vec<u8>, u64)> {
        let held = HELD.lock();
        let Some(Descriptors { first, .. }) = held.get(&self.identity) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let (mut file, mut bytes) = (first, Vec::with_capacity(bytes_max));
        file.rewind()?;
        file.take(bytes_max as u64).read_to_end(&mut bytes)?;
        Ok((bytes, first.metadata()?.len()))
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        // Closed before anybody can open it again.
        let mut held = HELD.lock();
        let Some(descriptors) = held.get_mut(&self.identity) else { return };
        descriptors.holders -= 1;
        if descriptors.holders == 0 {
            held.remove(&self.identity);
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Other systems keep the locks of each descriptor apart, so each may be closed at any time.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Identity {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    (0, NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_open_until_its_last_holder_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        fs::write(&path, b"SQLite").unwrap();
        let known = identity(&fs::metadata(&path).unwrap());
        let is_open = || HELD.lock().contains_key(&known);
        let (first, second) = (HeldFile::open(&path).unwrap(), HeldFile::open(&path).unwrap());
        drop(first);
        assert_eq!(second.beginning(3).unwrap(), (b"SQL".to_vec(), 6));
        assert!(is_open());
        drop(second);
        assert!(!is_open(), "a descriptor that nobody needs is never given back");
    }
}
