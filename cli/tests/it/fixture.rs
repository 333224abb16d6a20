//! `windtunnel fixture`: files of recorded traffic, shown, compared, checked and changed.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::command::Folder;

const KEY: &str = "sk-proj-Zq81nVtT0cXk2mYw7RbLd94HsUeGa6Pf";

/// A cassette with a model's stream, a tool that fails and a message.
fn cassette(text: &str, call: &str) -> Value {
    let first = format!("data: {{\"model\": \"m-1\", \"choices\": [{{\"delta\": {{\"content\": \"{text}\"}}}}]}}\n\n");
    let last = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n";
    json!({"windtunnel_cassette": 1, "description": "a refund", "entries": [
        {"exchange": {"http": {
            "upstream": "openai",
            "request": {"method": "POST", "path": "/v1/chat/completions", "query": [["tag", "a\u{1b}[31m"]],
                "headers": [["content-type", "application/json"]], "body": {"json": {"stream": true}}},
            "response": {"status": 200, "headers": [["content-type", "text/event-stream"]], "head_us": 1500,
                "frames": [[2000, first], [3000, last]], "end_us": 3100},
        }}},
        {"lane": "tools", "started_us": 4000, "exchange": {"tool": {"name": call, "arguments": {"id": 7}, "after_us": 12,
            "outcome": {"failure": {"kind": "timeout", "message": "gone"}}}}},
        {"lane": "session", "started_us": 5000, "exchange": {"mcp": {"from": "client",
            "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}}},
    ]})
}

fn folder(test: &str) -> Folder {
    let old = cassette("paid", "refund").to_string();
    let new = cassette("paid twice", "notify").to_string();
    Folder::new(test, &[("old.json", &old), ("new.json", &new)])
}

#[test]
fn entries_are_shown_on_a_line_each() {
    let folder = folder("fixture_show");
    let ended = folder.run(&["fixture", "show", "old.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @"
    a refund
    entry  lane     start     kind  name                              status  outcome          bytes  duration
    0      main     0.000 ms  http  POST openai /v1/chat/completions  200     stop             144    3.100 ms
    1      tools    4.000 ms  tool  refund                            failed  timeout                 0.012 ms
    2      session  5.000 ms  mcp   ping of the client                ok      from the client
    3 entries, 0 tools, 0 placeholders
    ");
    let ended = folder.run(&["fixture", "show", "old.json", "--format", "json"]);
    assert_snapshot!(ended.out, @r#"
    {"entry":0,"lane":"main","started_us":0,"kind":"http","name":"POST openai /v1/chat/completions","status":"200","outcome":"stop","bytes":144,"duration_us":3100}
    {"entry":1,"lane":"tools","started_us":4000,"kind":"tool","name":"refund","status":"failed","outcome":"timeout","bytes":null,"duration_us":12}
    {"entry":2,"lane":"session","started_us":5000,"kind":"mcp","name":"ping of the client","status":"ok","outcome":"from the client","bytes":null,"duration_us":null}
    "#);
}

#[test]
fn an_entry_is_shown_with_all_that_it_says() {
    let folder = folder("fixture_entry");
    let ended = folder.run(&["fixture", "show", "old.json", "--entry", "0"]);
    assert!(!ended.out.contains('\u{1b}'), "nothing of a recording reaches the terminal as it is");
    assert_snapshot!(ended.out, @r#"
    entry 0 of lane "main": http "POST openai /v1/chat/completions"
    began at 0.000 ms, took 3.100 ms
    request
      POST openai /v1/chat/completions
      ?tag=a\u001b[31m
      content-type: application/json
      {
        "json": {
          "stream": true
        }
      }
    response
      status 200 at 1.500 ms
      content-type: text/event-stream
      frame at 2.000 ms, 69 bytes: "data: {\"model\": \"m-1\", \"choices\": [{\"delta\": {\"content\": \"paid\"}}]}\n\n"
      frame at 3.000 ms, 75 bytes: "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n"
      end: clean at 3.100 ms
    what it says
      dialect: openai-chat
      completeness: complete
      model: m-1
      text: paid
      calls: []
      has_reasoning: false
      finish_reason: stop
    "#);
    let ended = folder.run(&["fixture", "show", "old.json", "--entry", "1"]);
    assert_snapshot!(ended.out, @r#"
    entry 1 of lane "tools": tool "refund"
    began at 4.000 ms, took 0.012 ms
    {
      "tool": {
        "name": "refund",
        "arguments": {
          "id": 7
        },
        "after_us": 12,
        "outcome": {
          "failure": {
            "kind": "timeout",
            "message": "gone",
            "retryable": false
          }
        }
      }
    }
    "#);
    let ended = folder.run(&["fixture", "show", "old.json", "--entry", "0", "--format", "json"]);
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&document["says"]["text"], &document["exchange"]["http"]["upstream"]),
        (&json!("paid"), &json!("openai"))
    );
    let ended = folder.run(&["fixture", "show", "old.json", "--entry", "3"]);
    assert_eq!(ended.code, Some(2));
    assert_snapshot!(ended.err, @"error: old.json: there is no entry 3, only 3 from 0 on");
}

#[test]
fn what_differs_is_told_entry_by_entry() {
    let folder = folder("fixture_diff");
    let ended = folder.run(&["fixture", "diff", "old.json", "new.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    entry 0 of lane "main", http "POST openai /v1/chat/completions":
      $.http.response.says.text: expected "paid", found "paid twice"
    entry 1 of lane "tools", tool "refund" is gone
    entry 1 of lane "tools", tool "notify" is new
    3 entries or tools differ
    "#);
    let ended = folder.run(&["fixture", "diff", "old.json", "old.json"]);
    assert_eq!((ended.code, &*ended.out), (Some(0), "they say the same\n"));
}

#[test]
fn times_and_pieces_are_compared_only_if_asked() {
    let mut later = cassette("paid", "refund");
    later["entries"][0]["exchange"]["http"]["response"]["end_us"] = 9_000.into();
    let frames = &mut later["entries"][0]["exchange"]["http"]["response"]["frames"];
    let joined = format!("{}{}", frames[0][1].as_str().unwrap(), frames[1][1].as_str().unwrap());
    *frames = json!([[2_000, joined]]);
    let folder = Folder::new(
        "fixture_timing",
        &[("old.json", &cassette("paid", "refund").to_string()), ("new.json", &later.to_string())],
    );
    assert_eq!(folder.run(&["fixture", "diff", "old.json", "new.json"]).code, Some(0));
    let ended = folder.run(&["fixture", "diff", "old.json", "new.json", "--timing"]);
    assert!(ended.out.contains("$.http.response.end_us: expected 3100, found 9000"), "{}", ended.out);
    let ended = folder.run(&["fixture", "diff", "old.json", "new.json", "--bytes"]);
    assert!(ended.code == Some(1) && ended.out.contains("$.http.response.frames[0]"), "{}", ended.out);
}

#[test]
fn secrets_and_damage_are_found_and_no_secret_is_printed() {
    let mut leaky = cassette("paid", "refund");
    leaky["entries"][1]["exchange"]["tool"]["arguments"] = json!({"note": format!("use {KEY}")});
    leaky["entries"][0]["exchange"]["http"]["response"]["end"] = "cut".into();
    leaky["entries"][0]["exchange"]["http"]["response"]["frames"].as_array_mut().unwrap().pop();
    let mut unknown = cassette("paid", "refund");
    unknown["entries"][2]["surprise"] = true.into();
    let files = [
        ("clean.json", cassette("paid", "refund").to_string()),
        ("leaky.json", leaky.to_string()),
        ("unknown.json", unknown.to_string()),
        ("other.json", "{\"a\": 1}".to_owned()),
    ];
    let folder = Folder::new("fixture_lint", &files.each_ref().map(|(name, text)| (*name, &**text)));
    let ended = folder.run(&["fixture", "lint", "clean.json", "leaky.json", "unknown.json", "other.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert!(!ended.out.contains("Zq81nVtT"), "{}", ended.out);
    assert_snapshot!(ended.out, @"
    leaky.json: $.entries[1].exchange.tool.arguments: byte 13: this looks like a secret (secret-key)
    leaky.json: $.entries[0].exchange.http.response: the response broke off before it was complete (cut)
    unknown.json: $.entries[2].surprise: unknown field `surprise`, expected one of `lane`, `started_us`, `exchange` (format)
    other.json: $: this is no cassette: the member `windtunnel_cassette` with the version of its format is missing (format)
    4 findings in 4 files
    ");
    let ended = folder.run(&["fixture", "lint", "clean.json"]);
    assert_eq!((ended.code, &*ended.out), (Some(0), "nothing was found in 1 files\n"));
    let ended = folder.run(&["fixture", "lint", "leaky.json", "--format", "json"]);
    assert!(ended.out.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["file"] == "leaky.json"));
    assert_eq!(folder.run(&["fixture", "lint", "absent.json"]).code, Some(2));

    let ended = folder.run(&["fixture", "redact", "leaky.json", "--out", "safe.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @"
    $.entries[1].exchange.tool.arguments: redacted-api-key-1 (secret-key)
    1 new placeholders
    ");
    let safe = std::fs::read_to_string(folder.path.join("safe.json")).unwrap();
    assert!(safe.contains("redacted-") && !safe.contains("Zq81nVtT"), "{safe}");
    assert!(std::fs::read_to_string(folder.path.join("leaky.json")).unwrap().contains(KEY), "the file is as it was");
}

const VCR: &str = "version: 1\ninteractions:\n- request: {method: GET, uri: 'https://api.openai.com/v1/models', headers: {}, \
                   body: null}\n  response: {status: {code: 200, message: OK}, headers: {}, body: {string: none}}\n";

#[test]
fn recordings_of_other_tools_are_taken_over_and_given_back() {
    let aborted = json!({"log": {"entries": [
        {"request": {"url": "http://x/"}, "response": {"status": 0}},
    ]}});
    let files = [("a.yaml", VCR), ("b.json", &*aborted.to_string()), ("c.txt", "?"), ("d.yml", "a: !!python/none x\n")];
    let folder = Folder::new("fixture_import", &files);
    let ended = folder.run(&["fixture", "import", "a.yaml", "--out", "a.json"]);
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "1 entries in a.json, 0 placeholders\n", ""));
    let again = folder.run(&["fixture", "import", "a.yaml", "-o", "a.json"]);
    assert_eq!((again.code, &*again.err), (Some(2), "error: a.json is there already\n"));

    let ended = folder.run(&["fixture", "export", "a.json", "--to", "har", "-o", "a.har"]);
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "1 entries in a.har\n", ""));
    let ended = folder.run(&["fixture", "import", "a.har"]);
    assert_eq!((ended.code, ended.out), (Some(0), std::fs::read_to_string(folder.path.join("a.json")).unwrap()));

    let ended = folder.run(&["fixture", "import", "b.json"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.err, @"b.json: entry 0 is not taken over: it has no response: it was aborted, blocked or failed");
    let ended = folder.run(&["fixture", "import", "c.txt"]);
    assert_eq!(ended.code, Some(2));
    assert_snapshot!(ended.err, @"error: c.txt: neither its name nor its content says of which tool it is: add --from");
    let ended = folder.run(&["fixture", "import", "d.yml"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.starts_with("error: d.yml: line 1, $: as YAML: the tag `!!python/none` "), "{}", ended.err);
}

#[test]
fn entries_that_har_cannot_hold_are_told() {
    let ended = folder("fixture_export").run(&["fixture", "export", "old.json", "--to", "har"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.err, @"
    old.json: entry 1 is no exchange over HTTP, and left out
    old.json: entry 2 is no exchange over HTTP, and left out
    ");
    assert!(ended.out.starts_with("{\n  \"log\""));
}

#[test]
fn an_upgrade_writes_the_newest_form_once() {
    let log = "{\"windtunnel_cassette_log\":1}\n{\"entry\":[0,{\"exchange\":{\"mcp\":{\"from\":\"client\",\"message\":{}}}}]}\n{\"ent";
    let old = cassette("paid", "refund").to_string();
    let folder = Folder::new("fixture_upgrade", &[("old.json", &old), ("cut.json.partial", log)]);
    let shown = folder.run(&["fixture", "show", "cut.json.partial"]);
    assert!(shown.out.contains("1 entries, 0 tools, 0 placeholders"), "{}{}", shown.out, shown.err);
    let ended = folder.run(&["fixture", "upgrade", "old.json", "cut.json.partial"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.out, "old.json: written in the newest form\ncut.json.partial: 1 entries are now in cut.json\n");
    let before = std::fs::read(folder.path.join("old.json")).unwrap();
    let ended = folder.run(&["fixture", "upgrade", "old.json", "cut.json"]);
    assert_eq!(ended.out, "old.json: nothing to do\ncut.json: nothing to do\n");
    assert_eq!(std::fs::read(folder.path.join("old.json")).unwrap(), before);
    assert!(!folder.path.join("cut.json.partial").exists());
}

#[test]
fn what_tests_found_is_accepted() {
    let folder = Folder::new("fixture_accept", &[("a.json", "old"), ("a.json.new", "new"), ("b.json", "kept")]);
    std::fs::create_dir(folder.path.join("deep")).unwrap();
    std::fs::write(folder.path.join("deep/c.json.new"), "first").unwrap();
    let ended = folder.run(&["fixture", "accept", "--list", "."]);
    assert_eq!((ended.code, &*ended.out), (Some(1), "./a.json\n./deep/c.json\n"));
    let ended = folder.run(&["fixture", "accept", "a.json", "b.json"]);
    assert_eq!((ended.code, &*ended.out), (Some(0), "a.json: accepted\n"));
    assert_eq!(std::fs::read_to_string(folder.path.join("a.json")).unwrap(), "new");
    assert_eq!(folder.run(&["fixture", "accept", "."]).out, "./deep/c.json: accepted\n");
    assert_eq!(folder.run(&["fixture", "accept", "deep"]).out, "nothing waits to be accepted\n");
    assert_eq!(folder.run(&["fixture", "accept", "absent.json"]).code, Some(2));
}

#[test]
fn help_says_what_exit_codes_mean() {
    let folder = Folder::new("fixture_help", &[]);
    assert_snapshot!(folder.run(&["fixture", "-h"]).out, @"
    Show, compare, check, redact, convert and accept files of recorded traffic

    Usage: windtunnel fixture [OPTIONS] <COMMAND>

    Commands:
      show     Print the entries of a cassette, or all of one entry
      diff     Tell how two cassettes differ, entry by entry
      lint     Look for secrets and damage in cassettes
      redact   Replace the secrets of a cassette by placeholders
      import   Make a cassette from a recording of another tool
      export   Write the exchanges over HTTP of a cassette for other tools
      upgrade  Write cassettes in the newest version of the format; a log that a kill left becomes a cassette
      accept   Take over what tests found: FILE.new takes the place of FILE
      help     Print this message or the help of the given subcommand(s)

    Options:
          --color <WHEN>  When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help          Print help
    ");
    for command in ["show", "diff", "lint", "redact", "import", "export", "upgrade", "accept"] {
        let help = folder.run(&["fixture", command, "-h"]).out;
        assert!(help.contains("Exit codes:\n  0  ") && help.contains("\n  2  "), "{help}");
    }
}
