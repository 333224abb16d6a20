//! Standard output whose reader may go away.

use std::io::{self, ErrorKind, Write};

/// Swallows what is written once nobody reads it, so that the command still comes to its exit code.
#[derive(Debug)]
pub(crate) struct Output<W> {
    inner: W,
    is_read: bool,
}

impl<W> Output<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, is_read: true }
    }

    fn unless_unread<T>(&mut self, result: io::Result<T>, otherwise: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_read = false;
                Ok(otherwise)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_read {
            return Ok(bytes.len());
        }
        let written = self.inner.write(bytes);
        self.unless_unread(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.is_read {
            return Ok(());
        }
        let flushed = self.inner.flush();
        self.unless_unread(flushed, ())
    }
}
