//! Redaction.

use windtunnel::fixtures::cassette::{
    Body, Cassette, End, Entry, Exchange, Frame, HttpExchange, HttpRequest, HttpResponse,
};
use windtunnel::fixtures::redaction::{Rules, lint, redact};

/// What is redacted has no secret that is found, and stays as it is when it is redacted again. What cannot be redacted is
/// refused. The first byte says how long the pieces are.
pub fn redaction(bytes: &[u8]) {
    let Some((size, body)) = bytes.split_first() else { return };
    let frames = body.chunks(usize::from(*size).max(1)).map(Frame::new).collect();
    let text = String::from_utf8_lossy(body);
    let headers = vec![("authorization".to_owned(), text.chars().take(40).collect())];
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/v1".to_owned(),
        query: vec![("key".to_owned(), text.chars().rev().take(20).collect())],
        headers,
        body: Body::from_bytes(body),
    };
    let response = HttpResponse { status: 200, headers: Vec::new(), head_us: 0, frames, end: End::Clean, end_us: 0 };
    let exchange = Exchange::Http(HttpExchange { upstream: "service".to_owned(), request, response });
    let mut cassette = Cassette { entries: vec![Entry::new(exchange)], ..Cassette::default() };
    if redact(&mut cassette, Rules::default()).is_err() {
        return;
    }
    assert_eq!(lint(&cassette), [], "in\n{}", cassette.to_json());
    let mut again = cassette.clone();
    assert_eq!(redact(&mut again, Rules::default()), Ok(()));
    assert_eq!(again, cassette, "redacted once:\n{}\ntwice:\n{}", cassette.to_json(), again.to_json());
}
