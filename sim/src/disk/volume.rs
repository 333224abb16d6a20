//! A disk as a machine that knows no time: what is seen, what is durable, and what is pending between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use rand_chacha::ChaCha8Rng;

use super::change::{Change, Kind, NodeId};
use super::fault::Faults;
use super::options::Access;
use super::survival::survivors;
use super::tree::{ROOT, Tree};

/// How much a file can hold: what a mistaken offset would take otherwise is more than the machine has.
const FILE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How many changes can be pending. Beyond, the oldest become durable, as an operating system writes them back in time.
const PENDING_MAX: usize = 4096;

pub(super) struct Volume {
    seen: Tree,
    durable: Tree,
    pending: VecDeque<(ChangeNumber, Change)>,
    changes: ChangeNumber,
    nodes: u64,
    /// What processes have open, so that it stays when its name is removed.
    opened: BTreeMap<NodeId, Weak<NodeId>>,
    faults: Faults,
    generator: ChaCha8Rng,
}

/// Counts the changes of a disk.
pub(super) type ChangeNumber = u64;

impl Volume {
    pub(super) fn new(generator: ChaCha8Rng) -> Self {
        Self {
            seen: Tree::new(),
            durable: Tree::new(),
            pending: VecDeque::new(),
            changes: 0,
            nodes: ROOT.0 + 1,
            opened: BTreeMap::new(),
            faults: Faults::default(),
            generator,
        }
    }

