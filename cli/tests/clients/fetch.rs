//! Asking a server for the bytes that it sends, without any library.

use std::io::{Read, Write};
use std::net::TcpStream;

use windtunnel_fixtures::cassette::{Body, HttpRequest};

/// A response as it came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Whether it ended before it was complete.
    pub(crate) is_cut: bool,
}

/// Asks what was recorded once more.
pub(crate) fn fetch(address: &str, service: &str, request: &HttpRequest) -> Fetched {
    let HttpRequest { method, path, query, headers, body } = request;
    assert!(query.is_empty(), "no client here asks with a query");
    let body = bytes(body.as_ref());
    let mut stream = TcpStream::connect(address).unwrap();
    let mut head = format!("{method} /{service}{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(&[head.as_bytes(), &body].concat()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    parsed(&response)
}

/// The bytes of a recorded body.
pub(crate) fn bytes(body: Option<&Body>) -> Vec<u8> {
    match body {
        None => Vec::new(),
        Some(Body::Json(value)) => value.to_string().into_bytes(),
        Some(Body::Text(text)) => text.clone().into_bytes(),
        Some(Body::Base64(bytes)) => bytes.clone(),
    }
}

fn parsed(response: &[u8]) -> Fetched {
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(response[..end].to_vec()).unwrap().to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = &response[end + 4..];
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    match length {
        Some(length) => {
            let is_cut = body.len() < length.parse().unwrap();
            Fetched { status, body: body.to_vec(), is_cut }
        }
        None => {
            assert!(head.contains("transfer-encoding: chunked"), "{head}");
            let (body, is_cut) = without_chunks(body);
            Fetched { status, body, is_cut }
        }
    }
}

/// The bytes of chunks, and whether the last one is missing.
fn without_chunks(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|bytes| bytes == b"\r\n") {
        let length = usize::from_str_radix(str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return (body, false);
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
    (body, true)
}
