//! `windtunnel run`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;

const FLAKY: &str = r#"
id = "flaky search"
tools = [{ name = "search", retries = 2, timeout_s = 1, random = { fail = { busy = 0.3, hang = 0.1 }, delay_ms = { min = 10, max = 500 } } }]
calls = [{ name = "search" }, { name = "search" }]
always = [{ name = "no call fails", each = "results", that = "it.status == 'ok'" }]
"#;

#[test]
fn seeds_are_summed_up() {
    let folder = Folder::new("run_summary", &[("flaky.toml", FLAKY)]);
    let ended = folder.run(&["run", "flaky.toml", "--seeds", "0..200"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out_without_real_time(), @r#"
    flaky search over seeds 0..200
    ┌──────────────┬───────┬────────┐
    │ outcome      ┆ calls ┆  share │
    ╞══════════════╪═══════╪════════╡
    │ ok           ┆   373 ┆ 93.2 % │
    │ tool-failed  ┆    19 ┆  4.8 % │
    │ tool-timeout ┆     8 ┆  2.0 % │
    └──────────────┴───────┴────────┘
    ┌─────────────────────────┬───────┬───────┬───────┬───────┬─────────┐
    │                         ┆ count ┆   min ┆  mean ┆   max ┆   total │
    ╞═════════════════════════╪═══════╪═══════╪═══════╪═══════╪═════════╡
    │ attempts a call         ┆   400 ┆     1 ┆  1.56 ┆     3 ┆     626 │
    │ delay before a retry, s ┆   226 ┆ 0.500 ┆ 0.720 ┆ 1.244 ┆ 162.644 │
    │ virtual time a run, s   ┆   200 ┆ 0.155 ┆ 1.840 ┆ 6.302 ┆ 367.996 │
    │ events a run            ┆   200 ┆     8 ┆ 10.26 ┆    16 ┆    2052 │
    └─────────────────────────┴───────┴───────┴───────┴───────┴─────────┘
    real time: …
    27 of 200 seeds failed: 5, 7, 10, 12, 18, 26, 51, 57, 59, 72 and 17 more
    always "no call fails": broken by 27 of 200 seeds
    seed 5:
      always "no call fails": is false for 1 of 2 results
        that: it.status == 'ok'
        results[0]: {"tool":"search","call_id":"call-1","run_id":"run-1","status":"error","attempts":3,"error":"tool-failed","message":"tool \"search\" failed after 3 attempts","retryable":false,"value":null,"approval_id":null,"cached":false,"delays_s":[0.5696660002536593,1.225245278710473],"duration_s":3.691575482,"finished_us":3691575,"index":0,"retries":2}
    to repeat it: windtunnel replay flaky.toml --seed 5
    "#);
    assert_snapshot!(ended.err_without_rate(), @"
    flaky search: 0 of 200 seeds, 0 failed
    flaky search: 20 of 200 seeds, 5 failed
    flaky search: 40 of 200 seeds, 6 failed
    flaky search: 60 of 200 seeds, 9 failed
    flaky search: 80 of 200 seeds, 11 failed
    flaky search: 100 of 200 seeds, 14 failed
    flaky search: 120 of 200 seeds, 16 failed
    flaky search: 140 of 200 seeds, 21 failed
    flaky search: 160 of 200 seeds, 22 failed
    flaky search: 180 of 200 seeds, 24 failed
    flaky search: 200 of 200 seeds, 27 failed
    ");
}

#[test]
fn the_output_does_not_depend_on_the_number_of_jobs() {
    let folder = Folder::new("run_jobs", &[("flaky.toml", FLAKY)]);
    let run = |jobs| folder.run(&["run", "flaky.toml", "--seeds", "5..=104", "--jobs", jobs]);
    let (one, many) = (run("1"), run("7"));
    assert_eq!(one.out_without_real_time(), many.out_without_real_time());
    assert_eq!(one.err_without_rate(), many.err_without_rate());
}

#[test]
fn the_line_that_repeats_a_failure_does_repeat_it() {
    let folder = Folder::new("run_repeat", &[("flaky.toml", FLAKY)]);
    let ended = folder.run(&["run", "flaky.toml", "--seeds", "0..200", "--format", "json"]);
    let lines: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[1]["type"], &lines[1]["passed"]), (2, &"summary".into(), &false.into()));
    let repeat: Vec<&str> = lines[0]["repeat"].as_str().unwrap().split(' ').skip(1).collect();
    let replayed = folder.run(&[repeat, vec!["--format", "json"]].concat());
    assert_eq!(replayed.code, Some(1));
    let summary: Value = serde_json::from_str(replayed.out.lines().last().unwrap()).unwrap();
    assert_eq!(summary["verdict"], lines[0]["first_failure"]);
}

#[test]
fn every_case_of_a_file_is_run_unless_one_is_chosen() {
    let lines = r#"{"id": "a", "tools": [], "calls": [], "expect": {"ledger_entries": 0}}
{"id": "b", "tools": [{"name": "t"}], "calls": [{"name": "t"}], "expect": {"ledger_entries": 0}}"#;
    let folder = Folder::new("run_cases", &[("two.jsonl", lines)]);
    let ended = folder.run(&["run", "two.jsonl", "--seeds", "0..3"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out_without_real_time(), @"
    a over seeds 0..3
    nothing in this case is drawn from the seed: every run is the same
    ┌─────────┬───────┬───────┐
    │ outcome ┆ calls ┆ share │
    ╞═════════╪═══════╪═══════╡
    └─────────┴───────┴───────┘
    ┌─────────────────────────┬───────┬───────┬───────┬───────┬───────┐
    │                         ┆ count ┆   min ┆  mean ┆   max ┆ total │
    ╞═════════════════════════╪═══════╪═══════╪═══════╪═══════╪═══════╡
    │ attempts a call         ┆     0 ┆     - ┆     - ┆     - ┆     - │
    │ delay before a retry, s ┆     0 ┆     - ┆     - ┆     - ┆     - │
    │ virtual time a run, s   ┆     3 ┆ 0.000 ┆ 0.000 ┆ 0.000 ┆ 0.000 │
    │ events a run            ┆     3 ┆     2 ┆  2.00 ┆     2 ┆     6 │
    └─────────────────────────┴───────┴───────┴───────┴───────┴───────┘
    real time: …
    no seed failed

    b over seeds 0..3
    nothing in this case is drawn from the seed: every run is the same
    ┌─────────┬───────┬─────────┐
    │ outcome ┆ calls ┆   share │
    ╞═════════╪═══════╪═════════╡
    │ ok      ┆     3 ┆ 100.0 % │
    └─────────┴───────┴─────────┘
    ┌─────────────────────────┬───────┬───────┬───────┬───────┬───────┐
    │                         ┆ count ┆   min ┆  mean ┆   max ┆ total │
    ╞═════════════════════════╪═══════╪═══════╪═══════╪═══════╪═══════╡
    │ attempts a call         ┆     3 ┆     1 ┆  1.00 ┆     1 ┆     3 │
    │ delay before a retry, s ┆     0 ┆     - ┆     - ┆     - ┆     - │
    │ virtual time a run, s   ┆     3 ┆ 0.000 ┆ 0.000 ┆ 0.000 ┆ 0.000 │
    │ events a run            ┆     3 ┆     5 ┆  5.00 ┆     5 ┆    15 │
    └─────────────────────────┴───────┴───────┴───────┴───────┴───────┘
    real time: …
    3 of 3 seeds failed: 0, 1, 2
    seed 0:
      $.expect.ledger_entries: expected 0, found 1
    to repeat it: windtunnel replay two.jsonl --case b --seed 0
    ");
    let ended = folder.run(&["run", "two.jsonl", "--seeds", "0..3", "--case", "a"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.ends_with("no seed failed\n\n"));
}
