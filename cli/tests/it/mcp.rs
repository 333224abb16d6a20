//! `windtunnel mcp`.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::command::{Ended, Folder};

const CASSETTE: &str = r#"{
  "windtunnel_cassette": 1,
  "entries": [
    {"exchange": {"mcp": {"from": "client", "message": {"jsonrpc": "2.0", "id": 0, "method": "tools/list"}}}},
    {"exchange": {"mcp": {"from": "server", "message": {"jsonrpc": "2.0", "id": 0, "result": {"tools": []}}}}},
    {"exchange": {"mcp": {"from": "client", "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}}}},
    {"exchange": {"mcp": {"from": "server", "message": {"jsonrpc": "2.0", "id": 7, "method": "roots/list"}}}},
    {"exchange": {"mcp": {"from": "client", "message": {"jsonrpc": "2.0", "id": 7, "result": {"roots": []}}}}},
    {"exchange": {"mcp": {"from": "server", "message": {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}}}}
  ]
}
"#;

const LIST: &str = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
const ROOTS: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#;
const HEARD: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
];

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    folder.command(arguments).env_remove("CI").stdin(Stdio::piped()).spawn().unwrap()
}

/// Says these lines, each once the one before it was answered by a line, and ends.
fn converse(mut child: Child, lines: &[&str]) -> Ended {
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut heard = String::new();
    for line in lines {
        writeln!(input, "{line}").unwrap();
        output.read_line(&mut heard).unwrap();
    }
    drop(input);
    output.read_to_string(&mut heard).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    Ended { out: heard, ..ended }
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_server_is_recorded_and_the_recording_is_played_as_it() {
    let folder = Folder::new("mcp_round", &[("c.json", CASSETTE)]);
    let program = env!("CARGO_BIN_EXE_windtunnel");
    let record = ["mcp", "record", "-o", "again.json", "--", program, "mcp", "serve", "c.json", "--stdio"];
    let ended = converse(start(&folder, &record), &[LIST, CALL, ROOTS]);
    assert_eq!((ended.out, ended.code), (lines(&HEARD), Some(0)), "{}", ended.err);
    assert!(ended.err.ends_with("6 messages recorded in again.json\n"), "{}", ended.err);
    let ended = converse(start(&folder, &["mcp", "serve", "again.json", "--stdio"]), &[LIST, CALL, ROOTS]);
    assert_eq!((ended.out, ended.code), (lines(&HEARD), Some(0)), "{}", ended.err);
    assert_eq!(ended.err, "everything that was recorded was said, and nothing else\n");
}

#[test]
fn what_is_missed_or_left_is_told_beside_the_protocol() {
    let folder = Folder::new("mcp_missed", &[("c.json", CASSETTE)]);
    let ended = converse(start(&folder, &["mcp", "serve", "c.json", "--stdio"]), &[LIST, LIST]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.lines().nth(1).unwrap().contains("\"code\":-32603"), "{}", ended.out);
    assert!(ended.err.contains("1 calls were not recorded, 2 entries were not consumed"), "{}", ended.err);
}

#[test]
fn a_server_keeps_its_exit_code_and_its_standard_error() {
    let folder = Folder::new("mcp_code", &[]);
    let script = "echo banner; echo trouble >&2; read line; exit 7";
    let ended = converse(start(&folder, &["mcp", "record", "-o", "c.json", "--", "sh", "-c", script]), &[LIST]);
    assert_eq!((ended.out.as_str(), ended.code), ("banner\n", Some(7)));
    let expected = "trouble\n1 messages recorded in c.json\npassed over: 1 lines that are no messages\n";
    assert_eq!(ended.err, expected);
    let missing =
        Ended::of(start(&folder, &["mcp", "record", "-o", "d.json", "--", "no-such"]).wait_with_output().unwrap());
    assert!(missing.code == Some(2) && missing.err.starts_with("error: cannot start no-such: "), "{}", missing.err);
}

#[test]
fn a_killed_recording_keeps_what_passed() {
    let folder = Folder::new("mcp_killed", &[("c.json", CASSETTE)]);
    let program = env!("CARGO_BIN_EXE_windtunnel");
    let record = ["mcp", "record", "-o", "again.json", "--", program, "mcp", "serve", "c.json", "--stdio"];
    let mut child = start(&folder, &record);
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{LIST}").unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let ended = converse(start(&folder, &["mcp", "serve", "again.json.partial", "--stdio"]), &[LIST]);
    assert_eq!((ended.out, ended.code), (lines(&HEARD[..1]), Some(0)), "{}", ended.err);
}

#[test]
fn a_session_is_recorded_over_http() {
    let folder = Folder::new("mcp_http", &[("c.json", CASSETTE)]);
    let mut serving = start(&folder, &["mcp", "serve", "c.json"]);
    let mut url = String::new();
    let mut out = BufReader::new(serving.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    out.read_line(&mut url).unwrap();
    let url = url.trim().strip_prefix("mcp: ").unwrap();
    let script = "case $WINDTUNNEL_MCP_URL in http://127.0.0.1:*/mcp) exit 0;; esac; exit 1";
    let record = ["mcp", "record", "-o", "again.json", "--upstream", url, "--", "sh", "-c", script];
    let ended = Ended::of(start(&folder, &record).wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    assert!(ended.out.ends_with("0 messages recorded in again.json\n"), "{}", ended.out);
    assert!(Command::new("kill").args(["-TERM", &serving.id().to_string()]).status().unwrap().success());
    assert_eq!(serving.wait().unwrap().code(), Some(1));
    let none = folder.run(&["mcp", "serve", "again.json", "--stdio"]);
    assert!(none.code == Some(2) && none.err.contains("no session to play"), "{}", none.err);
}
