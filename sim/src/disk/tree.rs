//! One picture of a disk: its files and directories.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path};

use super::change::{Change, Entry, Kind, NodeId};

pub(super) const ROOT: NodeId = NodeId(0);

#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<NodeId, Node>,
}

#[derive(Clone, Debug)]
enum Node {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, NodeId>),
}

/// Where a path leads.
pub(super) struct Place {
    /// Where its last name stands. The root has none, nor has what ends in `..`.
    pub(super) entry: Option<Entry>,
    /// What is there.
    pub(super) node: Option<NodeId>,
    /// The directories on the way, from the root.
    pub(super) above: Vec<NodeId>,
}

impl Place {
    /// What is there.
    pub(super) fn found(&self) -> io::Result<NodeId> {
        self.node.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Where its last name stands.
    pub(super) fn named(self) -> io::Result<Entry> {
        self.entry.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

impl Tree {
    pub(super) fn new() -> Self {
        Self { nodes: BTreeMap::from([(ROOT, Node::new(Kind::Directory))]) }
    }

    /// Where a path leads. A relative one begins at the root too.
    pub(super) fn place(&self, path: &Path) -> io::Result<Place> {
        let mut components = path.components();
        let name = match components.next_back() {
            Some(Component::Normal(name)) => Some(name),
            _ => {
                components = path.components();
                None
            }
        };
        let mut above = vec![ROOT];
        for component in components {
            let directory = self.entries(above.last().copied().unwrap_or(ROOT))?;
            match component {
                Component::Normal(name) => above.push(*directory.get(name).ok_or(io::ErrorKind::NotFound)?),
                Component::ParentDir => {
                    above.pop();
                }
                Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            }
        }
        let directory = above.last().copied().unwrap_or(ROOT);
        let entries = self.entries(directory)?;
        Ok(match name {
            Some(name) => {
                let entry = Entry { directory, name: name.to_owned() };
                Place { entry: Some(entry), node: entries.get(name).copied(), above }
            }
            None => Place { entry: None, node: Some(directory), above },
        })
    }

    pub(super) fn kind(&self, node: NodeId) -> io::Result<Kind> {
        match self.node(node)? {
            Node::File(_) => Ok(Kind::File),
            Node::Directory(_) => Ok(Kind::Directory),
        }
    }

    pub(super) fn contents(&self, node: NodeId) -> io::Result<&[u8]> {
        match self.node(node)? {
            Node::File(bytes) => Ok(bytes),
            Node::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn entries(&self, node: NodeId) -> io::Result<&BTreeMap<OsString, NodeId>> {
        match self.node(node)? {
            Node::Directory(entries) => Ok(entries),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn node(&self, node: NodeId) -> io::Result<&Node> {
        self.nodes.get(&node).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// What stands in a directory.
    pub(super) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.entries(node).ok().into_iter().flat_map(|entries| entries.values().copied())
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Forgets all but these.
    pub(super) fn retain(&mut self, kept: &BTreeSet<NodeId>) {
        self.nodes.retain(|node, _| kept.contains(node));
    }

    /// Does what has been found possible. What is synced before the entry that leads to it is kept for when that comes.
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Write { file, offset, bytes } => self.change_file(*file, |contents| {
                let end = offset + bytes.len();
                if contents.len() < end {
                    contents.resize(end, 0);
                }
                contents[*offset..end].copy_from_slice(bytes);
            }),
            Change::Resize { file, length } => self.change_file(*file, |contents| contents.resize(*length, 0)),
            Change::Create { at, node, kind } => {
                self.nodes.entry(*node).or_insert_with(|| Node::new(*kind));
                self.link(at, *node);
            }
            Change::Remove { at } => {
                self.unlink(at);
            }
            Change::Rename { from, to } => {
                if let Some(node) = self.unlink(from) {
                    self.link(to, node);
                }
            }
        }
    }

    /// Changes the contents of a file. Ids are never used twice, so it is no directory.
    fn change_file(&mut self, file: NodeId, change: impl FnOnce(&mut Vec<u8>)) {
        if let Node::File(contents) = self.nodes.entry(file).or_insert_with(|| Node::new(Kind::File)) {
            change(contents);
        }
    }

    fn link(&mut self, at: &Entry, node: NodeId) {
        let directory = self.nodes.entry(at.directory).or_insert_with(|| Node::new(Kind::Directory));
        if let Node::Directory(entries) = directory {
            entries.insert(at.name.clone(), node);
        }
    }

    fn unlink(&mut self, at: &Entry) -> Option<NodeId> {
        match self.nodes.get_mut(&at.directory) {
            Some(Node::Directory(entries)) => entries.remove(&at.name),
            Some(Node::File(_)) | None => None,
        }
    }
}

impl Node {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File(Vec::new()),
            Kind::Directory => Self::Directory(BTreeMap::new()),
        }
    }
}
