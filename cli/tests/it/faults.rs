//! Faults of case files, in `check`, `run` and `replay`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;

const CASE: &str = r#"{
    "id": "pay",
    "tools": [{"name": "pay", "retries": 1, "timeout_s": 5}],
    "rng": 0.0,
    "calls": [{"name": "pay"}],
    "faults": [{"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}}],
    "expect": {"results": [{"status": "ok", "attempts": 2}]},
    "always": [{"each": "faults", "that": "it.kind == 'tool.lose_acknowledgment'"}]
}"#;

#[test]
fn a_replay_lists_the_faults_that_came() {
    let folder = Folder::new("faults_replay", &[("pay.json", CASE)]);
    let ended = folder.run(&["replay", "pay.json"]);
    assert_eq!(ended.code, Some(0));
    assert_snapshot!(ended.out, @r#"
    pay with seed 0
       0.000000000  run-1              run.started
       0.000000000  run-1/call-1       tool.started          tool=pay
       0.000000000  run-1/call-1       tool.attempt          tool=pay attempt=1
       0.000000000  run-1/call-1       tool.body             tool=pay
       0.000000000  world              fault.delivered       fault=tool.lose_acknowledgment
       0.000000000  run-1/call-1       tool.retry            tool=pay attempt=1 cause=retryable delay_s=0.5
       0.500000000  run-1/call-1       tool.attempt          tool=pay attempt=2
       0.500000000  run-1/call-1       tool.body             tool=pay
       0.500000000  run-1/call-1       tool.finished         tool=pay status=ok attempts=2 cached=false duration_s=0.5
       0.500000000  run-1              run.finished

    faults[0]: 0.000000000 s, {"fault":"tool.lose_acknowledgment"} when {"event":"tool.body"}
    results[0]: pay at 0.500000000 s, 2 attempts: ok {"echo":{}}
    10 events in 0.500000000 s of virtual time, digest ab4b2b4e0db9c8e654726f75d443b45cd5fb08434287434bc769cbbfa97d0920
    passed
    "#);
    let ended = folder.run(&["replay", "pay.json", "--format", "json"]);
    let summary: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_eq!(summary["faults"][0]["kind"], "tool.lose_acknowledgment");
}

#[test]
fn a_plan_of_which_nothing_comes_fails_the_check() {
    let text = CASE.replace("tool.body", "journal.commit").replace(r#", "attempts": 2"#, "");
    let folder = Folder::new("faults_check", &[("pay.json", &text)]);
    let ended = folder.run(&["check", "pay.json"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out, @"
    FAILED pay (pay.json:1:1)
      $.faults: of 1 planned faults none came: their events did not, or there was nothing for them to act on
      to see it: windtunnel replay pay.json --seed 0

    0 passed, 1 failed
    ");
}

#[test]
fn a_slip_is_told_with_its_place() {
    let folder =
        Folder::new("faults_slip", &[("pay.json", &CASE.replace("acknowledgment\"}}]", "acknowledgement\"}}]"))]);
    let ended = folder.run(&["check", "pay.json"]);
    assert_eq!(ended.code, Some(2));
    let told = r#"error: pay.json:6:65: $.faults[0].do.fault: there is no fault "tool.lose_acknowledgement"; did you mean "tool.lose_acknowledgment"? known: tool.error"#;
    assert!(ended.err.starts_with(told), "{}", ended.err);
}

#[test]
fn a_run_says_which_drawn_faults_came_and_which_never_did() {
    let drawn = r#"
id = "drawn"
tools = [{ name = "pay", retries = 2, timeout_s = 5 }]
calls = [{ name = "pay" }]
random_faults = { kinds = ["tool.error", "tool.delay", "host.crash"], rate = 0.3 }
"#;
    let folder = Folder::new("faults_run", &[("drawn.toml", drawn)]);
    let ended = folder.run(&["run", "drawn.toml", "--seeds", "0..50"]);
    assert_eq!(ended.code, Some(0));
    let told: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("faults that")).collect();
    assert_snapshot!(told.join("\n"), @"
    faults that came: tool.error 25, tool.delay 17
    faults that never came: host.crash
    ");
    let ended = folder.run(&["run", "drawn.toml", "--seeds", "0..50", "--format", "json"]);
    let line: Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
    assert_eq!(line["faults_never_came"], Value::from(vec!["host.crash"]));

    let never = drawn.replace("tool.error", "disk.error").replace("tool.delay", "disk.full");
    std::fs::write(folder.path.join("never.toml"), never).unwrap();
    let ended = folder.run(&["run", "never.toml", "--seeds", "0..5"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("FAILED: not one fault came, so nothing was tried of them"), "{}", ended.out);
}
