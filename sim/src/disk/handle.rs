//! A disk as the code on its host sees it.

use std::fmt;
use std::future::pending;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use windtunnel_core::env::Clock as _;
use windtunnel_core::event::{Emitter, EventKind};

use super::change::{Kind, NodeId};
use super::file::File;
use super::options::OpenOptions;
use super::volume::Volume;
use crate::world::{WorldClock, subject_of_world};

/// How long it takes to do anything but a sync: as long as a system call and the memory behind it.
const OPERATION_TIME: Duration = Duration::from_micros(10);

/// How long a sync takes.
const SYNC_TIME: Duration = Duration::from_millis(1);

/// The disk of a host, for one life of it ([`Process::disk`](crate::Process::disk)). Cheap to clone. Its methods are
/// called, and do, as those of `tokio::fs`. It knows its host, so that it is the same disk in whatever task it is used.
///
/// Paths begin at the root of the disk, which is empty at first; there are no links and no permissions. An operation takes
/// 10 µs and a sync 1 ms on the world's clock, and happens at the end of that. When the life is over, none happens any more.
///
/// **What is written is safe from a crash at once, and from a power cut when it is synced**: a file by [`File::sync_all`], and
/// its name, like every creation, renaming and removal, by a sync of the directory ([`Disk::sync_dir`], or
/// [`File::sync_all`] of the opened directory). What is not is lost, survives in part or survives, as the world's seed says.
/// Beyond 4,096 pending changes, the oldest become durable by themselves.
///
/// ```
/// use windtunnel_sim::World;
///
/// let run = World::new(7).run(|world| async move {
///     let host = world.host("a")?;
///     let disk = host.process().disk();
///     disk.write("/new", b"hello").await?;
///     disk.open("/new").await?.sync_all().await?;
///     disk.rename("/new", "/greeting").await?;
///     disk.sync_dir("/").await?;
///     host.power_cut();
///     host.restart();
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(host.process().disk().read_to_string("/greeting").await?)
/// });
/// assert_eq!(run.outcome?.unwrap(), "hello");
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
#[derive(Clone)]
pub struct Disk {
    pub(super) volume: Arc<Mutex<Volume>>,
    pub(super) is_frozen: Arc<AtomicBool>,
    /// The world's and not the life's: that nothing happens after the life is `is_frozen`'s alone to say.
    pub(super) clock: WorldClock,
    pub(super) emitter: Emitter,
}

/// What is known of a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Whether it is a directory.
    pub is_dir: bool,
    /// How many bytes a file has; 0 for a directory.
    pub size_bytes: u64,
}

impl Disk {
    /// Opens a file for reading, or a directory for syncing it.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.options().read(true).open(path).await
    }

    /// Opens a file for writing; a new one, or the one that is there, emptied.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.options().write(true).create(true).truncate(true).open(path).await
    }

    /// Opens a file in another way.
    pub fn options(&self) -> OpenOptions {
        OpenOptions::new(self.clone())
    }

    /// What a file contains.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn read(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let path = path.as_ref();
        self.act(|volume| Ok(volume.contents(volume.find(path)?)?.to_vec())).await
    }

    /// What a file contains, as text.
    ///
    /// # Errors
    /// As the operating system's, and [`io::ErrorKind::InvalidData`] if it is not UTF-8.
    pub async fn read_to_string(&self, path: impl AsRef<Path>) -> io::Result<String> {
        let bytes = self.read(path).await?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Creates or empties a file, then writes to it. Nothing is synced.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
        self.create(path).await?.write_all(contents.as_ref()).await
    }

    /// Gives a file or a directory another name, in the place of the file or empty directory that has it.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        self.act(|volume| volume.rename(from, to)).await
    }

    /// Removes a file. Whoever has it open still does.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        self.act(|volume| volume.remove(path, Kind::File)).await
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn remove_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        self.act(|volume| volume.remove(path, Kind::Directory)).await
    }

    /// Creates a directory in one that is there.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn create_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        self.act(|volume| volume.create(path, Kind::Directory).map(drop)).await
    }

    /// Creates a directory, and those above it that are not there.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn create_dir_all(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut missing = Vec::new();
        for path in path.as_ref().ancestors() {
            match self.ensure_dir(path).await {
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(path),
                ensured => {
                    ensured?;
                    break;
                }
            }
        }
        for path in missing.into_iter().rev() {
            self.ensure_dir(path).await?;
        }
        Ok(())
    }

    async fn ensure_dir(&self, path: &Path) -> io::Result<()> {
        let Err(error) = self.create_dir(path).await else { return Ok(()) };
        let is_dir = self.metadata(path).await.is_ok_and(|metadata| metadata.is_dir);
        if is_dir { Ok(()) } else { Err(error) }
    }

    /// The paths of what stands in a directory, by name.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn read_dir(&self, path: impl AsRef<Path>) -> io::Result<Vec<PathBuf>> {
        let path = path.as_ref();
        self.act(|volume| volume.list(path)).await
    }

    /// Whether there is anything at this path.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn try_exists(&self, path: impl AsRef<Path>) -> io::Result<bool> {
        match self.metadata(path).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// What is at this path.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn metadata(&self, path: impl AsRef<Path>) -> io::Result<Metadata> {
        let path = path.as_ref();
        self.act(|volume| Metadata::of(volume, volume.find(path)?)).await
    }

    /// Makes durable what was created, renamed and removed in a directory: short for opening it and [`File::sync_all`].
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn sync_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.open(path).await?.sync_all().await
    }

    /// Does something at the end of the time that it takes; never, if the life is over then.
    pub(super) async fn act<T>(&self, act: impl FnOnce(&mut Volume) -> io::Result<T>) -> io::Result<T> {
        self.operation().await;
        self.act_now(act).await
    }

    /// Syncs what was done before now.
    pub(super) async fn sync(&self, node: NodeId) -> io::Result<()> {
        self.emitter.emit(&subject_of_world(), || EventKind::DiskSync {}).await;
        let until = self.volume.lock().changes();
        self.clock.until(self.clock.now() + SYNC_TIME).await;
        self.act_now(|volume| {
            volume.sync(node, until);
            Ok(())
        })
        .await
    }

    /// The time that an operation takes.
    pub(super) fn operation(&self) -> BoxFuture<'static, ()> {
        self.clock.until(self.clock.now() + OPERATION_TIME)
    }

    async fn act_now<T>(&self, act: impl FnOnce(&mut Volume) -> io::Result<T>) -> io::Result<T> {
        match self.poll_act(act) {
            Poll::Ready(done) => done,
            Poll::Pending => pending().await,
        }
    }

    /// Does something now, if the life is not over.
    pub(super) fn poll_act<T>(&self, act: impl FnOnce(&mut Volume) -> io::Result<T>) -> Poll<io::Result<T>> {
        if self.is_frozen.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let mut volume = self.volume.lock();
        Poll::Ready(volume.check().and_then(|()| act(&mut volume)))
    }
}

impl Metadata {
    pub(super) fn of(volume: &Volume, node: NodeId) -> io::Result<Self> {
        match volume.kind(node)? {
            Kind::Directory => Ok(Self { is_dir: true, size_bytes: 0 }),
            Kind::File => Ok(Self { is_dir: false, size_bytes: volume.contents(node)?.len() as u64 }),
        }
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Disk")
            .field("is_frozen", &self.is_frozen.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}
