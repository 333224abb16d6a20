//! A client and a server of the Model Context Protocol, from PyPI: recorded between them, and replayed without the server.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::client::python;
use crate::session::{Folder, command};

const PROGRAM: &str = env!("CARGO_BIN_EXE_windtunnel");

/// How versions are negotiated: by the handshake that all servers know, or without a session where the server can.
pub(crate) const MODES: [&str; 2] = ["legacy", "auto"];

/// What a client said and heard, how it ended, and what was said beside that.
struct Ended {
    is_success: bool,
    seen: Vec<String>,
    text: String,
}

/// The server as a command over standard input and output.
pub(crate) fn over_stdio(mode: &str) {
    let folder = Folder::new(&format!("mcp_stdio_{mode}"));
    let server = words(python("mcp_server.py").unwrap(), &["stdio"]);
    let asking = |server: Vec<OsString>| run(&folder, words(client(mode), &[]).into_iter().chain(server).collect());
    let direct = asking(server.clone());
    let record = words(vec![PROGRAM.into()], &["mcp", "record", "--in-ci", "--out=c.json", "--"]);
    let recorded = asking(record.into_iter().chain(server).collect());
    let replayed = asking(words(vec![PROGRAM.into()], &["mcp", "serve", "c.json", "--stdio"]));
    assert!(direct.is_success && direct.seen.len() > 8, "{}", direct.text);
    assert_eq!((&recorded.seen, recorded.is_success), (&direct.seen, true), "{}", recorded.text);
    assert_eq!((&replayed.seen, replayed.is_success), (&direct.seen, true), "{}", replayed.text);
    assert!(replayed.text.contains("everything that was recorded was said, and nothing else"), "{}", replayed.text);
}

/// The server behind a URL.
pub(crate) fn over_http(mode: &str) {
    let folder = Folder::new(&format!("mcp_http_{mode}"));
    record_over_http(&folder, mode);
    let replayed = run(&folder, served(&[], mode));
    let recorded = std::fs::read_to_string(folder.path.join("seen")).unwrap();
    assert!(replayed.is_success, "{}", replayed.text);
    assert_eq!(replayed.seen, recorded.lines().collect::<Vec<_>>(), "{}", replayed.text);
}

/// One call more than was recorded.
pub(crate) fn is_told_of_a_miss(mode: &str) {
    let folder = Folder::new(&format!("mcp_miss_{mode}"));
    record_over_http(&folder, mode);
    let replayed = run(&folder, served(&["env", "UNKNOWN=1"], mode));
    assert!(!replayed.is_success, "{}", replayed.text);
    let told = replayed.seen.last().unwrap();
    assert!(told.contains("-32603") && told.contains("replay mismatch") && told.contains("exhausted"), "{told}");
    assert!(replayed.text.contains("1 calls were not recorded, 0 entries were not consumed"), "{}", replayed.text);
}

/// Records to `c.json`, and keeps in `seen` what the client saw, which is the same as without the proxy.
fn record_over_http(folder: &Folder, mode: &str) {
    let server = words(python("mcp_server.py").unwrap(), &["http"]);
    let mut server = command(&server).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let url = url.trim();
    let direct = words(vec!["env".into(), format!("WINDTUNNEL_MCP_URL={url}").into()], &[]);
    let direct = run(folder, direct.into_iter().chain(client(mode)).collect());
    let record = words(vec![PROGRAM.into()], &["mcp", "record", "--in-ci", "--out=c.json", "--upstream", url, "--"]);
    let recorded = run(folder, record.into_iter().chain(client(mode)).collect());
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(direct.is_success && direct.seen.len() > 8, "{}", direct.text);
    assert_eq!((&recorded.seen, recorded.is_success), (&direct.seen, true), "{}", recorded.text);
    std::fs::write(folder.path.join("seen"), recorded.seen.join("\n")).unwrap();
}

fn served(before: &[&str], mode: &str) -> Vec<OsString> {
    let serve = words(vec![PROGRAM.into()], &["mcp", "serve", "c.json", "--"]);
    words(serve, before).into_iter().chain(client(mode)).collect()
}

fn client(mode: &str) -> Vec<OsString> {
    words(python("mcp_client.py").unwrap(), &[mode])
}

fn words(mut first: Vec<OsString>, more: &[&str]) -> Vec<OsString> {
    first.extend(more.iter().map(OsString::from));
    first
}

fn run(folder: &Folder, words: Vec<OsString>) -> Ended {
    let output = Command::current_dir(&mut command(&words), &folder.path).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let seen = out.lines().filter(|line| line.starts_with('{')).map(str::to_owned).collect();
    let text = format!("{out}{}", String::from_utf8_lossy(&output.stderr));
    Ended { is_success: output.status.success(), seen, text }
}
