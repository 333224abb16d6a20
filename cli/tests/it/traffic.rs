//! `windtunnel record` and `windtunnel serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command};
use std::thread;

use crate::command::{Ended, Folder};

const BODY: &str = "{\"answer\": \"naïve\"}";

/// A service that answers everything with [`BODY`], for as long as the test's process lives.
#[expect(clippy::disallowed_methods, reason = "the service is no part of what is tested, and ends with the process")]
fn service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut seen = Vec::new();
            while !seen.ends_with(b"\r\n\r\n{}") {
                let mut piece = [0; 1024];
                let length = stream.read(&mut piece).unwrap();
                seen.extend_from_slice(&piece[..length]);
            }
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{BODY}", BODY.len()).unwrap();
        }
    });
    format!("http://{address}")
}

/// Asks `url`, which is `http://ADDRESS/PATH`, and gives status and body.
fn ask(url: &str, path: &str) -> (u16, String) {
    let address = url.strip_prefix("http://").unwrap();
    let (address, base) =
        address.split_once('/').map_or((address, String::new()), |(address, path)| (address, format!("/{path}")));
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "POST {base}{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}")
        .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The command while it listens.
struct Listening {
    child: Child,
    out: BufReader<ChildStdout>,
    url: String,
}

fn listen(folder: &Folder, arguments: &[&str]) -> Listening {
    let mut child = folder.command(arguments).env_remove("CI").spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    Listening { child, out, url }
}

impl Listening {
    /// Asks it to end, and gives its exit code with what it printed after its address.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        (Ended::of(self.child.wait_with_output().unwrap()).code, out.replace(&self.url, "URL"))
    }
}

#[test]
fn what_a_client_asks_is_recorded_and_served_again() {
    let folder = Folder::new("traffic_round", &[]);
    let upstream = format!("svc={}", service());
    let recording = listen(&folder, &["record", "--upstream", &upstream, "--out", "c.json"]);
    assert_eq!(ask(&recording.url, "/svc/v1/a"), (200, BODY.to_owned()));
    assert_eq!(recording.end("-TERM"), (Some(0), "svc: URL/svc\n1 exchanges recorded in c.json\n".to_owned()));

    let serving = listen(&folder, &["serve", "c.json"]);
    assert_eq!(ask(&serving.url, "/svc/v1/a"), (200, BODY.to_owned()));
    let (status, body) = ask(&serving.url, "/svc/v1/b");
    assert_eq!(status, 500);
    assert!(body.contains("never recorded"), "{body}");
    let (code, out) = serving.end("-INT");
    assert_eq!(code, Some(1));
    assert!(out.contains("http \"POST svc /v1/b\": never recorded"), "{out}");

    let unused = listen(&folder, &["serve", "c.json"]).end("-TERM");
    assert!(unused.0 == Some(1) && unused.1.contains("entry 0 of lane \"main\" was never asked for"), "{unused:?}");
}

#[test]
fn a_command_is_run_meanwhile_and_its_end_is_the_end() {
    let folder = Folder::new("traffic_command", &[]);
    let upstream = format!("openai={}", service());
    let run = |arguments: &[&str]| {
        let ended = folder.command(arguments).env_remove("CI").output().unwrap();
        Ended::of(ended)
    };
    let record = run(&["record", "--upstream", &upstream, "-o", "c.json", "--", "sh", "-c", "echo $OPENAI_BASE_URL"]);
    assert_eq!(record.code, Some(0), "{}{}", record.out, record.err);
    assert!(record.out.contains("/openai/v1\n"), "{}", record.out);
    assert_eq!(run(&["serve", "c.json", "--", "true"]).code, Some(0));
    assert_eq!(run(&["serve", "c.json", "--", "false"]).code, Some(1));
    let missing = run(&["serve", "c.json", "--", "no-such-program"]);
    assert!(
        missing.code == Some(2) && missing.err.starts_with("error: cannot start no-such-program: "),
        "{}",
        missing.err
    );
}

#[test]
fn recording_is_refused_in_ci_and_over_a_file_that_is_there() {
    let folder = Folder::new("traffic_refused", &[("c.json", "{}")]);
    let arguments = ["record", "--upstream", "http://127.0.0.1:1", "--out", "c.json"];
    let ended = Ended::of(folder.command(&arguments).env("CI", "true").output().unwrap());
    assert!(ended.code == Some(2) && ended.err.contains("add --in-ci"), "{}", ended.err);
    let ended = Ended::of(folder.command(&arguments).env("CI", "false").output().unwrap());
    assert_eq!(
        (ended.code, ended.err.as_str()),
        (Some(2), "error: c.json is there already: add --replace to record it anew\n")
    );
    let ended = folder.run(&["serve", "c.json"]);
    assert!(ended.code == Some(2) && ended.err.contains("this is no cassette"), "{}", ended.err);
}

#[test]
fn a_killed_recording_keeps_what_was_complete() {
    let folder = Folder::new("traffic_killed", &[]);
    let upstream = service();
    let mut recording = listen(&folder, &["record", "--upstream", &upstream, "--out", "c.json"]);
    for path in ["/a", "/b"] {
        assert_eq!(ask(&recording.url, path).0, 200);
    }
    recording.child.kill().unwrap();
    recording.child.wait().unwrap();
    let serving = listen(&folder, &["serve", "c.json.partial"]);
    for path in ["/a", "/b"] {
        assert_eq!(ask(&serving.url, path), (200, BODY.to_owned()));
    }
    assert_eq!(serving.end("-TERM").0, Some(0));
}
