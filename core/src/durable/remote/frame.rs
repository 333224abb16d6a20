//! Texts on a stream of bytes, each whole or not at all.

use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::checksum::checksum;

/// Bytes of the text of a frame. The longest message is an activation of a history: its journal, its state, the event that
/// woke it and its output are 640 KiB.
pub const FRAME_BYTES_MAX: usize = 1024 * 1024;

const HEADER_BYTES: usize = 8;
/// How much is read at once, and so by how much a frame grows before its bytes are there.
const CHUNK_BYTES: usize = 8 * 1024;

/// A frame was not one.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// It is longer than it may be.
    #[error(
        "a frame of {bytes} bytes is longer than the {bytes_max} allowed; does the other side speak this protocol?"
    )]
    TooLong {
        /// How many bytes it has, or says to have.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// Its checksum is not that of its bytes.
    #[error("a frame was damaged on its way: its checksum is another one")]
    Damaged,
    /// It is not UTF-8.
    #[error("a frame is not UTF-8")]
    NotText,
    /// The stream ended in the middle of it.
    #[error("the stream ended in the middle of a frame")]
    Cut,
    /// The stream failed.
    #[error("the stream failed; see the cause")]
    Stream(#[source] Arc<io::Error>),
}

/// As the message: a cause is not shown.
impl fmt::Debug for FrameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "FrameError({self})")
    }
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        Self::Stream(Arc::new(error))
    }
}

/// The frame with this text.
pub(super) fn frame(text: &str) -> Result<Vec<u8>, FrameError> {
    if text.len() > FRAME_BYTES_MAX {
        return Err(FrameError::TooLong { bytes: text.len(), bytes_max: FRAME_BYTES_MAX });
    }
    // It fits, for the bound is far below.
    let length = (text.len() as u32).to_be_bytes();
    let mut frame = Vec::with_capacity(HEADER_BYTES + text.len());
    frame.extend_from_slice(&length);
    frame.extend_from_slice(&checksum(&[&length, text.as_bytes()]).to_be_bytes());
    frame.extend_from_slice(text.as_bytes());
    Ok(frame)
}

/// Reads one frame after another, and never a byte of the next one.
#[derive(Default)]
pub(super) struct FrameReader {
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    text: Vec<u8>,
}

