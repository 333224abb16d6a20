//! What the stand-in service sends.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// A response, with the pieces that its body comes in.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Vec<u8>>,
    is_stream: bool,
    /// How long it is waited before each piece.
    pause: Duration,
    is_coded: bool,
    /// How it ends.
    pub(crate) is_cut: bool,
}

impl Answer {
    /// One document.
    pub(crate) fn document(status: u16, document: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        let pieces = vec![document.to_string().into_bytes()];
        Self { status, headers, pieces, is_stream: false, pause: Duration::ZERO, is_coded: false, is_cut: false }
    }

    /// A stream of events. Pieces end where no event does: in the middle of every third one, and of a character in it.
    pub(crate) fn stream(events: &[String]) -> Self {
        let mut pieces = vec![Vec::new()];
        for (number, event) in events.iter().enumerate() {
            let middle = event.bytes().position(|byte| !byte.is_ascii()).map_or(event.len() / 2, |first| first + 1);
            let (now, later) = event.as_bytes().split_at(if number % 3 == 1 { middle } else { event.len() });
            pieces.last_mut().unwrap().extend_from_slice(now);
            pieces.push(later.to_vec());
        }
        pieces.retain(|piece| !piece.is_empty());
        let headers = vec![("content-type", "text/event-stream; charset=utf-8".to_owned())];
        Self { headers, pieces, is_stream: true, ..Self::document(200, &Value::Null) }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// With gzip, as no client asked for it.
    pub(crate) fn coded(self) -> Self {
        Self { is_coded: true, ..self }.with_header("content-encoding", "gzip")
    }

    pub(crate) fn slow(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The connection is closed after half of the pieces, in the middle of an event.
    pub(crate) fn cut(mut self) -> Self {
        self.pieces.truncate(self.pieces.len().div_ceil(2));
        let last = self.pieces.last_mut().unwrap();
        last.truncate(last.len() - 5);
        Self { is_cut: true, ..self }
    }

    /// The bytes of the body, as far as it comes and without coding.
    pub(crate) fn body(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// Sends it.
    #[expect(clippy::disallowed_methods, reason = "the service is no part of what is tested")]
    pub(crate) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Answer\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let coded = if self.is_coded { vec![gzip(&self.body())] } else { self.pieces.clone() };
        if self.is_stream {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
        } else {
            let length = coded.iter().map(Vec::len).sum::<usize>() + usize::from(self.is_cut);
            head.push_str(&format!("content-length: {length}\r\n\r\n"));
        }
        stream.write_all(head.as_bytes())?;
        for piece in coded {
            std::thread::sleep(self.pause);
            if self.is_stream {
                write!(stream, "{:x}\r\n", piece.len())?;
                stream.write_all(&piece)?;
                stream.write_all(b"\r\n")?;
            } else {
                stream.write_all(&piece)?;
            }
        }
        if self.is_stream && !self.is_cut {
            stream.write_all(b"0\r\n\r\n")?;
        }
        stream.flush()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
