//! How a file is opened.

use std::fmt;
use std::io;
use std::path::Path;

use super::file::File;
use super::handle::Disk;

/// How to open a file of a disk, as `std::fs::OpenOptions` says it. All are off at first.
///
/// ```
/// use tokio::io::AsyncWriteExt;
/// use windtunnel_sim::World;
///
/// let run = World::new(7).run(|world| async move {
///     let disk = world.host("a")?.process().disk();
///     let mut log = disk.options().append(true).create(true).open("/log").await?;
///     log.write_all(b"one line\n").await?;
///     log.sync_all().await?;
///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(disk.read("/log").await?)
/// });
/// assert_eq!(run.outcome?.unwrap(), b"one line\n");
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
#[derive(Clone)]
pub struct OpenOptions {
    disk: Disk,
    access: Access,
}

/// What the options say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Access {
    pub(super) is_read: bool,
    pub(super) is_write: bool,
    pub(super) is_append: bool,
    pub(super) is_truncate: bool,
    pub(super) is_create: bool,
    pub(super) is_create_new: bool,
}

impl Access {
    pub(super) fn writes(self) -> bool {
        self.is_write || self.is_append
    }

    /// What no operating system opens.
    fn check(self) -> io::Result<()> {
        let makes = self.is_truncate || self.is_create || self.is_create_new;
        let is_nothing = !self.is_read && !self.writes();
        let truncates_what_it_appends_to = self.is_truncate && self.is_append && !self.is_create_new;
        if is_nothing || makes && !self.writes() || truncates_what_it_appends_to {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(())
    }
}

impl OpenOptions {
    pub(super) fn new(disk: Disk) -> Self {
        Self { disk, access: Access::default() }
    }

    /// For reading.
    pub fn read(&mut self, is_read: bool) -> &mut Self {
        self.access.is_read = is_read;
        self
    }

    /// For writing, from the first byte on.
    pub fn write(&mut self, is_write: bool) -> &mut Self {
        self.access.is_write = is_write;
        self
    }

    /// For writing, always behind the last byte.
    pub fn append(&mut self, is_append: bool) -> &mut Self {
        self.access.is_append = is_append;
        self
    }

    /// Empties the file.
    pub fn truncate(&mut self, is_truncate: bool) -> &mut Self {
        self.access.is_truncate = is_truncate;
        self
    }

    /// Creates the file, if there is none.
    pub fn create(&mut self, is_create: bool) -> &mut Self {
        self.access.is_create = is_create;
        self
    }

    /// Creates the file, and fails if there is one.
    pub fn create_new(&mut self, is_create_new: bool) -> &mut Self {
        self.access.is_create_new = is_create_new;
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// As the operating system's, such as [`io::ErrorKind::NotFound`], [`io::ErrorKind::InvalidInput`] for options that
    /// contradict each other, and [`io::ErrorKind::StorageFull`] on a full disk where there is no file yet.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (path, access) = (path.as_ref(), self.access);
        access.check()?;
        let node = self.disk.act(|volume| volume.open(path, access)).await?;
        Ok(File::new(self.disk.clone(), node, access))
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OpenOptions").field(&self.access).finish()
    }
}
