//! An open file.

use std::fmt;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use windtunnel_core::event::EventKind;

use super::change::NodeId;
use super::handle::{Disk, Metadata};
use super::options::Access;
use crate::world::subject_of_world;

/// A file that is open, or a directory that is open for syncing, as `tokio::fs::File`: read, write and seek by tokio's
/// traits. Each read and each write is an operation of the [`Disk`]; when it is there for the next one, the last one is
/// done, so that there is nothing to flush.
pub struct File {
    disk: Disk,
    /// Keeps the file, whatever becomes of its name.
    node: Arc<NodeId>,
    access: Access,
    position: u64,
    seek: Option<SeekFrom>,
    /// The time that the present read or write takes. Nobody waits for the lock: it makes the future `Sync`.
    operation: Mutex<Option<BoxFuture<'static, ()>>>,
}

impl File {
    pub(super) fn new(disk: Disk, node: Arc<NodeId>, access: Access) -> Self {
        Self { disk, node, access, position: 0, seek: None, operation: Mutex::default() }
    }

    /// Makes durable what has been written before, or what has been done to the directory's entries. The name of a file
    /// is durable when its directory is synced too.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.disk.sync(*self.node).await
    }

    /// As [`File::sync_all`]: a length is part of the data.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn sync_data(&self) -> io::Result<()> {
        self.sync_all().await
    }

    /// Cuts the file off after so many bytes, or adds zeros up to there.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn set_len(&self, size_bytes: u64) -> io::Result<()> {
        let (access, node) = (self.access, *self.node);
        self.disk.act(|volume| permit(access.writes()).and_then(|()| volume.resize(node, size_bytes))).await
    }

    /// What is known of it.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.disk.act(|volume| Metadata::of(volume, *self.node)).await
    }

    /// Waits until the operation may happen.
    fn poll_operation(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let waiting = self.operation.get_mut();
        ready!(waiting.get_or_insert_with(|| self.disk.operation()).as_mut().poll(context));
        *waiting = None;
        Poll::Ready(())
    }
}

/// The operating system's "bad file descriptor".
fn permit(is_open_for_this: bool) -> io::Result<()> {
    if is_open_for_this { Ok(()) } else { Err(io::Error::other("the file is not open for this")) }
}

impl AsyncRead for File {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        ready!(this.poll_operation(context));
        this.disk.poll_act(|volume| {
            permit(this.access.is_read)?;
            let contents = volume.contents(*this.node)?;
            let start = usize::try_from(this.position).unwrap_or(usize::MAX).min(contents.len());
            let count = buffer.remaining().min(contents.len() - start);
            buffer.put_slice(&contents[start..start + count]);
            this.position += count as u64;
            Ok(())
        })
    }
}

impl AsyncWrite for File {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.operation.get_mut().is_none() {
            let bytes = buffer.len();
            this.disk.emitter.emit_now(&subject_of_world(), || EventKind::DiskWrite { bytes });
        }
        ready!(this.poll_operation(context));
        this.disk.poll_act(|volume| {
            permit(this.access.writes())?;
            let offset = (!this.access.is_append).then_some(this.position);
            this.position = volume.write(*this.node, offset, buffer)?;
            Ok(buffer.len())
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for File {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.seek = Some(position);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = &mut *self;
        let Some(seek) = this.seek.take() else { return Poll::Ready(Ok(this.position)) };
        this.disk.poll_act(|volume| {
            let found = match seek {
                SeekFrom::Start(position) => Some(position),
                SeekFrom::Current(by) => this.position.checked_add_signed(by),
                SeekFrom::End(by) => (volume.contents(*this.node)?.len() as u64).checked_add_signed(by),
            };
            this.position = found.ok_or(io::ErrorKind::InvalidInput)?;
            Ok(this.position)
        })
    }
}

impl fmt::Debug for File {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("File")
            .field("disk", &self.disk)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
