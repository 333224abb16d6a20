//! Reports of many runs.

use std::fs;

use serde_json::json;
use windtunnel_fixtures::cassette::{
    Body, Cassette, End, Entry, Exchange, Frame, HttpExchange, HttpRequest, HttpResponse, save,
};

use crate::reports::Folder;

pub(crate) fn a_sweep() {
    let folder = Folder::new("sweep");
    let kinds = "tool.lose_acknowledgment,tool.duplicate,host.crash,network.reset";
    let case = ["--case", "the-bank-knows-no-keys", "--kinds", kinds, "--pairs", "10"];
    let page = folder.open(&[&["sweep", "refund_on_hosts.toml"][..], &case].concat());
    page.picture("sweep.png");
    assert_eq!(page.text("#badge"), "✕ failed");
    assert!(
        page.text("#commands code").contains(" --recipe '{\"seed\":0,\"faults\":["),
        "{}",
        page.text("#commands code")
    );
    let snippets = page.texts("#snippets summary");
    assert_eq!(snippets, ["Minimal plan of faults", "As a case"]);
    let kinds = page.texts(".matrix tbody th");
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    let failed = page.evaluate("document.querySelectorAll('.matrix td.failed').length").as_u64().unwrap();
    assert!(failed > 0, "no cell failed");
    page.evaluate("document.querySelector('.matrix').scrollIntoView()");
    page.settle();
    page.picture("sweep_matrix.png");
    page.assert_is_sound();
}

pub(crate) fn seeds() {
    let folder = Folder::new("seeds");
    let page = folder.open(&["run", "refund_on_hosts.toml", "--case", "anything-goes-wrong", "--seeds", "0..60"]);
    let captions = page.texts("#campaigns caption");
    for wanted in ["Outcomes", "Faults that came", "Assertions", "Slowest seeds, in virtual time"] {
        assert!(captions.iter().any(|caption| caption == wanted), "{wanted}: {captions:?}");
    }
    let charts = page.texts("#campaigns figcaption");
    assert!(charts.iter().any(|chart| chart.starts_with("Latency of a call")), "{charts:?}");
    // The slowest seed has a timeline.
    page.click("#campaigns tbody button.link");
    assert!(page.evaluate("location.hash").as_str().unwrap().starts_with("#run-"));
    page.evaluate("document.getElementById('campaigns').scrollIntoView()");
    page.settle();
    page.picture("seeds.png");
    page.assert_is_sound();
}

pub(crate) fn cases() {
    let folder = Folder::new("cases");
    let failing = r#"{"id": "pays twice", "tools": [{"name": "pay", "retries": 1, "script": [{"fail": "busy"}]}],
        "calls": [{"name": "pay"}], "always": [{"name": "once", "that": "size(invocations) <= 1"}]}"#;
    fs::write(folder.path.join("failing.json"), failing).unwrap();
    let page = folder.open(&["check", "flaky_billing.toml", "failing.json"]);
    page.picture("cases.png");
    let rows = page.texts("#campaigns tbody tr");
    assert!(rows.iter().any(|row| row.contains("pays twice") && row.contains("✕ failed")), "{rows:?}");
    // What failed is what is shown.
    assert!(page.text("#failures").contains("\"once\": is false"), "{}", page.text("#failures"));
    page.assert_is_sound();
}

pub(crate) fn a_server() {
    let folder = Folder::new("server");
    let body = Some(Body::Json(json!({"model": "claude-x"})));
    let (method, path, upstream) = ("POST".to_owned(), "/v1/messages".to_owned(), "anthropic".to_owned());
    let request = HttpRequest { method, path, query: Vec::new(), headers: Vec::new(), body };
    let frames = vec![Frame { at_us: 0, bytes: b"{}".to_vec() }];
    let response = HttpResponse { status: 200, headers: Vec::new(), head_us: 0, frames, end: End::Clean, end_us: 0 };
    let exchange = Exchange::Http(HttpExchange { upstream, request, response });
    let cassette = Cassette { entries: vec![Entry::new(exchange)], ..Cassette::default() };
    save(folder.path.join("c.json"), &cassette).unwrap();
    let asked = r#"python3 -c "
import os, urllib.request, urllib.error
try:
    urllib.request.urlopen(urllib.request.Request(os.environ['WINDTUNNEL_URL'] + '/anthropic/v1/messages', data=b'{\"model\": \"claude-y\"}', headers={'content-type': 'application/json'}))
except urllib.error.HTTPError:
    pass
""#;
    let page = folder.open(&["serve", "c.json", "--", "sh", "-c", asked]);
    assert_eq!(page.texts("#hosts li span")[0], "anthropic");
    assert!(page.text("#failures").contains("claude-y"), "{}", page.text("#failures"));
    let facts = page.text("#campaigns .tiles");
    assert!(facts.contains("requests"), "{facts}");
    page.assert_is_sound();
}
