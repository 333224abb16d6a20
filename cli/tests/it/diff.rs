//! `windtunnel diff`.

use std::io::Write;

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::{Ended, Folder};

const CASE: &str = r#"
[[tools]]
name = "pay"
retries = 1
timeout_s = 2
random = { fail = { busy = 0.5 }, delay_ms = { min = 100, max = 900 } }

[[calls]]
name = "pay"
"#;

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test, &[("pay.toml", CASE)]);
    for seed in ["0", "1"] {
        let ended = folder.run(&["replay", "pay.toml", "--seed", seed, "--events", &format!("{seed}.jsonl")]);
        assert_eq!(ended.err, "");
    }
    folder
}

#[test]
fn traces_that_are_the_same_are_told_as_such_from_files_seeds_and_pipes() {
    let folder = folder("diff_same");
    let json = folder.run(&["replay", "pay.toml", "--format", "json"]).out;
    std::fs::write(folder.path.join("json.jsonl"), json).unwrap();
    for other in ["0.jsonl", "pay.toml:0", "json.jsonl"] {
        let ended = folder.run(&["diff", "0.jsonl", other]);
        assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "the same: 5 events\n", ""), "{other}");
    }
    let mut command = folder.command(&["diff", "-", "pay.toml:0"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let text = std::fs::read(folder.path.join("0.jsonl")).unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    assert_eq!(Ended::of(child.wait_with_output().unwrap()).code, Some(0));
}

#[test]
fn the_first_difference_is_shown_with_its_context_and_what_follows() {
    let folder = folder("diff_first");
    let ended = folder.run(&["diff", "pay.toml:0", "1.jsonl"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    A: pay.toml:0
    B: 1.jsonl
    3 events are the same, the last of them:
         0.000000000  run-1              run.started
         0.000000000  run-1/call-1       tool.started          tool=pay
         0.000000000  run-1/call-1       tool.attempt          tool=pay attempt=1
    event 3 differs:
    -    0.705970358  run-1/call-1       tool.finished         tool=pay status=ok attempts=1 cached=false duration_s=0.705970358
    -    0.705970358  run-1              run.finished
    +    0.692656711  run-1/call-1       tool.retry            tool=pay attempt=1 cause=retryable delay_s=0.5668658508573724
    +    1.259522562  run-1/call-1       tool.attempt          tool=pay attempt=2
    +    1.721074125  run-1/call-1       tool.finished         tool=pay status=error error=tool-failed attempts=2 cached=false duration_s=1.721074125
    it differs in:
      $.at_ns: 705970358 in A, 692656711 in B
      $.type: "tool.finished" in A, "tool.retry" in B
      $.data.status: "ok" in A, nothing in B
      $.data.attempts: 1 in A, nothing in B
      $.data.cached: false in A, nothing in B
      $.data.duration_s: 0.705970358 in A, nothing in B
      $.data.attempt: nothing in A, 1 in B
      $.data.cause: nothing in A, "retryable" in B
      $.data.delay_s: nothing in A, 0.5668658508573724 in B
    from there on:
    ┌───────────────┬───┬───┐
    │ events        ┆ A ┆ B │
    ╞═══════════════╪═══╪═══╡
    │ run.finished  ┆ 1 ┆ 1 │
    │ tool.attempt  ┆ 0 ┆ 1 │
    │ tool.finished ┆ 1 ┆ 1 │
    │ tool.retry    ┆ 0 ┆ 1 │
    │ all           ┆ 2 ┆ 4 │
    └───────────────┴───┴───┘
    "#);
    let ended =
        folder.run(&["diff", "pay.toml:0", "1.jsonl", "--ignore", "at_ns,delay_s,duration_s", "--context", "1"]);
    assert_snapshot!(ended.out, @r#"
    A: pay.toml:0
    B: 1.jsonl
    3 events are the same, the last of them:
         0.000000000  run-1/call-1       tool.attempt          tool=pay attempt=1
    event 3 differs:
    -    0.705970358  run-1/call-1       tool.finished         tool=pay status=ok attempts=1 cached=false duration_s=0.705970358
    +    0.692656711  run-1/call-1       tool.retry            tool=pay attempt=1 cause=retryable delay_s=0.5668658508573724
    it differs in:
      $.type: "tool.finished" in A, "tool.retry" in B
      $.data.status: "ok" in A, nothing in B
      $.data.attempts: 1 in A, nothing in B
      $.data.cached: false in A, nothing in B
      $.data.attempt: nothing in A, 1 in B
      $.data.cause: nothing in A, "retryable" in B
    from there on:
    ┌───────────────┬───┬───┐
    │ events        ┆ A ┆ B │
    ╞═══════════════╪═══╪═══╡
    │ run.finished  ┆ 1 ┆ 1 │
    │ tool.attempt  ┆ 0 ┆ 1 │
    │ tool.finished ┆ 1 ┆ 1 │
    │ tool.retry    ┆ 0 ┆ 1 │
    │ all           ┆ 2 ┆ 4 │
    └───────────────┴───┴───┘
    "#);
}

#[test]
fn a_difference_as_json_says_the_same() {
    let folder = folder("diff_json");
    let ended = folder.run(&["diff", "0.jsonl", "1.jsonl", "--format", "json"]);
    assert_eq!(ended.code, Some(1));
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&document["same"], &document["a"], &document["b"]),
        (&false.into(), &"0.jsonl".into(), &"1.jsonl".into())
    );
    let index = document["index"].as_u64().unwrap();
    assert_eq!(document["from_there"]["a"][0]["sequence"], index);
    assert_eq!(document["before"].as_array().unwrap().len() as u64, index.min(3));
    assert!(!document["differences"].as_array().unwrap().is_empty());
    let same = folder.run(&["diff", "0.jsonl", "0.jsonl", "--format", "json"]);
    let document: Value = serde_json::from_str(&same.out).unwrap();
    assert_eq!((same.code, &document["same"], document.get("index")), (Some(0), &true.into(), None));
}

#[test]
fn what_is_no_trace_is_refused_with_its_place_and_a_remedy() {
    let folder = folder("diff_misused");
    std::fs::write(folder.path.join("wrong.jsonl"), "{\"type\":\"summary\"}\n\n{\"a\": \u{1b}}\n").unwrap();
    let errors =
        [["0.jsonl", "none.jsonl"], ["0.jsonl", "pay.toml"], ["0.jsonl", "pay.toml:x"], ["wrong.jsonl", "0.jsonl"]]
            .map(|[one, other]| {
                let ended = folder.run(&["diff", one, other]);
                assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{other}");
                ended.err
            });
    assert_snapshot!(errors.concat(), @r#"
    error: none.jsonl: cannot be read: No such file or directory (os error 2)
    error: pay.toml:2: this is no event: expected ident at line 1 column 4; write events with `windtunnel replay --events FILE`, or name a case with its seed, FILE:SEED
    error: pay.toml:x: "x" is not a seed: a number below 2^64
    error: wrong.jsonl:3: this is no event: expected value at line 1 column 7; write events with `windtunnel replay --events FILE`, or name a case with its seed, FILE:SEED
    "#);
}

#[test]
fn nothing_in_a_trace_disrupts_the_terminal() {
    let folder = Folder::new("diff_hostile", &[]);
    let line = |name: &str| {
        format!(r#"{{"at_ns": 1, "run_id": "r", "type": "a{name}", "data": {{"b\u001b": "\u009b{name}"}}}}"#)
    };
    std::fs::write(folder.path.join("a.jsonl"), line(r"\u001b[31m")).unwrap();
    std::fs::write(folder.path.join("b.jsonl"), line("")).unwrap();
    for format in ["text", "json"] {
        let ended = folder.run(&["diff", "a.jsonl", "b.jsonl", "--format", format]);
        assert_eq!(ended.code, Some(1));
        assert!(!ended.out.contains(|letter: char| letter.is_control() && letter != '\n'), "{}", ended.out);
    }
}
