//! `windtunnel sweep`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::{Ended, Folder};

const PAY: &str = r#"
id = "a retry pays twice"
tools = [{ name = "pay", retries = 1, timeout_s = 5 }]
calls = [{ name = "pay" }]
always = [{ name = "paid at most once", that = "size(invocations) <= 1" }]
"#;

/// The example, in a folder of its own.
fn on_hosts(test: &str) -> Folder {
    Folder::new(test, &[("hosts.toml", include_str!("../../../examples/refund_on_hosts.toml"))])
}

fn lines(ended: &Ended) -> Vec<Value> {
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a sweep says of a failure is a case of its own, which fails in the same way.
fn check_found(folder: &Folder, failure: &Value) {
    std::fs::write(folder.path.join("found.json"), failure["case"].to_string()).unwrap();
    let again = folder.run(&["check", "found.json"]);
    assert_eq!((again.code, &*again.err), (Some(1), ""));
    assert!(again.out.contains("always \"paid at most once\": is false"), "{}", again.out);
    // So does the command that it says.
    let (command, recipe) = failure["command"].as_str().unwrap().split_once(" --recipe ").unwrap();
    let words: Vec<_> = command.split(' ').skip(1).chain(["--recipe", recipe.trim_matches('\'')]).collect();
    let again = folder.run(&words);
    assert_eq!((again.code, &*again.err), (Some(1), ""));
    assert!(again.out.contains("always \"paid at most once\": is false"), "{}", again.out);
}

#[test]
fn each_fault_comes_at_each_event_and_each_way_to_fail_is_told_once() {
    let folder = Folder::new("sweep_text", &[("pay.toml", PAY)]);
    let ended = folder.run(&["sweep", "pay.toml"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err_without_rate().ends_with("a retry pays twice: 17 of 17 runs, 2 failed\n"), "{}", ended.err);
    assert_snapshot!(ended.out, @r#"
    a retry pays twice with seed 0, every fault at every event
    ┌──────────────────────────┬────────┬────────┬────────┬───────────────────┬────────────────┐
    │ fault                    ┆ points ┆ passed ┆ failed ┆ nothing to act on ┆ nobody took it │
    ╞══════════════════════════╪════════╪════════╪════════╪═══════════════════╪════════════════╡
    │ tool.error               ┆      1 ┆      1 ┆      0 ┆                 0 ┆              0 │
    │ tool.hang                ┆      1 ┆      1 ┆      0 ┆                 0 ┆              0 │
    │ tool.delay               ┆      1 ┆      1 ┆      0 ┆                 0 ┆              0 │
    │ tool.duplicate           ┆      1 ┆      0 ┆      1 ┆                 0 ┆              0 │
    │ tool.lose_acknowledgment ┆      1 ┆      0 ┆      1 ┆                 0 ┆              0 │
    │ tool.late_answer         ┆      1 ┆      1 ┆      0 ┆                 0 ┆              0 │
    │ tool.malformed_result    ┆      1 ┆      1 ┆      0 ┆                 0 ┆              0 │
    └──────────────────────────┴────────┴────────┴────────┴───────────────────┴────────────────┘
    nowhere to come: model.rate_limited, model.server_error, model.overloaded, model.delay, model.timeout, model.stalled_stream, model.truncated_stream, model.malformed_json, model.refusal, model.wrong_tool, journal.lose_acknowledgment, journal.refuse_commit, network.partition, network.latency, network.loss, network.reset, host.crash, host.power_cut, host.pause, host.restart, clock.skew, clock.jump, disk.lose_flush, disk.torn_write, disk.full, disk.error
    18 runs, 10 of them with pairs of faults; in 3 only one of the two came
    2 runs failed: one way to fail

    1. point 4 of 7, with 1 of 1 faults:
      fault at 0.000000000 s, {"fault":"tool.duplicate"} when {"event":"tool.body"}
      always "paid at most once": is false
        that: size(invocations) <= 1
      to repeat it: windtunnel replay pay.toml --recipe '{"seed":0,"faults":[{"when":{"event":"tool.body"},"do":{"fault":"tool.duplicate"}}],"heal_after_s":60.0,"time_limit_s":86460.0,"schedule":"arrival"}'
      as a case: {"id":"a retry pays twice","tools":[{"name":"pay","retries":1,"timeout_s":5}],"calls":[{"name":"pay"}],"always":[{"name":"paid at most once","that":"size(invocations) <= 1"}],"seed":0,"faults":[{"when":{"event":"tool.body"},"do":{"fault":"tool.duplicate"}}],"heal_after_s":60.0}
    "#);
}

#[test]
fn the_output_does_not_depend_on_the_number_of_jobs() {
    let folder = Folder::new("sweep_jobs", &[("pay.toml", PAY)]);
    let run = |jobs| folder.run(&["sweep", "pay.toml", "--jobs", jobs, "--format", "json"]);
    let one = run("1");
    assert_eq!(one.out, run("5").out);
    check_found(&folder, &lines(&one)[0]["failures"][0]);
}

#[test]
fn a_bank_that_knows_no_keys_is_found_paying_twice_by_one_or_two_faults() {
    let folder = on_hosts("sweep_naive");
    let kinds = "tool.lose_acknowledgment,tool.delay,host.crash,network.reset";
    let arguments = ["sweep", "hosts.toml", "--case", "the-bank-knows-no-keys", "--kinds", kinds, "--pairs", "20"];
    let ended = folder.run(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    let lines = lines(&ended);
    let failures = lines[0]["failures"].as_array().unwrap();
    assert_eq!((failures.len(), &lines[0]["passed"], &lines[1]["passed"]), (1, &false.into(), &false.into()));
    let faults = failures[0]["faults"].as_array().unwrap();
    assert!((1..=2).contains(&faults.len()), "{faults:?}");
    let crashes: u64 = lines[0]["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cell| cell["fault"] == "host.crash")
        .map(|cell| cell["failed"].as_u64().unwrap())
        .sum();
    assert!(crashes > 0, "a crash after the effect pays twice");

    check_found(&folder, &failures[0]);
}

#[test]
fn a_bank_that_knows_keys_survives_everything() {
    let folder = on_hosts("sweep_correct");
    assert_eq!(folder.run(&["check", "hosts.toml"]).code, Some(0));
    let ended = folder.run(&["sweep", "hosts.toml", "--case", "the-bank-knows-keys", "--format", "json"]);
    let lines = lines(&ended);
    assert_eq!((ended.code, &lines[0]["failures"]), (Some(0), &Value::Array(Vec::new())));
    assert!(lines[0]["runs"].as_u64().unwrap() > 500 && lines[0]["pairs"] == 200, "{}", lines[0]);
}

#[test]
fn a_case_that_fails_without_faults_says_so() {
    let text = PAY.replace("<= 1", "== 0");
    let folder = Folder::new("sweep_calm", &[("pay.toml", &text)]);
    let ended = folder.run(&["sweep", "pay.toml"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("1 run failed: it fails without any fault"), "{}", ended.out);
}

#[test]
fn a_sweep_of_nothing_is_a_failure_and_an_unknown_kind_is_refused() {
    let folder = Folder::new("sweep_nothing", &[("pay.toml", PAY)]);
    let ended = folder.run(&["sweep", "pay.toml", "--kinds", "disk.full"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("not one fault came"), "{}", ended.out);
    let ended = folder.run(&["sweep", "pay.toml", "--kinds", "disk.ful"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("there is no such kind of fault; known: tool.error, tool.hang"), "{}", ended.err);
}
