//! Cases with a program, under each command.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;

/// Two branches, of which one may be tried again.
const PROGRAM: &str = r#"
id = "two branches"
tools = [
    { name = "fetch", fn = "fetch", random = { fail = { timeout = 0.4 }, delay_ms = { min = 10, max = 90 } } },
    { name = "negate", fn = "negate", script = [{ fail = "tool-execution", message = "no stock" }] },
]
always = [{ name = "fetched", that = "branches[0].success" }]

[policy]
parallel_failures = "collect"
retry = { max_attempts = 2, delay_seconds = 0.25, idempotent_tools = ["fetch"] }

[program]
schema_version = "2.0"
mode = "parallel"

[[program.body]]
type = "tool_call"
tool = "fetch"
arguments = { key = { type = "literal", value = "x" } }

[[program.body]]
type = "tool_call"
tool = "negate"
arguments = { n = { type = "literal", value = 2 } }
"#;

const REFUSED: &str = r#"{
    "id": "refused",
    "tools": [],
    "program": {"schema_version": "2.0", "body": [
        {"type": "variable", "name": "x"},
        {"type": "loop"}
    ]}
}"#;

#[test]
fn a_program_that_comes_to_something_else_shows_each_difference() {
    let case = r#"{"id": "sum", "tools": [{"name": "add", "fn": "add", "delay_ms": 10}],
        "program": {"mode": "single", "type": "program", "body": [{"type": "function", "name": "add", "params": [
            {"type": "value", "name": "a", "value": 1}, {"type": "value", "name": "b", "value": 2}]}]},
        "expect": {"ok": 4, "elapsed_ms": 20, "nodes": 4, "calls": []}}"#;
    let folder = Folder::new("program_check", &[("sum.json", case)]);
    let ended = folder.run(&["check", "sum.json"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out, @r#"
    FAILED sum (sum.json:1:1)
      $.expect.ok: expected 4, found 3
      $.expect.elapsed_ms: expected 20, found 10
      $.expect.calls[0]: expected nothing, found {"name":"add","arguments":{"a":1,"b":2}}
      to see it: windtunnel replay sum.json --seed 0

    0 passed, 1 failed
    "#);
}

#[test]
fn a_program_that_is_refused_is_shown_at_its_place_under_each_command() {
    let folder = Folder::new("program_refused", &[("refused.json", REFUSED)]);
    let checked = folder.run(&["check", "refused.json"]);
    assert_eq!(checked.code, Some(1));
    assert_snapshot!(checked.out, @r#"
    FAILED refused (refused.json:1:1)
      the program was refused: refused.json:5:38: $.program.body[0].name: no variable "x" is in scope; in scope here: none
      the program was refused: refused.json:6:18: $.program.body[1].type: "loop" cannot stand here; known types: "literal", "variable", "call", "tool_call", "conditional", "memo"
      to see it: windtunnel replay refused.json --seed 0

    0 passed, 1 failed, 1 case neither expects nor asserts anything
    "#);
    let replayed = folder.run(&["replay", "refused.json"]);
    assert_eq!(replayed.code, Some(1));
    assert_snapshot!(replayed.out, @r#"
    refused with seed 0

    result: refused
    0 events in 0.000000000 s of virtual time, digest e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    FAILED
      the program was refused: refused.json:5:38: $.program.body[0].name: no variable "x" is in scope; in scope here: none
      the program was refused: refused.json:6:18: $.program.body[1].type: "loop" cannot stand here; known types: "literal", "variable", "call", "tool_call", "conditional", "memo"
    "#);
    let expected = REFUSED.replace("\"tools\": []", "\"tools\": [], \"expect\": {\"rejected\": true}");
    std::fs::write(folder.path.join("expected.json"), expected).unwrap();
    let replayed = folder.run(&["replay", "expected.json"]);
    assert_eq!(replayed.code, Some(0));
    assert_snapshot!(replayed.out, @r#"
    refused with seed 0

    result: refused
      expected.json:5:38: $.program.body[0].name: no variable "x" is in scope; in scope here: none
      expected.json:6:18: $.program.body[1].type: "loop" cannot stand here; known types: "literal", "variable", "call", "tool_call", "conditional", "memo"
    0 events in 0.000000000 s of virtual time, digest e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    passed
    "#);
    let ran = folder.run(&["run", "refused.json", "--seeds", "0..2"]);
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(ran.out_without_real_time(), @r#"
    refused over seeds 0..2
    nothing in this case is drawn from the seed: every run is the same
    ┌─────────┬──────┬─────────┐
    │ outcome ┆ runs ┆   share │
    ╞═════════╪══════╪═════════╡
    │ refused ┆    2 ┆ 100.0 % │
    └─────────┴──────┴─────────┘
    ┌─────────────────────────┬───────┬───────┬───────┬───────┬───────┐
    │                         ┆ count ┆   min ┆  mean ┆   max ┆ total │
    ╞═════════════════════════╪═══════╪═══════╪═══════╪═══════╪═══════╡
    │ attempts a run          ┆     2 ┆     0 ┆  0.00 ┆     0 ┆     0 │
    │ delay before a retry, s ┆     0 ┆     - ┆     - ┆     - ┆     - │
    │ virtual time a run, s   ┆     2 ┆ 0.000 ┆ 0.000 ┆ 0.000 ┆ 0.000 │
    │ events a run            ┆     2 ┆     0 ┆  0.00 ┆     0 ┆     0 │
    └─────────────────────────┴───────┴───────┴───────┴───────┴───────┘
    real time: …
    2 of 2 seeds failed: 0, 1
    seed 0:
      the program was refused: refused.json:5:38: $.program.body[0].name: no variable "x" is in scope; in scope here: none
      the program was refused: refused.json:6:18: $.program.body[1].type: "loop" cannot stand here; known types: "literal", "variable", "call", "tool_call", "conditional", "memo"
    to repeat it: windtunnel replay refused.json --seed 0
    "#);
    let json = folder.run(&["check", "refused.json", "--format", "json"]);
    let line: Value = serde_json::from_str(json.out.lines().next().unwrap()).unwrap();
    assert_snapshot!(line["verdict"]["refused"][0], @r#"{"file":"refused.json","line":5,"column":38,"path":"$.program.body[0].name","problem":"no variable \"x\" is in scope; in scope here: none"}"#);
}

#[test]
fn the_runs_of_a_program_are_summed_up() {
    let folder = Folder::new("program_run", &[("branches.toml", PROGRAM)]);
    let ended = folder.run(&["run", "branches.toml", "--seeds", "0..100"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out_without_real_time(), @r#"
    two branches over seeds 0..100
    ┌──────────────────────────┬──────┬─────────┐
    │ outcome                  ┆ runs ┆   share │
    ╞══════════════════════════╪══════╪═════════╡
    │ ok, with failed branches ┆  100 ┆ 100.0 % │
    └──────────────────────────┴──────┴─────────┘
    ┌─────────────────────────┬───────┬───────┬───────┬───────┬────────┐
    │                         ┆ count ┆   min ┆  mean ┆   max ┆  total │
    ╞═════════════════════════╪═══════╪═══════╪═══════╪═══════╪════════╡
    │ attempts a run          ┆   100 ┆     2 ┆  2.39 ┆     3 ┆    239 │
    │ delay before a retry, s ┆    39 ┆ 0.250 ┆ 0.250 ┆ 0.250 ┆  9.750 │
    │ virtual time a run, s   ┆   100 ┆ 0.012 ┆ 0.165 ┆ 0.422 ┆ 16.531 │
    │ events a run            ┆   100 ┆     6 ┆  7.17 ┆     9 ┆    717 │
    └─────────────────────────┴───────┴───────┴───────┴───────┴────────┘
    real time: …
    11 of 100 seeds failed: 3, 14, 22, 24, 57, 67, 68, 71, 76, 92 and 1 more
    always "fetched": broken by 11 of 100 seeds
    seed 3:
      always "fetched": is false
        that: branches[0].success
    to repeat it: windtunnel replay branches.toml --seed 3
    "#);
}

#[test]
fn the_errors_of_programs_are_counted_by_their_kind() {
    let raising = PROGRAM.replace("parallel_failures = \"collect\"", "").replace("branches[0].success", "true");
    let folder = Folder::new("program_errors", &[("raising.toml", &raising)]);
    let ended = folder.run(&["run", "raising.toml", "--seeds", "0..100"]);
    assert_eq!(ended.code, Some(0));
    assert_snapshot!(ended.out_without_real_time(), @"
    two branches over seeds 0..100
    ┌────────────────┬──────┬─────────┐
    │ outcome        ┆ runs ┆   share │
    ╞════════════════╪══════╪═════════╡
    │ tool-execution ┆  100 ┆ 100.0 % │
    └────────────────┴──────┴─────────┘
    ┌─────────────────────────┬───────┬───────┬───────┬───────┬───────┐
    │                         ┆ count ┆   min ┆  mean ┆   max ┆ total │
    ╞═════════════════════════╪═══════╪═══════╪═══════╪═══════╪═══════╡
    │ attempts a run          ┆   100 ┆     2 ┆  2.00 ┆     2 ┆   200 │
    │ delay before a retry, s ┆     0 ┆     - ┆     - ┆     - ┆     - │
    │ virtual time a run, s   ┆   100 ┆ 0.000 ┆ 0.000 ┆ 0.000 ┆ 0.000 │
    │ events a run            ┆   100 ┆     5 ┆  5.00 ┆     5 ┆   500 │
    └─────────────────────────┴───────┴───────┴───────┴───────┴───────┘
    real time: …
    no seed failed
    ");
}

#[test]
fn a_replay_shows_the_events_the_result_and_what_was_used() {
    let folder = Folder::new("program_replay", &[("branches.toml", PROGRAM)]);
    let ended = folder.run(&["replay", "branches.toml", "--seed", "1"]);
    assert_snapshot!(ended.out, @r#"
    two branches with seed 1
       0.000000000  run-1/program-1    program.started       program="" version=2.0
       0.000000000  run-1/program-1-1  program.call          tool=fetch path=$.body[0] attempt=1 parent=program-1
       0.000000000  run-1/program-1-2  program.call          tool=negate path=$.body[1] attempt=1 parent=program-1
       0.000000000  run-1/program-1-2  program.answer        tool=negate attempt=1 status=error error=tool-execution duration_s=0.0 parent=program-1
       0.018223419  run-1/program-1-1  program.answer        tool=fetch attempt=1 status=ok duration_s=0.018223419 parent=program-1
       0.018223419  run-1/program-1    program.finished      status=ok nodes=5 tool_calls=2 duration_s=0.018223419

    branches[0]: ok {"key":"x","found":true}
    branches[1]: FAILED tool-execution: tool "negate": no stock
    used: 5 nodes, 2 tool calls, depth 3, call depth 0, 2 at once
    6 events in 0.018223419 s of virtual time, digest 8a0b5e8734a869f2793d7bf2a089ad58e72a982af798d6d1af75aba1ca6ddcd0
    passed
    "#);
    let ended = folder.run(&["replay", "branches.toml", "--seed", "1", "--format", "json"]);
    let summary: Value = serde_json::from_str(ended.out.lines().last().unwrap()).unwrap();
    assert_snapshot!(format!("{}\n{}", summary["result"], summary["consumption"]), @r#"
    {"status":"ok","value":[{"success":true,"value":{"key":"x","found":true}},{"success":false,"error":"tool-execution","message":"tool \"negate\": no stock"}],"error":null,"message":null,"resource":null,"limit":null}
    {"nodes":5,"tool_calls":2,"bytes":217,"peak_depth":3,"peak_call_depth":0,"peak_concurrency":2}
    "#);
}

#[test]
fn a_replay_shows_an_error_or_that_there_is_no_end() {
    let with = |script: &str| {
        format!(
            "{{\"tools\": [{{\"name\": \"a\", \"script\": [{script}]}}], \"program\": {{\"schema_version\": \"2.0\", \
             \"body\": [{{\"type\": \"tool_call\", \"tool\": \"a\", \"arguments\": {{}}}}]}}}}"
        )
    };
    let files = [("fails.json", with(r#"{"fail": "timeout"}"#)), ("hangs.json", with(r#"{"fail": "hang"}"#))];
    let folder = Folder::new("program_ends", &[("fails.json", &files[0].1), ("hangs.json", &files[1].1)]);
    let fails = folder.run(&["replay", "fails.json"]);
    assert_eq!(fails.code, Some(0));
    assert_snapshot!(fails.out, @r#"
    case-1 with seed 0
       0.000000000  run-1/program-1    program.started       program="" version=2.0
       0.000000000  run-1/program-1-1  program.call          tool=a path=$.body[0] attempt=1 parent=program-1
       0.000000000  run-1/program-1-1  program.answer        tool=a attempt=1 status=error error=timeout duration_s=0.0 parent=program-1
       0.000000000  run-1/program-1    program.finished      status=error error=timeout nodes=2 tool_calls=1 duration_s=0.0

    result: timeout: tool "a": it ran out of time
    used: 2 nodes, 1 tool calls, depth 2, call depth 0, 1 at once
    4 events in 0.000000000 s of virtual time, digest 59dfc58d13d8fd35bfea3a5f8c3cc4f9ed76915045efd33a547238bcdc2f2c19
    passed
    "#);
    let hangs = folder.run(&["replay", "hangs.json"]);
    assert_eq!(hangs.code, Some(1));
    assert_snapshot!(hangs.out, @r#"
    case-1 with seed 0
       0.000000000  run-1/program-1    program.started       program="" version=2.0
       0.000000000  run-1/program-1-1  program.call          tool=a path=$.body[0] attempt=1 parent=program-1
    31536000.000000000  run-1/program-1    program.finished      status=cancelled nodes=2 tool_calls=1 duration_s=31536000.0

    result: none, the program did not finish
    3 events in 31536000.000000000 s of virtual time, digest a58115c90db6f80829c52b505de3c4f6f20c419440cb8995a88474a9ba808629
    FAILED
      the case came to no end: nothing is left to happen: every task waits, and none for a time before the world's limit; what hangs without a timeout, or waits for a thread or for input from outside, does so forever
        the scenario waits for the tool a, in attempt 1 of program-1-1
    "#);
}

#[test]
fn the_example_fails_with_the_seed_that_it_names() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/pays_twice_in_a_program.toml");
    assert!(std::fs::read_to_string(file).unwrap().contains("--seed 4\n"));
    let ended = Folder::new("program_example", &[]).run(&["replay", file, "--seed", "4"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("result: ok {\"status\":\"paid\"}\n"), "{}", ended.out);
    assert!(ended.out.contains("always \"paid at most once\": is false"), "{}", ended.out);
}
