//! What recorded traffic costs: matching calls with entries, reading and writing cassettes, redacting and reading bodies.
//!
//! These machines are noisy: of several rounds the median is given. What is named on the command line is measured, or
//! everything: `cargo bench --bench fixtures -- matching`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports and stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock")]

#[path = "fixtures/bodies.rs"]
mod bodies;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use windtunnel::fixtures::cassette::{
    Body, Cassette, End, Entry, Exchange, Frame, HttpExchange, HttpRequest, HttpResponse, Outcome, ToolExchange, load,
    save,
};
use windtunnel::fixtures::matching::{Call, Matcher, Order, Rules};
use windtunnel::fixtures::redaction::{self, Redactor};
use windtunnel::fixtures::wire::{Dialect, EventParser, Reader, View};

const ROUNDS: usize = 3;
const ENTRIES: usize = 1_000_000;
const MIB: usize = 1024 * 1024;
/// The bodies that are redacted.
const BODY_MIB: usize = 16;

type Part = (&'static str, fn());

fn main() {
    let parts: [Part; 4] = [("matching", matching), ("files", files), ("redaction", redaction), ("reading", reading)];
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, measure) in parts {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            measure();
        }
    }
}

/// The median time of a round in seconds. What `prepare` makes is not measured.
fn seconds<T, R>(mut prepare: impl FnMut() -> T, mut measured: impl FnMut(T) -> R) -> f64 {
    let mut seconds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let prepared = prepare();
            let start = Instant::now();
            let result = black_box(measured(prepared));
            let seconds = start.elapsed().as_secs_f64();
            drop(result);
            seconds
        })
        .collect();
    seconds.sort_unstable_by(f64::total_cmp);
    seconds[ROUNDS / 2]
}

fn arguments(number: usize) -> Value {
    json!({"order_id": format!("ORD-{number}"), "limit": 5})
}

fn tools(count: usize) -> Cassette {
    let entry = |number| {
        let (name, arguments, outcome) =
            ("look_up".to_owned(), arguments(number), Outcome::Output(json!({"ok": true})));
        Entry::new(Exchange::Tool(ToolExchange { name, arguments, after_us: 100, outcome }))
    };
    Cassette { entries: (0..count).map(entry).collect(), ..Cassette::default() }
}

/// Calls a second that find their entry, of small calls of a tool.
fn matching() {
    let cassette = Arc::new(tools(ENTRIES));
    let calls: Vec<Value> = (0..ENTRIES).map(arguments).collect();
    for (redacted, redaction) in [("nothing", redaction::Rules::none()), ("the default", redaction::Rules::default())] {
        for order in [Order::Strict, Order::Keyed] {
            let rules = Rules { order, redaction: redaction.clone(), ..Rules::default() };
            let matcher = || Matcher::new(Arc::clone(&cassette), rules.clone());
            let made = seconds(|| (), |()| matcher());
            let taken = seconds(matcher, |mut matcher| {
                for arguments in &calls {
                    matcher.take(None, Call::Tool { name: "look_up", arguments }).unwrap();
                }
                matcher.finish().unwrap();
                matcher
            });
            let rate = |seconds: f64| ENTRIES as f64 / seconds;
            println!(
                "matching, {order:?}, {redacted} redacted: {:9.0} entries/s built {:9.0} calls/s answered",
                rate(made),
                rate(taken)
            );
        }
    }
}

/// Megabytes a second of cassettes on the disk: of many small entries, and of streams.
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let streams = |count: usize| {
        let entry = |number: usize| http(bodies::json(4096), bodies::stream(16 * 1024 + number % 7));
        Cassette { entries: (0..count).map(entry).collect(), ..Cassette::default() }
    };
    for (name, cassette) in [("small tool calls", tools(ENTRIES / 5)), ("streams", streams(2_000))] {
        let path = folder.path().join("c.json");
        let bytes = cassette.to_json().len();
        let text = seconds(|| (), |()| cassette.to_json());
        let saved = seconds(|| (), |()| save(&path, &cassette).unwrap());
        let loaded = seconds(|| (), |()| load(&path).unwrap());
        let rate = |seconds: f64| bytes as f64 / seconds / 1e6;
        println!(
            "cassette of {:.0} MB of {name}: {:6.1} MB/s to text {:6.1} MB/s saved {:6.1} MB/s loaded",
            bytes as f64 / 1e6,
            rate(text),
            rate(saved),
            rate(loaded)
        );
    }
}

/// An exchange with these bodies, the answer in pieces of 64 bytes.
fn http(request: Vec<u8>, response: Vec<u8>) -> Entry {
    let frames = response.chunks(64).map(Frame::new).collect();
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/v1/chat/completions".to_owned(),
        query: Vec::new(),
        headers: vec![("authorization".to_owned(), format!("Bearer {}", bodies::SECRET))],
        body: Body::from_bytes(&request),
    };
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let response = HttpResponse { status: 200, headers, head_us: 0, frames, end: End::Clean, end_us: 0 };
    Entry::new(Exchange::Http(HttpExchange { upstream: "openai".to_owned(), request, response }))
}

/// Megabytes a second that are redacted, and how much slower it is when the body is four times as long: 1.0 is linear.
fn redaction() {
    for (name, make) in bodies::ALL {
        let redact = |bytes: usize| {
            let prepare = || (Redactor::new(redaction::Rules::default()), http(b"{}".to_vec(), make(bytes)));
            let taken = seconds(prepare, |(mut redactor, mut entry)| {
                // What is refused has been searched as well.
                let outcome = redactor.entry(0, &mut entry).is_ok();
                (redactor, entry, outcome)
            });
            taken / (bytes as f64 / MIB as f64)
        };
        let mut bytes = MIB / 4;
        let mut per_mib = redact(bytes);
        let mut growth = 1.0;
        while bytes < BODY_MIB * MIB && per_mib < 5.0 {
            bytes *= 4;
            let next = redact(bytes);
            growth = next / per_mib;
            per_mib = next;
        }
        let rate = MIB as f64 / 1e6 / per_mib;
        println!("redaction of {:5.2} MiB of {name:32} {rate:7.2} MB/s, × {growth:.2}", bytes as f64 / MIB as f64);
    }
}

/// Megabytes a second of streams that are read.
fn reading() {
    let body = bodies::stream(BODY_MIB * MIB);
    let rate = |seconds: f64| body.len() as f64 / seconds / 1e6;
    let events = seconds(Vec::new, |mut events| {
        let mut parser = EventParser::default();
        body.chunks(1400).for_each(|piece| parser.push(piece, &mut events).unwrap());
        events
    });
    let deltas = seconds(
        || Reader::new(Dialect::OpenAiChat),
        |mut reader| body.chunks(1400).map(|piece| reader.push(piece).len()).sum::<usize>(),
    );
    let frames: Vec<_> = body.chunks(1400).map(Frame::new).collect();
    let response = HttpResponse { status: 200, headers: Vec::new(), head_us: 0, frames, end: End::Clean, end_us: 0 };
    let view = seconds(|| (), |()| View::of_response(Dialect::OpenAiChat, &response));
    println!(
        "reading a stream: {:6.1} MB/s of events {:6.1} MB/s of deltas {:6.1} MB/s of a view",
        rate(events),
        rate(deltas),
        rate(view)
    );
}
