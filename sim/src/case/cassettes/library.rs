//! Where the cassettes of a case are.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::recorded::Recorded;

/// The folder that cassettes are named from, and those of it that were read. Each is read once, so that all runs of a case,
/// and all cases that are made of it, see the same.
pub(in crate::case) struct Library {
    folder: Option<PathBuf>,
    read: Mutex<BTreeMap<String, Arc<Recorded>>>,
}

impl Library {
    /// That of a case file.
    pub(in crate::case) fn beside(file: &str) -> Self {
        Self::in_folder(Path::new(file).parent().unwrap_or(Path::new("")))
    }

    pub(in crate::case) fn in_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), read: Mutex::default() }
    }

    /// That of a text, which is nowhere.
    pub(in crate::case) fn nowhere() -> Self {
        Self { folder: None, read: Mutex::default() }
    }

    pub(in crate::case) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Reads a cassette, or says why it cannot be.
    pub(super) fn read(&self, name: &str) -> Result<Arc<Recorded>, String> {
        if name.is_empty() {
            return Err("a cassette is named by its file".to_owned());
        }
        if Path::new(name).has_root() {
            let problem = "a cassette is named from the folder of its case file, so that both can be moved and shared";
            return Err(format!("{problem}; {name:?} is a path from the root"));
        }
        let Some(folder) = &self.folder else {
            let problem = "a cassette is named from the folder of its case file, and this case was read from no file";
            return Err(format!("{problem}: load it from one, or say which folder it is in"));
        };
        let mut read = self.read.lock();
        if let Some(recorded) = read.get(name) {
            return Ok(Arc::clone(recorded));
        }
        let recorded = Arc::new(Recorded::load(name, &folder.join(name))?);
        read.insert(name.to_owned(), Arc::clone(&recorded));
        Ok(recorded)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Library").field("folder", &self.folder).finish_non_exhaustive()
    }
}
