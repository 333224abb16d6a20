//! What is tried with each client.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::Value;
use windtunnel_fixtures::cassette::{Cassette, Exchange, HttpExchange, load};

use crate::client::Client;
use crate::expectation::check;
use crate::fetch::{Fetched, bytes, fetch};
use crate::scene::ACCOUNT;
use crate::session::{KEYS, Session};
use crate::upstream::{Exchanged, Upstream};

/// All scenes: recorded, replayed to the client with other keys, and compared byte for byte.
pub(crate) fn round(client: Client) {
    let session = Session::new(client, "round");
    let upstream = Upstream::start();
    let recorded = session.record(&upstream, &[]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.text);
    assert_eq!(recorded.seen.len(), client.scenes(), "{}", recorded.text);
    recorded.seen.iter().for_each(|seen| check(client, seen));

    let exchanges = upstream.exchanges();
    assert_secrets_passed_and_are_not_kept(client, &session, &exchanges, &recorded.text);
    let replayed = session.serve(&[], &[]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.text);
    assert_same(&recorded.seen, &replayed.seen);
    assert_eq!(upstream.exchanges().len(), exchanges.len(), "the replay asked the service");
    assert_bytes_are_served(&session, exchanges);
}

/// Something that was not recorded, instead of what was.
pub(crate) fn miss(client: Client) {
    let session = Session::new(client, "miss");
    let upstream = Upstream::start();
    let recorded = session.record(&upstream, &["plain", "stream"]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.text);
    let asked = upstream.exchanges().len();

    let replayed = session.serve(&[], &["unknown", "unknown stream"]);
    assert_eq!(replayed.code, Some(1), "{}", replayed.text);
    assert!(!replayed.seen.is_empty(), "{}", replayed.text);
    for seen in &replayed.seen {
        let error = seen["error"]["text"].as_str().unwrap_or_default();
        for said in ["replay mismatch", "was recorded with another content", "scene: unknown", "scene: plain"] {
            assert!(error.contains(said), "{seen}");
        }
    }
    let misses = replayed.seen.len() as u64 * (1 + client.obstinacy());
    let told = format!("{misses} calls were not recorded, {asked} entries were not consumed");
    assert!(replayed.text.contains(&told), "{}", replayed.text);
}

/// A stream with pauses, replayed with them.
pub(crate) fn timing(client: Client) {
    let session = Session::new(client, "timing");
    let recorded = session.record(&Upstream::start(), &["timed stream"]);
    assert_eq!((recorded.code, &recorded.seen[0]["is_slow"]), (Some(0), &Value::Bool(true)), "{}", recorded.text);
    let replayed = session.serve(&["--timing", "recorded"], &["timed stream"]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.text);
    assert_same(&recorded.seen, &replayed.seen);
}

fn assert_same(recorded: &[Value], replayed: &[Value]) {
    for (recorded, replayed) in recorded.iter().zip(replayed) {
        assert_eq!(recorded, replayed);
    }
    assert_eq!(recorded.len(), replayed.len());
}

fn assert_secrets_passed_and_are_not_kept(client: Client, session: &Session, exchanges: &[Exchanged], printed: &str) {
    let read = |name: &str| fs::read_to_string(session.folder.path.join(name)).unwrap();
    let kept = [read("c.json"), read("kept.partial"), printed.to_owned()];
    let headers = exchanges.iter().flat_map(|exchanged| exchanged.headers.values());
    let sent = headers.cloned().collect::<Vec<_>>().join("\n");
    let mut passed = 0;
    for secret in KEYS.0.map(|(_, secret)| secret).into_iter().chain([ACCOUNT]) {
        passed += usize::from(sent.contains(secret));
        assert!(!kept.iter().any(|text| text.contains(secret)), "{secret} is kept");
    }
    assert_eq!(passed, client.secrets(), "not all keys came to the service");
}

/// Each recorded exchange, asked for once more without any client, is what the service sent.
fn assert_bytes_are_served(session: &Session, mut exchanges: Vec<Exchanged>) {
    let cassette: Cassette = load(session.folder.path.join("c.json")).unwrap();
    let mut server = session.serving();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    for entry in &cassette.entries {
        let Exchange::Http(HttpExchange { upstream, request, .. }) = &entry.exchange else { continue };
        let body: Option<Value> = serde_json::from_slice(&bytes(request.body.as_ref())).ok();
        let is_this = |sent: &Exchanged| {
            (&sent.method, &sent.path) == (&request.method, &request.path)
                && serde_json::from_slice(&sent.request).ok() == body
        };
        let sent = exchanges.remove(exchanges.iter().position(is_this).unwrap());
        let Exchanged { status, response: body, is_cut, .. } = sent;
        assert_eq!(fetch(address, upstream, request), Fetched { status, body, is_cut }, "{}", request.path);
    }
    assert!(exchanges.is_empty(), "{} exchanges are not in the cassette", exchanges.len());
    let stopped = Command::new("kill").arg(server.id().to_string()).stdout(Stdio::null()).status().unwrap();
    assert!(stopped.success());
    out.read_to_string(&mut line).unwrap();
    assert!(server.wait().unwrap().success(), "{line}");
}
