//! JSON over HTTP to the browser's driver, without any library.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

/// Asks the driver on a port. Gives the `value` of its answer.
pub(crate) fn ask(port: u16, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let failed = |error: std::io::Error| format!("{method} {path}: {error}");
    let stream = TcpStream::connect(("127.0.0.1", port)).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(failed)?;
    (&stream).write_all(&[head.as_bytes(), body.as_bytes()].concat()).map_err(failed)?;
    let mut answer = read(BufReader::new(stream)).map_err(failed)?;
    match &answer["value"]["error"] {
        Value::String(error) => Err(format!("{error}: {}", answer["value"]["message"])),
        _ => Ok(answer["value"].take()),
    }
}

/// The body of a response. The driver keeps its connections open.
fn read(mut stream: impl BufRead) -> std::io::Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    serde_json::from_slice(&body).map_err(std::io::Error::other)
}

/// A body without anything in it.
pub(crate) fn nothing() -> Value {
    json!({})
}