    pub(super) fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Whether anything can be done at all.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.faults.is_failing { Err(io::Error::other("input/output error")) } else { Ok(()) }
    }

    /// The number of the next change.
    pub(super) fn changes(&self) -> ChangeNumber {
        self.changes
    }

    /// Opens what is there, or creates it, as the options of `access` say.
    pub(super) fn open(&mut self, path: &Path, access: Access) -> io::Result<Arc<NodeId>> {
        let node = match self.seen.place(path)?.node {
            Some(_) if access.is_create_new => return Err(io::ErrorKind::AlreadyExists.into()),
            Some(node) => {
                if access.writes() && self.seen.kind(node)? == Kind::Directory {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                if access.is_truncate {
                    self.resize(node, 0)?;
                }
                node
            }
            None if access.is_create || access.is_create_new => self.create(path, Kind::File)?,
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        let handle = self.opened.get(&node).and_then(Weak::upgrade).unwrap_or_else(|| Arc::new(node));
        self.opened.insert(node, Arc::downgrade(&handle));
        Ok(handle)
    }

    pub(super) fn create(&mut self, path: &Path, kind: Kind) -> io::Result<NodeId> {
        let place = self.seen.place(path)?;
        if place.node.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let at = place.named()?;
        self.check_room()?;
        let node = NodeId(self.nodes);
        self.nodes += 1;
        self.change(Change::Create { at, node, kind });
        Ok(node)
    }

    pub(super) fn remove(&mut self, path: &Path, kind: Kind) -> io::Result<()> {
        let place = self.seen.place(path)?;
        let node = place.found()?;
        match (self.seen.kind(node)?, kind) {
            (Kind::File, Kind::Directory) => return Err(io::ErrorKind::NotADirectory.into()),
            (Kind::Directory, Kind::File) => return Err(io::ErrorKind::IsADirectory.into()),
            (Kind::Directory, Kind::Directory) => self.check_empty(node)?,
            (Kind::File, Kind::File) => {}
        }
        let at = place.named()?;
        self.change(Change::Remove { at });
        Ok(())
    }

    /// Gives a file or a directory another name. It takes the place of a file, or of an empty directory.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.seen.place(from)?, self.seen.place(to)?);
        let node = from.found()?;
        let kind = self.seen.kind(node)?;
        if to.above.contains(&node) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if let Some(replaced) = to.node.filter(|replaced| *replaced != node) {
            match (kind, self.seen.kind(replaced)?) {
                // Above itself, which the operating system looks at first.
                (_, Kind::Directory) if from.above.contains(&replaced) => self.check_empty(replaced)?,
                (Kind::File, Kind::Directory) => return Err(io::ErrorKind::IsADirectory.into()),
                (Kind::Directory, Kind::File) => return Err(io::ErrorKind::NotADirectory.into()),
                (Kind::Directory, Kind::Directory) => self.check_empty(replaced)?,
                (Kind::File, Kind::File) => {}
            }
        }
        let (from, to) = (from.named()?, to.named()?);
        if from != to {
            self.change(Change::Rename { from, to });
        }
        Ok(())
    }

    /// Writes at an offset, or behind the last byte.
    pub(super) fn write(&mut self, file: NodeId, offset: Option<u64>, bytes: &[u8]) -> io::Result<u64> {
        let length = self.seen.contents(file)?.len();
        let offset = offset.map_or(Ok(length), length_of)?;
        let end = offset.saturating_add(bytes.len());
        if end > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if !bytes.is_empty() {
            self.check_room()?;
            self.change(Change::Write { file, offset, bytes: bytes.to_vec() });
        }
        Ok(end as u64)
    }

    pub(super) fn resize(&mut self, file: NodeId, length: u64) -> io::Result<()> {
        let length = length_of(length)?;
        match length.cmp(&self.seen.contents(file)?.len()) {
            std::cmp::Ordering::Equal => return Ok(()),
            std::cmp::Ordering::Greater => self.check_room()?,
            std::cmp::Ordering::Less => {}
        }
        self.change(Change::Resize { file, length });
        Ok(())
    }

    pub(super) fn contents(&self, file: NodeId) -> io::Result<&[u8]> {
        self.seen.contents(file)
    }

    pub(super) fn kind(&self, node: NodeId) -> io::Result<Kind> {
        self.seen.kind(node)
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<NodeId> {
        self.seen.place(path)?.found()
    }

    /// The paths of what stands in a directory, by name.
    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = self.seen.entries(self.find(path)?)?;
        Ok(entries.keys().map(|name| path.join(name)).collect())
    }

    /// Makes durable what was done to a file's contents, or to a directory's entries, before the change `until`. With
    /// entries go those of other directories that came before and without which these would make no sense.
    pub(super) fn sync(&mut self, node: NodeId, until: ChangeNumber) {
        if !self.faults.flushes.next_is_kept() {
            return;
        }
        let mut touched = BTreeSet::from([node]);
        let mut due = BTreeSet::new();
        for (number, change) in self.pending.iter().rev().filter(|(number, _)| *number < until) {
            if change.touched().iter().any(|node| touched.contains(node)) {
                touched.extend(change.touched());
                due.insert(*number);
            }
        }
        let Self { pending, durable, .. } = self;
        pending.retain(|(number, change)| {
            let is_due = due.contains(number);
            if is_due {
                durable.apply(change);
            }
            !is_due
        });
        if self.kind(node).is_ok_and(|kind| kind == Kind::Directory) {
            self.sweep();
        }
    }

    /// Takes away what was not durable, but for what happens to survive. Nothing is open any more.
    pub(super) fn power_cut(&mut self) {
        let pending = std::mem::take(&mut self.pending).into_iter().map(|(_, change)| change).collect();
        for change in survivors(pending, &mut self.faults.is_tearing, &mut self.generator) {
            self.durable.apply(&change);
        }
        self.opened.clear();
        self.seen = self.durable.clone();
        self.sweep();
    }

    fn change(&mut self, change: Change) {
        self.seen.apply(&change);
        self.pending.push_back((self.changes, change));
        self.changes += 1;
        if self.pending.len() > PENDING_MAX {
            for (_, change) in self.pending.drain(..PENDING_MAX / 2) {
                self.durable.apply(&change);
            }
            self.sweep();
        }
    }

    /// Forgets what no name leads to, nor could after a power cut, and nobody has open.
    fn sweep(&mut self) {
        self.opened.retain(|_, handle| handle.strong_count() > 0);
        let created = self.pending.iter().filter_map(|(_, change)| match change {
            Change::Create { node, .. } => Some(*node),
            _ => None,
        });
        let mut found: Vec<_> = self.opened.keys().copied().chain(created).chain([ROOT]).collect();
        let mut kept = BTreeSet::new();
        while let Some(node) = found.pop() {
            if kept.insert(node) {
                found.extend(self.seen.children(node).chain(self.durable.children(node)));
            }
        }
        self.seen.retain(&kept);
        self.durable.retain(&kept);
    }

    fn check_room(&self) -> io::Result<()> {
        if self.faults.is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn check_empty(&self, directory: NodeId) -> io::Result<()> {
        if self.seen.entries(directory)?.is_empty() { Ok(()) } else { Err(io::ErrorKind::DirectoryNotEmpty.into()) }
    }
}

/// A length that a file can have.
fn length_of(length: u64) -> io::Result<usize> {
    let length = usize::try_from(length).ok().filter(|length| *length <= FILE_BYTES_MAX);
    length.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Streams;

    fn volume(seed: u64) -> Volume {
        Volume::new(Streams::new(seed).generator("disk/a"))
    }

    fn create(volume: &mut Volume, path: &str, kind: Kind) -> NodeId {
        volume.create(Path::new(path), kind).unwrap()
    }

    fn sync(volume: &mut Volume, path: &str) {
        let node = volume.find(Path::new(path)).unwrap();
        volume.sync(node, volume.changes());
    }

    fn exists(volume: &Volume, path: &str) -> bool {
        volume.find(Path::new(path)).is_ok()
    }

    #[test]
    fn a_file_that_moves_is_never_in_two_directories_nor_in_none() {
        for seed in 0..50 {
            let mut volume = volume(seed);
            for path in ["/from", "/to"] {
                create(&mut volume, path, Kind::Directory);
            }
            sync(&mut volume, "/");
            create(&mut volume, "/from/new", Kind::File);
            create(&mut volume, "/from/f", Kind::File);
            volume.rename(Path::new("/from/f"), Path::new("/to/f")).unwrap();
            sync(&mut volume, "/to");
            volume.power_cut();
            assert!(exists(&volume, "/to/f") && !exists(&volume, "/from/f"));
            assert!(exists(&volume, "/from/new"), "it was created before the move that was synced");
        }
    }

    #[test]
    fn a_directory_that_is_synced_takes_no_other_along() {
        let is_left = |seed| {
            let mut volume = volume(seed);
            for path in ["/a", "/b"] {
                create(&mut volume, path, Kind::Directory);
            }
            sync(&mut volume, "/");
            create(&mut volume, "/a/f", Kind::File);
            create(&mut volume, "/b/f", Kind::File);
            sync(&mut volume, "/b");
            volume.power_cut();
            (exists(&volume, "/a/f"), exists(&volume, "/b/f"))
        };
        let left: BTreeSet<_> = (0..50).map(is_left).collect();
        assert_eq!(left, BTreeSet::from([(false, true), (true, true)]));
    }

    #[test]
    fn contents_that_are_synced_before_their_name_are_there_with_it() {
        let mut volume = volume(7);
        let file = create(&mut volume, "/f", Kind::File);
        volume.write(file, None, b"text").unwrap();
        sync(&mut volume, "/f");
        create(&mut volume, "/other", Kind::File);
        sync(&mut volume, "/");
        volume.power_cut();
        assert_eq!(volume.contents(volume.find(Path::new("/f")).unwrap()).unwrap(), b"text");
    }

    #[test]
    fn a_file_whose_removal_is_lost_is_as_it_was() {
        let left = |seed| {
            let mut volume = volume(seed);
            create(&mut volume, "/a", Kind::Directory);
            let file = create(&mut volume, "/f", Kind::File);
            volume.write(file, None, b"text").unwrap();
            sync(&mut volume, "/f");
            volume.remove(Path::new("/f"), Kind::File).unwrap();
            sync(&mut volume, "/a");
            volume.power_cut();
            volume.find(Path::new("/f")).ok().map(|file| volume.contents(file).unwrap().to_vec())
        };
        let left: BTreeSet<_> = (0..50).map(left).collect();
        assert_eq!(left, BTreeSet::from([None, Some(b"text".to_vec())]));
    }

    #[test]
    fn what_is_pending_and_what_nobody_can_reach_is_bounded() {
        let mut volume = volume(7);
        for _ in 0..20_000 {
            let file = create(&mut volume, "/f", Kind::File);
            volume.write(file, None, b"text").unwrap();
            volume.remove(Path::new("/f"), Kind::File).unwrap();
        }
        assert!(volume.pending.len() <= PENDING_MAX);
        sync(&mut volume, "/");
        assert_eq!((volume.seen.count(), volume.durable.count()), (1, 1));
    }

    #[test]
    fn a_write_far_away_is_refused_and_takes_no_memory() {
        let mut volume = volume(7);
        let file = create(&mut volume, "/f", Kind::File);
        for offset in [FILE_BYTES_MAX as u64, u64::MAX] {
            let error = volume.write(file, Some(offset), b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
    }
}
