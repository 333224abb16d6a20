//! What was made of runs, on the disk.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be written: {source}; name a file in a folder that is there and may be written to", path.display())]
pub struct SaveError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// Writes `text` to a file: whole, or not at all. What was there is replaced; a device or a pipe is written to.
///
/// # Errors
/// [`SaveError`], if the operating system refuses.
pub fn save(path: impl AsRef<Path>, text: &str) -> Result<(), SaveError> {
    let path = path.as_ref();
    let is_replaced = path.metadata().map_or(true, |metadata| metadata.is_file());
    let saved = if is_replaced { replace(path, text) } else { fs::write(path, text) };
    saved.map_err(|source| SaveError { path: path.to_owned(), source })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What a link leads to is replaced, and not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    // What a process of the same number left behind.
    let _absent = fs::remove_file(&beside);
    let written = write_new(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The error that is told is the first one.
        let _absent = fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_one_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        fs::write(&path, "before, and longer").unwrap();
        save(&path, "after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let nowhere = folder.path().join("missing").join("report.html");
        let error = save(&nowhere, "nowhere").unwrap_err().to_string();
        assert!(error.contains(&*nowhere.to_string_lossy()) && error.contains("name a file in a folder"), "{error}");
        assert!(save(folder.path(), "a folder").is_err());
        assert!(save("/", "no name").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save(&link, "after").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
    }
}
