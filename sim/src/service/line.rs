//! Lines on a stream of bytes.

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::error::ServiceError;

/// Bytes of a message, without the end of its line.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// By how much room for what comes grows.
const CHUNK_BYTES: usize = 4 * 1024;

/// A stream of which whole lines are read and written.
pub(super) struct Lines<S> {
    stream: S,
    /// What has come of the lines that are not read yet.
    received: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, received: Vec::new() }
    }

    /// Writes a message as one line, at once if there is room for it.
    pub(super) async fn send(&mut self, message: &impl Serialize) -> Result<(), ServiceError> {
        let mut line = serde_json::to_vec(message).map_err(|error| ServiceError::malformed(error.to_string()))?;
        if line.len() > LINE_BYTES_MAX {
            return Err(ServiceError::TooLong { bytes_max: LINE_BYTES_MAX });
        }
        line.push(b'\n');
        self.stream.write_all(&line).await?;
        Ok(self.stream.flush().await?)
    }

    /// The next line; nothing, if the stream ends before it. It may be dropped and asked again.
    pub(super) async fn next(&mut self) -> Result<Option<String>, ServiceError> {
        let mut searched_bytes = 0;
        loop {
            let end = self.received[searched_bytes..].iter().position(|byte| *byte == b'\n');
            let line_bytes = end.map_or(self.received.len(), |end| searched_bytes + end);
            if line_bytes > LINE_BYTES_MAX {
                return Err(ServiceError::TooLong { bytes_max: LINE_BYTES_MAX });
            }
            if end.is_some() {
                let rest = self.received.split_off(line_bytes + 1);
                let mut line = std::mem::replace(&mut self.received, rest);
                line.truncate(line_bytes);
                return String::from_utf8(line).map(Some).map_err(|_| ServiceError::malformed("it is not UTF-8"));
            }
            searched_bytes = line_bytes;
            self.received.reserve(CHUNK_BYTES);
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return if line_bytes == 0 { Ok(None) } else { Err(ServiceError::Ended) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines_of(bytes: &[u8]) -> Vec<String> {
        let (near, mut far) = tokio::io::duplex(64);
        let read = async {
            let mut lines = Lines::new(near);
            let mut told = Vec::new();
            loop {
                match lines.next().await {
                    Ok(Some(line)) => told.push(line),
                    Ok(None) => return told,
                    Err(error) => {
                        told.push(format!("error: {error}"));
                        return told;
                    }
                }
            }
        };
        let write = async move {
            let _read_or_not = far.write_all(bytes).await;
            drop(far);
        };
        tokio::join!(read, write).0
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_are_cut() {
        let long = "x".repeat(1000);
        let text = format!("one\n\n{long}\nlast\n");
        assert_eq!(lines_of(text.as_bytes()).await, ["one", "", &long, "last"]);
        assert_eq!(lines_of(b"one\ntw").await, ["one", "error: the connection ended before the answer did"]);
        assert_eq!(lines_of(b"\xff\n").await, ["error: a message is not one of this protocol: it is not UTF-8"]);
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_refused_at_its_bound() {
        let longest = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(lines_of(&[&longest[..], b"\n"].concat()).await.len(), 1);
        let refused = "error: a message is longer than the 1048576 bytes allowed";
        assert_eq!(lines_of(&[&longest[..], b"xx"].concat()).await, [refused]);
        let (near, _far) = tokio::io::duplex(64);
        let sent = Lines::new(near).send(&"x".repeat(LINE_BYTES_MAX)).await;
        assert!(matches!(sent, Err(ServiceError::TooLong { .. })), "{sent:?}");
    }
}
