//! Cases of kind `operations`.

use insta::assert_snapshot;

use crate::command::Folder;

const CASE: &str = r#"{
    "id": "lost",
    "steps": [
        {"key": "tool:turn:0", "kind": "tool", "callable": "agent:pay", "version": "1", "arguments": {"n": 1}, "returns": "paid"},
        {"key": "tool:turn:0", "kind": "tool", "callable": "agent:pay", "version": "2", "arguments": {"n": 1}, "returns": "paid"},
        {"key": "tool:turn:1", "kind": "tool", "callable": "agent:pay", "version": "1", "arguments": {"n": 2}, "returns": "paid"}
    ],
    "acks": ["ok", "lost"],
    "expect": {"results": [{"ok": "paid"}, {"error": "binding-mismatch"}, {"error": "commit-unacknowledged"}], "decided": false}
}"#;

#[test]
fn a_replay_shows_every_operation_and_its_columns_stand() {
    let folder = Folder::new("operations_replay", &[("lost.json", CASE)]);
    let ended = folder.run(&["replay", "lost.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
    lost with seed 0
       0.000000000  case/activation-1  activation.started    workflow=case entry=start attempt=1 wake=started records=0
       0.000000000  case/tool:turn:0   operation.started     operation=tool:turn:0 kind=tool callable=agent:pay attempt=1 parent=activation-1
       0.000000000  case/tool:turn:0   operation.executed    operation=tool:turn:0 status=ok duration_s=0.0 parent=activation-1
       0.000000000  case/tool:turn:0   operation.commit      operation=tool:turn:0 bytes=129 parent=activation-1
       0.000000000  case/tool:turn:0   operation.committed   operation=tool:turn:0 status=acknowledged parent=activation-1
       0.000000000  case/tool:turn:0   operation.refused     operation=tool:turn:0 error=binding-mismatch parent=activation-1
       0.000000000  case/tool:turn:1   operation.started     operation=tool:turn:1 kind=tool callable=agent:pay attempt=1 parent=activation-1
       0.000000000  case/tool:turn:1   operation.executed    operation=tool:turn:1 status=ok duration_s=0.0 parent=activation-1
       0.000000000  case/tool:turn:1   operation.commit      operation=tool:turn:1 bytes=129 parent=activation-1
       0.000000000  case/tool:turn:1   operation.committed   operation=tool:turn:1 status=unknown parent=activation-1
       0.000000000  case/activation-1  activation.retry      workflow=case attempt=1 cause=activation-poisoned delay_s=0.575818212
       0.000000000  case/activation-1  activation.finished   workflow=case attempt=1 status=failed error=activation-poisoned executed=2 replayed=0 duration_s=0.0

    results[0]: "tool:turn:0", executed: ok "paid"
    results[1]: "tool:turn:0", not executed: binding-mismatch: operation "tool:turn:0" is not the one that was recorded: its version was "1" and is now "2"; give a changed operation another key, or run the code that recorded it
    results[2]: "tool:turn:1", executed: commit-unacknowledged: the commit of operation "tool:turn:1" was not acknowledged, so its result cannot be used; end this attempt: the next one reads what was really committed
    journal: 2 records of 258 bytes; the activation came to no decision
    12 events in 0.000000000 s of virtual time, digest 014449a7f107fbffc30a98601cc2c7782d0d476f5aab429ec975688a8f04dfdf
    passed
    "#);
}
