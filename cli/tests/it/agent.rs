//! Cases of kind `agent`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;

const CASE: &str = r#"{
    "id": "refund",
    "rng": 0.0,
    "model": {"turns": [{"calls": [{"id": "p", "name": "pay", "arguments": {"amount": 5}}]}, {"says": "Refunded."}]},
    "tools": [{"name": "pay", "parameters": {"amount": "integer"}, "confirm": true}],
    "approvals": [{"call": "p", "after_s": 30, "decision": "approve"}],
    "crashes": [{"at": "after-effect", "operation": "tool:turn:0:p"}, {"at": "before-decision", "activation": 2}],
    "expect": {"outcome": {"end": "answer"}, "effects": {"pay": 1}}
}"#;

/// What comes after the events, without their digest.
fn end_of(out: &str) -> String {
    let end = out.split_once("\n\n").unwrap().1;
    end.lines().filter(|line| !line.contains("digest")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_replay_ends_with_crashes_effects_and_the_outcome() {
    let folder = Folder::new("agent_replay", &[("refund.json", CASE)]);
    let ended = folder.run(&["replay", "refund.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(end_of(&ended.out), @r#"
    crashes[0]: 30.000000000 s, worker 1, after-effect of "tool:turn:0:p" in activation 2
    crashes[1]: 90.000000000 s, worker 1, before-decision of activation 2
    effects[0]: 30.000000000 s, pay {"amount":5}, key ef15a3fd…
    effects[1]: 90.000000000 s, pay {"amount":5}, key ef15a3fd…, again
    approvals[0]: 30.000000000 s, "approval:turn:0:p": accepted
    outcome: answer after 2 turns and 1 calls: "Refunded."
    journal: 4 records in 2 activations, 4 attempts
    FAILED
      $.expect.effects.pay: expected 1, found 2
    "#);
}

#[test]
fn a_replay_as_json_holds_all_that_assertions_see() {
    let folder = Folder::new("agent_json", &[("refund.json", CASE)]);
    let ended = folder.run(&["replay", "refund.json", "--format", "json"]);
    let summary: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&summary["outcome"]["end"], &summary["read"][0]),
        (&"answer".into(), &r#"{"echo":{"amount":5}}"#.into())
    );
    assert_eq!(summary["crashes"][1]["at"], "before-decision");
    assert_eq!((&summary["effects"][1]["repeat"], &summary["activations"][1]["attempts"]), (&true.into(), &3.into()));
    assert_eq!(summary["verdict"]["unreached"], Value::Array(Vec::new()));
}

#[test]
fn a_crash_that_never_comes_fails_the_check_and_is_named() {
    let text = CASE.replace(r#""activation": 2"#, r#""activation": 3"#).replace(r#""pay": 1"#, r#""pay": 2"#);
    let folder = Folder::new("agent_unreached", &[("refund.json", &text)]);
    let ended = folder.run(&["check", "refund.json"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out, @r"
    FAILED refund (refund.json:1:1)
      $.crashes[1]: no worker came to the crash before-decision of activation 3
      to see it: windtunnel replay refund.json --seed 0

    0 passed, 1 failed
    ");
    let ended = folder.run(&["check", "refund.json", "--format", "json"]);
    let line: Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
    assert_eq!(line["verdict"]["unreached"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_slip_is_told_with_its_place() {
    let text = CASE.replace("after-effect", "after-efect");
    let folder = Folder::new("agent_slip", &[("refund.json", &text)]);
    let ended = folder.run(&["check", "refund.json"]);
    assert_eq!(ended.code, Some(2));
    assert_snapshot!(ended.err, @r#"
    error: refund.json:7:24: $.crashes[0].at: unknown value "after-efect"; did you mean "after-effect"? known: before-call, after-effect, before-commit, after-commit, before-decision, after-decision
       |
     5 |     "tools": [{"name": "pay", "parameters": {"amount": "integer"}, "confirm": true}],
     6 |     "approvals": [{"call": "p", "after_s": 30, "decision": "approve"}],
     7 |     "crashes": [{"at": "after-efect", "operation": "tool:turn:0:p"}, {"at": "before-decision", "acti…
       |                        ^^^^^^^^^^^^^
     8 |     "expect": {"outcome": {"end": "answer"}, "effects": {"pay": 1}}
     9 | }
    "#);
}

#[test]
fn seeds_draw_crashes_and_runs_are_told_by_their_outcome() {
    let text = CASE
        .replace(r#""crashes": [{"at": "after-effect", "operation": "tool:turn:0:p"}, {"at": "before-decision", "activation": 2}]"#, r#""crash_rate": 0.3"#)
        .replace(r#""expect": {"outcome": {"end": "answer"}, "effects": {"pay": 1}}"#, r#""always": [{"name": "paid once", "that": "effects.size() == 1"}]"#);
    let folder = Folder::new("agent_seeds", &[("refund.json", &text)]);
    let ended = folder.run(&["run", "refund.json", "--seeds", "0..40", "--format", "json"]);
    let line: Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
    assert_eq!((ended.code, &line["draws"], &line["outcomes"]["answer"]), (Some(1), &true.into(), &40.into()));
    let broken = line["always"][0]["broken"].as_u64().unwrap();
    assert!((1..40).contains(&broken), "{broken}");
}
