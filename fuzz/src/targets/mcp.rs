//! Sessions of the Model Context Protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use windtunnel::env::Env;
use windtunnel::fixtures::cassette::{Cassette, Entry, Exchange, McpMessage, Sender};
use windtunnel::fixtures::matching::{Order, Rules};
use windtunnel::fixtures::mcp::{McpOptions, McpServer};
use windtunnel::fixtures::redaction;
use windtunnel::json::{Bounds, parse};

/// Whatever a client writes, a recorded server reacts at once, with lines of JSON: it answers nothing that was not asked, and
/// leaves only those requests open that were recorded, or that are in a batch. The first byte is the mode; a line that begins
/// with `C` or `S` is what was recorded of the client or of the server, any other is what the client writes now.
pub fn mcp(bytes: &[u8]) {
    let Some((mode, lines)) = bytes.split_first() else { return };
    let (mut cassette, mut written) = (Cassette::default(), Vec::new());
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match recorded(line) {
            Some(message) => cassette.entries.push(Entry::new(Exchange::Mcp(message))),
            None => written.extend_from_slice(line),
        }
    }
    let order = [Order::Strict, Order::Keyed, Order::Repeated][usize::from(mode % 3)];
    // Redaction is slow here, and is no business of a session's.
    let redaction = if *mode < 0xf0 { redaction::Rules::none() } else { redaction::Rules::default() };
    let rules = Rules { order, ignored: Vec::new(), redaction };
    let messages = cassette.entries.iter().filter_map(|entry| match &entry.exchange {
        Exchange::Mcp(McpMessage { from, message }) => Some((*from, message.clone())),
        _ => None,
    });
    let (said, spoken): (Vec<_>, Vec<_>) = messages.partition(|(from, _)| *from == Sender::Client);
    let recorded_requests = said.iter().filter(|(_, message)| is_request(message)).count();

    let server = McpServer::new(Arc::new(cassette), Env::system(), McpOptions { rules, ..McpOptions::default() });
    let mut heard = Vec::new();
    let served = server.serve_lines(&written[..], &mut heard).now_or_never();
    assert!(matches!(served, Some(Ok(()))), "{served:?}");
    let unfinished = server.finish().map_err(|unfinished| unfinished.to_string());

    let (mut open, batched) = requests(&written);
    let asked: usize = open.values().sum();
    let mut others = 0;
    for line in String::from_utf8_lossy(&heard).lines() {
        let message = parse(line, Bounds::DEFAULT).unwrap();
        match message.get("id") {
            Some(Value::Null) => {}
            Some(id) if message.get("method").is_none() => {
                let open = open.entry(id.to_string()).or_default();
                assert!(*open > 0, "an answer to nothing: {line}\n{unfinished:?}");
                *open -= 1;
            }
            _ => others += 1,
        }
    }
    let unanswered: usize = open.values().sum();
    assert!(unanswered <= recorded_requests + batched, "of {asked} requests {unanswered} wait: {unfinished:?}");
    assert!(others <= spoken.len());
}

/// A message that was recorded.
fn recorded(line: &[u8]) -> Option<McpMessage> {
    let (from, text) = match line.split_first()? {
        (b'C', text) => (Sender::Client, text),
        (b'S', text) => (Sender::Server, text),
        _ => return None,
    };
    let message = parse(std::str::from_utf8(text).ok()?, Bounds::DEFAULT).ok()?;
    Some(McpMessage { from, message })
}

fn is_request(message: &Value) -> bool {
    message.get("method").is_some_and(Value::is_string)
        && message.get("id").is_some_and(|id| id.is_string() || id.is_number())
}

/// How many requests with each id are written, and how many of all are in batches: one is refused as a whole.
fn requests(written: &[u8]) -> (BTreeMap<String, usize>, usize) {
    let (mut open, mut batched) = (BTreeMap::<String, usize>::new(), 0);
    for line in written.split(|byte| *byte == b'\n') {
        let text = std::str::from_utf8(line).ok();
        let Some(value) = text.and_then(|text| parse(text, Bounds::DEFAULT).ok()) else { continue };
        let messages = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        for message in messages.iter().filter(|message| is_request(message)) {
            *open.entry(message["id"].to_string()).or_default() += 1;
            batched += usize::from(value.is_array());
        }
    }
    (open, batched)
}
