//! What is done to a tree.

use std::ffi::OsString;

/// A file or a directory, whatever its name is, and whether it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(pub(super) u64);

/// Where a name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) directory: NodeId,
    pub(super) name: OsString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
}

/// One step of what is done. It is pending until `touched` is synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Write { file: NodeId, offset: usize, bytes: Vec<u8> },
    Resize { file: NodeId, length: usize },
    Create { at: Entry, node: NodeId, kind: Kind },
    Remove { at: Entry },
    Rename { from: Entry, to: Entry },
}

impl Change {
    /// The file whose contents it changes, or the directories whose entries.
    pub(super) fn touched(&self) -> [NodeId; 2] {
        match self {
            Self::Write { file, .. } | Self::Resize { file, .. } => [*file; 2],
            Self::Create { at, .. } | Self::Remove { at } => [at.directory; 2],
            Self::Rename { from, to } => [from.directory, to.directory],
        }
    }

    /// Whether it changes entries of directories, and no contents.
    pub(super) fn is_of_entries(&self) -> bool {
        !matches!(self, Self::Write { .. } | Self::Resize { .. })
    }
}