impl FrameReader {
    /// The text of the next frame; nothing, if the stream ends before it.
    pub(super) fn poll_next(
        &mut self,
        mut stream: Pin<&mut (impl AsyncRead + ?Sized)>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<String>, FrameError>> {
        let mut chunk = [MaybeUninit::uninit(); CHUNK_BYTES];
        loop {
            let missing_bytes = self.missing_bytes();
            if missing_bytes == 0 {
                return Poll::Ready(self.finish().map(Some));
            }
            let mut buffer = ReadBuf::uninit(&mut chunk[..missing_bytes.min(CHUNK_BYTES)]);
            ready!(stream.as_mut().poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(if self.header_bytes == 0 { Ok(None) } else { Err(FrameError::Cut) });
            }
            self.take(buffer.filled())?;
        }
    }

    fn text_bytes(&self) -> usize {
        let [a, b, c, d, ..] = self.header;
        u32::from_be_bytes([a, b, c, d]) as usize
    }

    /// Of the header, and then of the text.
    fn missing_bytes(&self) -> usize {
        if self.header_bytes < HEADER_BYTES {
            HEADER_BYTES - self.header_bytes
        } else {
            self.text_bytes() - self.text.len()
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        if self.header_bytes == HEADER_BYTES {
            self.text.extend_from_slice(bytes);
            return Ok(());
        }
        self.header[self.header_bytes..][..bytes.len()].copy_from_slice(bytes);
        self.header_bytes += bytes.len();
        let bytes = self.text_bytes();
        if self.header_bytes >= 4 && bytes > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong { bytes, bytes_max: FRAME_BYTES_MAX });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<String, FrameError> {
        let Self { header, text, .. } = std::mem::take(self);
        let [a, b, c, d, expected @ ..] = header;
        if checksum(&[&[a, b, c, d], &text]) != u32::from_be_bytes(expected) {
            return Err(FrameError::Damaged);
        }
        String::from_utf8(text).map_err(|_| FrameError::NotText)
    }
}

/// Writes one frame after another.
#[derive(Default)]
pub(super) struct FrameWriter {
    frame: Vec<u8>,
    written_bytes: usize,
    needs_flush: bool,
}

impl FrameWriter {
    /// Whether all is written and flushed.
    pub(super) fn is_idle(&self) -> bool {
        self.is_written() && !self.needs_flush
    }

    /// Whether a frame is partly written, or not at all.
    pub(super) fn is_written(&self) -> bool {
        self.written_bytes == self.frame.len()
    }

    /// Writes the frame that is under way and then the next ones, until there is none, and flushes.
    pub(super) fn poll_write(
        &mut self,
        mut stream: Pin<&mut (impl AsyncWrite + ?Sized)>,
        context: &mut Context<'_>,
        mut next: impl FnMut() -> Option<Vec<u8>>,
    ) -> Poll<io::Result<()>> {
        loop {
            while !self.is_written() {
                let rest = &self.frame[self.written_bytes..];
                match ready!(stream.as_mut().poll_write(context, rest))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    bytes => self.written_bytes += bytes,
                }
            }
            let Some(frame) = next() else { break };
            *self = Self { frame, written_bytes: 0, needs_flush: true };
        }
        if self.needs_flush {
            ready!(stream.as_mut().poll_flush(context))?;
            // What is written is given back.
            *self = Self::default();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// What is read of these bytes, at most so many at once, until the end or an error.
    fn read(mut bytes: &[u8]) -> (Vec<String>, Option<FrameError>) {
        let (mut reader, mut texts) = (FrameReader::default(), Vec::new());
        loop {
            match reader.poll_next(Pin::new(&mut bytes), &mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Ok(Some(text))) => texts.push(text),
                Poll::Ready(Ok(None)) => return (texts, None),
                Poll::Ready(Err(error)) => return (texts, Some(error)),
                Poll::Pending => panic!("bytes are never late"),
            }
        }
    }

    #[test]
    fn frames_come_through_one_after_another() {
        let texts = ["", "{}", "é", &"x".repeat(3 * CHUNK_BYTES + 1), &"y".repeat(FRAME_BYTES_MAX)];
        let bytes: Vec<u8> = texts.iter().flat_map(|text| frame(text).unwrap()).collect();
        let (read, error) = read(&bytes);
        assert!(error.is_none());
        assert_eq!(read, texts);
    }

    #[test]
    fn a_frame_has_the_form_that_is_documented() {
        assert_eq!(frame("{}").unwrap(), *b"\0\0\0\x02\x50\x39\xd8\x71{}");
    }

    #[test]
    fn a_frame_that_is_cut_or_changed_anywhere_is_none() {
        let whole = frame(r#"{"jsonrpc":"2.0"}"#).unwrap();
        for length in 1..whole.len() {
            assert!(matches!(read(&whole[..length]), (texts, Some(FrameError::Cut)) if texts.is_empty()));
        }
        for place in 0..whole.len() {
            for mask in 1..=255 {
                let mut changed = whole.clone();
                changed[place] ^= mask;
                assert!(matches!(read(&changed), (texts, Some(_)) if texts.is_empty()), "byte {place} ^ {mask}");
            }
        }
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_by_its_length_alone() {
        let text = "x".repeat(FRAME_BYTES_MAX + 1);
        let message =
            "a frame of 1048577 bytes is longer than the 1048576 allowed; does the other side speak this protocol?";
        assert_eq!(frame(&text).unwrap_err().to_string(), message);
        assert_eq!(read(&[0, 0x10, 0, 1, 0]).1.unwrap().to_string(), message);
        assert!(matches!(read(b"GET / HTTP/1.1\r\n").1, Some(FrameError::TooLong { bytes: 0x4745_5420, .. })));
    }

    #[test]
    fn a_frame_that_is_no_text_is_refused() {
        let text = b"\xff";
        let length = 1_u32.to_be_bytes();
        let sum = checksum(&[&length, text]).to_be_bytes();
        let bytes = [&length[..], &sum, text].concat();
        assert!(matches!(read(&bytes).1, Some(FrameError::NotText)));
    }
}
