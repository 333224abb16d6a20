//! `windtunnel shrink`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;

/// Of three faults one matters, and of two assertions.
const CASE: &str = r#"{
    "id": "pay",
    "tools": [{"name": "pay", "retries": 2, "timeout_s": 5}],
    "rng": 0.0,
    "calls": [{"name": "pay"}, {"name": "pay"}],
    "faults": [
        {"when": {"event": "tool.body"}, "do": {"fault": "tool.delay", "delay_s": 1}},
        {"when": {"event": "tool.body", "nth": 2}, "do": {"fault": "tool.lose_acknowledgment"}},
        {"when": {"event": "tool.body", "nth": 3}, "do": {"fault": "tool.late_answer", "delay_s": 2}}
    ],
    "expect": {"results": [{}, {"status": "ok"}]},
    "always": [
        {"name": "paid for each call", "that": "size(invocations) >= 2"},
        {"name": "paid once for each call", "that": "size(invocations) <= 2"}
    ]
}"#;

const DRAWN: &str = r#"
id = "drawn"
tools = [{ name = "pay", retries = 2, timeout_s = 5 }]
calls = [{ name = "pay" }, { name = "pay" }, { name = "pay" }]
random_faults = { kinds = ["tool.lose_acknowledgment", "tool.delay", "tool.late_answer"], rate = 0.2 }
always = [{ name = "paid once for each call", that = "size(invocations) <= 3" }]
"#;

#[test]
fn a_failing_seed_becomes_a_case_with_what_it_takes() {
    let folder = Folder::new("shrink_file", &[("pay.json", CASE)]);
    let ended = folder.run(&["shrink", "pay.json", "--seed", "0", "-o", "small.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
    pay: 1 of 3 faults, found in 7 runs
      fault at 0.000000000 s, {"fault":"tool.lose_acknowledgment"} when {"event":"tool.body","nth":2}
      always "paid once for each call": is false
        that: size(invocations) <= 2
    small.json fails in the same way
    to see it: windtunnel replay small.json --seed 0
    "#);
    assert_snapshot!(std::fs::read_to_string(folder.path.join("small.json")).unwrap(), @r#"
    {
      "id": "pay",
      "tools": [
        {
          "name": "pay",
          "retries": 2,
          "timeout_s": 5
        }
      ],
      "rng": 0.0,
      "calls": [
        {
          "name": "pay"
        },
        {
          "name": "pay"
        }
      ],
      "faults": [
        {
          "when": {
            "event": "tool.body",
            "nth": 2
          },
          "do": {
            "fault": "tool.lose_acknowledgment"
          }
        }
      ],
      "always": [
        {
          "name": "paid once for each call",
          "that": "size(invocations) <= 2"
        }
      ],
      "seed": 0
    }
    "#);
    let checked = folder.run(&["check", "small.json"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.out.contains("always \"paid once for each call\": is false"), "{}", checked.out);
}

#[test]
fn faults_that_were_drawn_become_a_plan() {
    let folder = Folder::new("shrink_drawn", &[("drawn.toml", DRAWN)]);
    let run = folder.run(&["run", "drawn.toml", "--seeds", "0..100", "--format", "json"]);
    let line: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let seed = line["failing_seeds"][0].to_string();
    let ended = folder.run(&["shrink", "drawn.toml", "--seed", &seed]);
    assert_eq!(ended.code, Some(0));
    let case: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((case["faults"].as_array().unwrap().len(), &case["random_faults"]), (1, &Value::Null));
    assert_eq!(case["faults"][0]["do"]["fault"], "tool.lose_acknowledgment");
    assert!(ended.err.ends_with("as a case of its own it fails in the same way\n"), "{}", ended.err);
}

/// Of three tools and four turns one each matters.
const SPARE: &str = r#"{
    "id": "spare",
    "model": {"turns": [
        {"calls": [{"id": "a", "name": "find"}]},
        {"calls": [{"id": "b", "name": "pay"}]},
        {"calls": [{"id": "c", "name": "find"}]},
        {"says": "done"}
    ]},
    "tools": [{"name": "find"}, {"name": "pay", "retries": 1}, {"name": "tell"}],
    "faults": [{"when": {"event": "tool.body", "tool": "pay"}, "do": {"fault": "tool.lose_acknowledgment"}}],
    "always": [{"name": "paid once", "that": "invocations.filter(i, i.tool == 'pay').size() == 1"}]
}"#;

#[test]
fn tools_and_turns_that_a_failure_does_not_need_are_left_out() {
    let folder = Folder::new("shrink_spare", &[("spare.json", SPARE)]);
    let ended = folder.run(&["shrink", "spare.json", "--seed", "0"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let case: Value = serde_json::from_str(&ended.out).unwrap();
    let names: Vec<_> = case["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    // It still pays twice: it would fail without any payment too, and then not because of the fault.
    assert_eq!(names, ["pay"], "{case}");
    assert_eq!(case["model"]["turns"][0]["calls"][0]["name"], "pay");
    assert_eq!(case["model"]["turns"].as_array().unwrap().len(), 1, "{case}");
    assert!(
        ended.err.contains("  left out, as the failure does not need it: 3 of the turns, 2 of the tools\n"),
        "{}",
        ended.err
    );
}

#[test]
fn an_agent_on_hosts_is_made_small_with_its_order() {
    let folder = Folder::new("shrink_hosts", &[("hosts.toml", include_str!("../../../examples/refund_on_hosts.toml"))]);
    let case = ["hosts.toml", "--case", "anything-goes-wrong"];
    let run = folder.run(&[&["run"], &case[..], &["--seeds", "0..60", "--format", "json"]].concat());
    let line: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let seed = line["failing_seeds"][0].to_string();
    let ended = folder.run(&[&["shrink"], &case[..], &["--seed", &seed, "-o", "small.jsonl"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let replayed = folder.run(&["replay", "small.jsonl", "--format", "json"]);
    let summary: Value = serde_json::from_str(replayed.out.lines().last().unwrap()).unwrap();
    assert_eq!((replayed.code, summary["seed"].to_string()), (Some(1), seed));
    assert!((1..8).contains(&summary["faults"].as_array().unwrap().len()), "{}", summary["faults"]);
}

#[test]
fn what_cannot_be_made_small_or_written_is_told() {
    let folder = Folder::new("shrink_told", &[("pay.json", CASE), ("drawn.toml", DRAWN)]);
    let run = |arguments: &[&str]| {
        let ended = folder.run(&[&["shrink"], arguments].concat());
        assert_eq!((ended.code, &*ended.out), (Some(2), ""));
        ended.err
    };
    let calm = CASE.replace("<= 2", "<= 3");
    std::fs::write(folder.path.join("calm.json"), calm).unwrap();
    assert_snapshot!(run(&["calm.json", "--seed", "7"]), @r#"error: calm.json: the case "pay" does not fail with seed 7, or only because no fault came"#);
    assert_snapshot!(run(&["pay.json", "--seed", "0", "-o", "small.toml"]), @"error: small.toml: cases are written as .json or .jsonl");
    assert_snapshot!(run(&["pay.json", "--seed", "0", "-o", "small"]), @"error: small: the name of a case file ends in .json, .jsonl or .toml");
    assert_eq!(
        run(&["pay.json", "--seed", "0", "-o", "pay.json"]),
        "error: pay.json: cannot be written: File exists (os error 17)\n"
    );
}
