//! `windtunnel check`.

use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::command::{Ended, Folder};

const GOOD: &str =
    r#"{"id": "good", "tools": [{"name": "a"}], "calls": [{"name": "a"}], "expect": {"ledger_entries": 1}}"#;
const BAD: &str = r#"{
    "id": "refund once",
    "tools": [{"name": "refund", "parameters": {"amount": "integer"}, "retries": 1, "script": [{"fail": "busy"}]}],
    "rng": 0.0,
    "calls": [{"name": "refund", "arguments": {"amount": 5}}],
    "expect": {
        "results": [{"status": "ok", "attempts": 1, "value": {"echo": {"amount": 5.0}}, "delays_s": [], "finished_us": 0}],
        "invocations": [{"tool": "refund", "arguments": {"amount": 5}}],
        "ledger_entries": 2
    },
    "always": [
        {"name": "one attempt", "each": "results", "that": "it.attempts == 1"},
        {"each": "events", "that": "it.typo == 1"},
        {"that": "elapsed_ms < 100"}
    ]
}"#;

#[test]
fn cases_that_come_out_as_they_say_pass() {
    let folder = Folder::new("check_pass", &[("good.jsonl", GOOD)]);
    let ended = folder.run(&["check", "good.jsonl"]);
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "1 passed, 0 failed\n", ""));
}

#[test]
fn a_failure_shows_each_difference_and_how_to_see_it() {
    let folder = Folder::new("check_fail", &[("good.jsonl", GOOD), ("bad.json", BAD)]);
    let ended = folder.run(&["check", "good.jsonl", "bad.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    FAILED refund once (bad.json:1:1)
      $.expect.results[0].attempts: expected 1, found 2
      $.expect.results[0].delays_s[0]: expected nothing, found 0.5
      $.expect.results[0].value.echo.amount: expected 5.0, found 5
      $.expect.results[0].finished_us: expected 0, found 500000
      $.expect.invocations[1]: expected nothing, found {"tool":"refund","arguments":{"amount":5}}
      $.expect.ledger_entries: expected 2, found 1
      always "one attempt": is false for 1 of 1 results
        that: it.attempts == 1
        results[0]: {"tool":"refund","call_id":"call-1","run_id":"run-1","status":"ok","attempts":2,"error":null,"message":null,"retryable":null,"value":{"echo":{"amount":5}},"approval_id":null,"cached":false,"delays_s":[0.5],"duration_s":0.5,"finished_us":500000,"index":0,"retries":1}
      always "it.typo == 1": cannot be evaluated: events[0]: no such key: typo
      always "elapsed_ms < 100": is false: elapsed_ms is 500.0
      to see it: windtunnel replay bad.json --seed 0

    1 passed, 1 failed
    "#);
}

#[test]
fn cases_that_nothing_can_make_fail_are_counted() {
    let silent = r#"{"id": "quiet", "tools": [], "calls": [{"name": "misspelt"}]}"#;
    let folder = Folder::new("check_silent", &[("good.jsonl", GOOD), ("silent.json", silent)]);
    let ended = folder.run(&["check", "good.jsonl", "silent.json"]);
    let counts = "2 passed, 0 failed, 1 case neither expects nor asserts anything\n";
    assert_eq!((ended.code, &*ended.out), (Some(0), counts));
}

#[test]
fn a_mistake_in_a_file_says_its_place_in_json_too() {
    let folder = Folder::new("check_place", &[("wrong.json", r#"{"tools": [], "calls": [], "expekt": 1}"#)]);
    let ended = folder.run(&["check", "--format", "json", "wrong.json"]);
    let line: serde_json::Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
    assert_eq!((&line["line"], &line["column"], &line["path"]), (&1.into(), &28.into(), &"$.expekt".into()));
}

#[test]
fn each_case_is_a_json_object_and_so_is_the_summary() {
    let folder = Folder::new("check_json", &[("good.jsonl", GOOD), ("bad.json", BAD)]);
    let ended = folder.run(&["check", "--format", "json", "good.jsonl", "bad.json", "absent.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(2), ""));
    let lines: Vec<serde_json::Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["passed"], true);
    let differences = lines[1]["verdict"]["differences"].as_array().unwrap();
    assert_eq!(differences[0], serde_json::json!({"path": "$.expect.results[0].attempts", "expected": 1, "found": 2}));
    assert_eq!(lines[1]["verdict"]["always"][0]["offending"], 1);
    assert_snapshot!(format!("{}\n{}", lines[2], lines[3]), @r#"
    {"type":"error","message":"absent.json: cannot be read: No such file or directory (os error 2)"}
    {"type":"summary","files":3,"unreadable":1,"cases":2,"passed":1,"failed":1,"silent":0,"interrupted":false}
    "#);
}

#[test]
fn a_file_that_is_not_accepted_does_not_hide_the_others() {
    let folder = Folder::new("check_mixed", &[("wrong.json", "{"), ("bad.json", BAD)]);
    let ended = folder.run(&["check", "wrong.json", "bad.json", "absent.toml"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.out.starts_with("FAILED refund once"));
    assert!(ended.out.ends_with("0 passed, 1 failed, 2 files not accepted\n"));
    assert_snapshot!(ended.err, @"
    error: wrong.json:1:2: $: Object keys must be strings
       |
     1 | {
       |  ^
    error: absent.toml: cannot be read: No such file or directory (os error 2)
    ");
}

#[test]
fn standard_input_is_read_as_lines() {
    let folder = Folder::new("check_stdin", &[]);
    let mut child = folder.command(&["check", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let lines = format!("{GOOD}\n\n{}\n", GOOD.replace("\"good\"", "\"also good\"").replace(": 1}", ": 2}"));
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out, @"
    FAILED also good (<stdin>:3:1)
      $.expect.ledger_entries: expected 2, found 1

    1 passed, 1 failed
    ");
}

#[test]
fn the_output_does_not_depend_on_the_number_of_jobs() {
    let lines: String =
        (0..50).map(|index| GOOD.replace("good", &format!("case {index}")).replace(": 1}", ": 2}") + "\n").collect();
    let folder = Folder::new("check_jobs", &[("many.jsonl", &lines)]);
    let one = folder.run(&["check", "many.jsonl", "--jobs", "1"]);
    let many = folder.run(&["check", "many.jsonl", "--jobs", "8"]);
    assert_eq!(one.out, many.out);
    assert!(one.out.ends_with("0 passed, 50 failed\n"));
}
