//! `windtunnel replay`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;

const CASE: &str = r#"{
    "id": "pay",
    "seed": 3,
    "tools": [{"name": "pay", "parameters": {"to": "string"}, "retries": 1, "timeout_s": 2, "confirm": true,
        "script": [{"fail": "hang"}, {"delay_ms": 120.5}]}],
    "approvals": [{"decision": "approve", "edited_arguments": {"to": "Ada"}}, {"decision": "pending"}],
    "calls": [{"name": "pay", "arguments": {"to": "Bob"}}, {"name": "pay", "arguments": {"to": "Eve"}, "wait_ms": 50},
        {"name": "pay", "arguments": {}}],
    "expect": {"results": [{"status": "ok"}, {"status": "pending"}, {"error": "tool-args-invalid"}]}
}"#;

#[test]
fn every_event_is_a_line() {
    let folder = Folder::new("replay_text", &[("pay.json", CASE)]);
    let ended = folder.run(&["replay", "pay.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
    pay with seed 3
       0.000000000  run-1              run.started
       0.000000000  run-1/call-1       tool.started          tool=pay
       0.000000000  run-1/call-1       approval.requested    tool=pay approval_id=approval-1
       0.000000000  run-1/call-1       approval.decided      tool=pay approval_id=approval-1 approved=true edited=true
       0.000000000  run-1/call-1       tool.attempt          tool=pay attempt=1
       2.000000000  run-1/call-1       tool.retry            tool=pay attempt=1 cause=timeout delay_s=0.6005503550567317
       2.600550355  run-1/call-1       tool.attempt          tool=pay attempt=2
       2.721050355  run-1/call-1       tool.finished         tool=pay status=ok attempts=2 cached=false duration_s=2.721050355
       2.771050355  run-1/call-2       tool.started          tool=pay
       2.771050355  run-1/call-2       approval.requested    tool=pay approval_id=approval-2
       2.771050355  run-1/call-2       tool.pending          tool=pay approval_id=approval-2
       2.771050355  run-1/call-3       tool.started          tool=pay
       2.771050355  run-1/call-3       tool.finished         tool=pay status=error error=tool-args-invalid attempts=0 cached=false duration_s=0.0
       2.771050355  run-1              run.finished

    results[0]: pay at 2.721050355 s, 2 attempts: ok {"echo":{"to":"Ada"}}
    results[1]: pay at 2.771050355 s, 0 attempts: pending
    results[2]: pay at 2.771050355 s, 0 attempts: tool-args-invalid: $: "to" is a required property
    14 events in 2.771050355 s of virtual time, digest 7a41a68ad28789539bba19964c4f1b7e7bd97c3ca2f2bbc4837755c01c5dc726
    passed
    "#);
}

#[test]
fn another_seed_is_not_held_against_what_is_expected_of_the_first() {
    let folder = Folder::new("replay_other", &[("pay.json", CASE)]);
    let ended = folder.run(&["replay", "pay.json", "--seed", "4"]);
    assert!(ended.out.contains("what the file expects is about seed 3: not compared"), "{}", ended.out);
}

#[test]
fn events_and_the_summary_are_json_objects() {
    let folder = Folder::new("replay_json", &[("pay.json", CASE)]);
    let ended = folder.run(&["replay", "pay.json", "--format", "json"]);
    let lines: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, events) = lines.split_last().unwrap();
    assert!(events.iter().zip(0..).all(|(event, sequence)| event["sequence"] == sequence));
    assert_eq!((&summary["type"], &summary["events"]), (&"summary".into(), &events.len().into()));
    assert_eq!(summary["results"][1]["status"], "pending");
}

#[test]
fn a_case_that_comes_to_no_end_shows_what_there_was() {
    let text = r#"{"tools": [{"name": "a", "script": [{"fail": "hang"}]}], "calls": [{"name": "a"}]}"#;
    let folder = Folder::new("replay_stuck", &[("stuck.json", text)]);
    let ended = folder.run(&["replay", "stuck.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @"
    case-1 with seed 0
       0.000000000  run-1              run.started
       0.000000000  run-1/call-1       tool.started          tool=a
       0.000000000  run-1/call-1       tool.attempt          tool=a attempt=1
    31536000.000000000  run-1              run.finished

    results[0]: none, the call did not finish
    4 events in 31536000.000000000 s of virtual time, digest 322e4cc2339f838e6ab8e1e27b92e4e6b8d2c54a35bcbf0d65671675c513b89d
    FAILED
      the case came to no end: nothing is left to happen: every task waits, and none for a time before the world's limit; what hangs without a timeout, or waits for a thread or for input from outside, does so forever
        run-1/call-1 (a) waits for its tool, in attempt 1
    ");
}
