//! Reports on the disk.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The operating system refused.
    #[error(
        "the report {} cannot be written: {source}; name a file in a folder that is there and may be written to",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Writes `bytes` to `path`: whole, or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    // What a process of the same number left behind.
    let _absent = fs::remove_file(&beside);
    let written = write_new(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The error that is told is the first one.
        let _absent = fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::Report;

    #[test]
    fn a_file_is_replaced_whole_and_one_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        std::fs::write(&path, "before").unwrap();
        Report::new("after").save(&path).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("after"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        let nowhere = folder.path().join("missing").join("report.html");
        let error = Report::new("nowhere").save(&nowhere).unwrap_err().to_string();
        assert!(error.contains(&*nowhere.to_string_lossy()) && error.contains("name a file in a folder"), "{error}");
        assert!(Report::new("a folder").save(folder.path()).is_err());
        assert!(Report::new("no name").save("/").is_err());
    }
}
