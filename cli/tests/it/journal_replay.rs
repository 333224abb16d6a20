//! `windtunnel replay --journal`.

use insta::assert_snapshot;

use crate::command::Folder;

const AGENT: &str = r#"{
    "id": "refund",
    "rng": 0.0,
    "model": {"turns": [{"calls": [{"id": "p", "name": "pay"}]}, {"says": "Refunded."}]},
    "tools": [{"name": "pay"}],
    "crashes": [{"at": "after-commit", "operation": "tool:turn:0:p"}],
    "expect": {"outcome": {"end": "answer"}, "effects": {"pay": 1}}
}"#;

const OPERATIONS: &str = r#"{
    "id": "lost",
    "journal": [{"callable": "model:agent:ask", "key": "model:turn:0", "output": "pay",
        "input": {"v": 1, "kind": "model", "version": "1", "arguments": {}}}],
    "steps": [
        {"key": "model:turn:0", "kind": "model", "callable": "agent:ask", "version": "1", "arguments": {}, "returns": "other"},
        {"key": "tool:turn:0", "kind": "tool", "callable": "agent:pay", "version": "1", "arguments": {"n": 1}, "returns": "paid"}
    ],
    "acks": ["lost"]
}"#;

#[test]
fn a_journal_in_a_file_changes_nothing_and_can_be_shown() {
    let folder = Folder::new("journal_replay", &[("agent.json", AGENT), ("operations.json", OPERATIONS)]);
    for case in ["agent.json", "operations.json"] {
        let journal = format!("{case}.db");
        let ended = folder.run(&["replay", case, "--seed", "3", "--journal", &journal]);
        let plain = folder.run(&["replay", case, "--seed", "3"]);
        assert_eq!((ended.code, &*ended.err, &ended.out), (Some(0), "", &plain.out));
    }
    assert_snapshot!(folder.run(&["journal", "show", "agent.json.db"]).out, @r#"
    workflow "case" of "agent": completed
      activation-1 at "turn": started, 2 attempts
        state of 153 of 65536 bytes; journal of 2 of 128 records, 711 of 262144 bytes
        "model:turn:0"   model model  version "1"     474 bytes  executed by attempt 1, kept for attempt 2
        "tool:turn:0:p"  tool pay     version "1"     234 bytes  executed by attempt 1, kept for attempt 2
        decided by attempt 2: continue
      activation-2 at "turn": continued, 1 attempt
        state of 302 of 65536 bytes; journal of 1 of 128 records, 574 of 262144 bytes
        "model:turn:1"  model model  version "1"     572 bytes  executed by attempt 1
        decided by attempt 1: complete with an output of 102 of 262144 bytes
    1 workflow, 2 activations, 3 records
    "#);
    assert_snapshot!(folder.run(&["journal", "show", "operations.json.db"]).out, @r#"
    workflow "case" of "case": open
      activation-1 at "start": started, 1 attempt
        state of 4 of 65536 bytes; journal of 2 of 128 records, 258 of 262144 bytes
        "model:turn:0"  model agent:ask  version "1"     126 bytes  there before any attempt, kept for attempt 1
        "tool:turn:0"   tool agent:pay   version "1"     129 bytes  executed by attempt 1
        not decided
    1 workflow, 1 activation, 2 records
    "#);
}

#[test]
fn a_file_that_is_there_is_never_written_over() {
    let folder = Folder::new("journal_there", &[("agent.json", AGENT), ("notes", "mine")]);
    let ended = folder.run(&["replay", "agent.json", "--journal", "notes"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    assert_snapshot!(ended.err, @"error: notes exists; nothing was changed, give another path or move it away");
    assert_eq!(std::fs::read_to_string(folder.path.join("notes")).unwrap(), "mine");
    let ended = folder.run(&["replay", "agent.json", "--journal", "no/such/folder.db"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    assert_snapshot!(ended.err, @"
    error: no/such/folder.db cannot be read or made; see the cause
    cause: No such file or directory (os error 2)
    ");
}

#[test]
fn a_case_without_a_journal_cannot_keep_one() {
    let calls = r#"{"id": "calls", "tools": [], "calls": []}"#;
    let folder = Folder::new("journal_calls", &[("calls.json", calls)]);
    let ended = folder.run(&["replay", "calls.json", "--journal", "calls.db"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    assert_snapshot!(ended.err, @r#"error: the case "calls" has no journal: only cases of the kinds operations and agent keep one"#);
    assert!(!folder.path.join("calls.db").exists());
}
