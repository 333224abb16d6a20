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
    Listening::of(folder.command(arguments).env_remove("CI").spawn().unwrap())
}

impl Listening {
    fn of(mut child: Child) -> Self {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, out, url }
    }

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
fn secrets_of_the_environment_and_those_that_are_named_reach_no_file() {
    let folder = Folder::new("traffic_secrets", &[]);
    let upstream = format!("svc={}", service());
    let arguments = ["record", "--upstream", &upstream, "-o", "c.json", "--redact-pattern", "cust-[0-9]+"];
    let mut command = folder.command(&arguments);
    command.env_remove("CI").env("MY_API_KEY", "tell-nobody-of-this");
    let recording = Listening::of(command.spawn().unwrap());
    ask(&recording.url, "/v1?name=tell-nobody-of-this&customer=cust-77");
    assert_eq!(recording.end("-TERM").0, Some(0));
    let text = std::fs::read_to_string(folder.path.join("c.json")).unwrap();
    assert!(!text.contains("tell-nobody") && !text.contains("cust-77") && text.contains("redacted-secret-1"), "{text}");
    // Another client, without that environment, is answered all the same.
    let serving = listen(&folder, &["serve", "c.json", "--redact-pattern", "cust-[0-9]+"]);
    assert_eq!(ask(&serving.url, "/v1?name=redacted-secret-1&customer=cust-78").0, 200);
    assert_eq!(serving.end("-TERM").0, Some(0));
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

/// What a client saw of a cassette with faults over it: each request until it got the answer.
fn seen_with_faults(folder: &Folder, arguments: &[&str]) -> (Vec<u16>, Option<i32>, String) {
    let arguments: Vec<&str> = ["serve", "c.json"].iter().chain(arguments).copied().collect();
    let serving = listen(folder, &arguments);
    let mut seen = Vec::new();
    while seen.last() != Some(&200) && seen.len() < 50 {
        seen.push(ask(&serving.url, "/v1/messages").0);
    }
    let (code, out) = serving.end("-TERM");
    (seen, code, out)
}

#[test]
fn faults_come_over_a_recording_and_repeat_from_their_seed() {
    let plan = r#"[{"when": {"nth": 1}, "do": {"fault": "model.overloaded"}},
                   {"when": {"nth": 2}, "do": {"fault": "model.rate_limited", "retry_after_s": 2}}]"#;
    let folder = Folder::new(
        "traffic_faults",
        &[("plan.json", plan), ("crash.json", r#"[{"when": {}, "do": {"fault": "host.crash"}}]"#)],
    );
    let upstream = format!("anthropic={}", service());
    let recording = listen(&folder, &["record", "--upstream", &upstream, "--out", "c.json"]);
    ask(&recording.url, "/v1/messages");
    recording.end("-TERM");

    let (seen, code, out) = seen_with_faults(&folder, &["--faults", "plan.json"]);
    assert_eq!((seen, code), (vec![529, 429, 200], Some(0)), "{out}");
    assert!(out.contains("1 times model.rate_limited\n1 times model.overloaded\n"), "{out}");
    let kinds = "model.rate_limited,model.server_error,model.overloaded";
    let drawn =
        |seed: &str| seen_with_faults(&folder, &["--fault-rate", "0.8", "--fault-kinds", kinds, "--seed", seed]);
    let runs: Vec<_> = ["1", "2", "3", "4"].map(drawn).into();
    assert!(
        runs.iter().any(|(seen, ..)| seen.len() > 1) && runs.iter().all(|(_, code, _)| *code == Some(0)),
        "{runs:?}"
    );
    assert_eq!(drawn("1"), runs[0]);
    let refused = folder.run(&["serve", "c.json", "--faults", "crash.json"]);
    assert!(
        refused.code == Some(2) && refused.err.contains("host.crash does not come over recorded traffic"),
        "{}",
        refused.err
    );
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
