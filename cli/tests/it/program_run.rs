//! `windtunnel program run`: what a program comes to.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::command::{Ended, Folder};
use crate::programs::{ADDS, COUNTS_DOWN, ENDLESS, parallel, single};

const TOOLS: &str = r#"[
    {"name": "add", "fn": "add", "delay_ms": 100},
    {"name": "negate", "fn": "negate", "delay_ms": 50},
    {"name": "greater_than", "fn": "greater_than"},
    {"name": "subtract", "fn": "subtract", "delay_ms": 10},
    {"name": "ping", "fn": "ping", "delay_ms": 1000},
    {"name": "drawn", "fn": "ping", "delay_ms": {"min": 100, "max": 900}},
    {"name": "flaky", "fn": "ping", "delay_ms": 200, "script": [
        {"fail": "tool-execution", "message": "busy"}, {"fail": "timeout"}]},
    {"name": "down", "random": {"fail": {"provider-response": 1}}},
    {"name": "hang", "script": [{"fail": "hang"}]}
]"#;

/// Runs `program` with the tools above.
fn run(test: &str, program: &str, options: &[&str]) -> Ended {
    let folder = Folder::new(test, &[("program.json", program), ("tools.json", TOOLS)]);
    folder.run(&[&["program", "run", "program.json", "--tools", "tools.json"], options].concat())
}

/// The only object, of a run that printed nothing else.
fn only(ended: &Ended) -> Value {
    assert_eq!(ended.err, "");
    serde_json::from_str(&ended.out).unwrap()
}

#[test]
fn a_value_is_printed_with_what_it_took() {
    let ended = run("program_run_v1", ADDS, &[]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @"
    [3,[-3,-4.5]]
    used: 11 nodes, 3 tool calls, depth 5, call depth 0, 2 at once
    0.100000000 s of virtual time
    ");
    let ended = run("program_run_v2", COUNTS_DOWN, &[]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
    "done"
    used: 32 nodes, 7 tool calls, depth 5, call depth 4, 1 at once
    0.030000000 s of virtual time
    "#);
}

#[test]
fn json_is_one_object() {
    let ended = run("program_run_json", COUNTS_DOWN, &["--format", "json", "--seed", "7"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"{"type":"summary","file":"program.json","seed":7,"status":"ok","passed":true,"value":"done","branches":null,"error":null,"consumption":{"nodes":32,"tool_calls":7,"bytes":1084,"peak_depth":5,"peak_call_depth":4,"peak_concurrency":1},"elapsed_ms":30.0}"#);
}

#[test]
fn a_program_without_tools_needs_none() {
    let program = r#"{"mode": "single", "body": [{"type": "value", "name": "x", "value": {"a\u001b": "\u009b"}}]}"#;
    let folder = Folder::new("program_run_toolless", &[("program.json", program), ("ping.json", &single("ping"))]);
    let ended = folder.run(&["program", "run", "program.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_eq!(ended.out.lines().next(), Some(r#"{"a\u001b":"\u009b"}"#));
    let ended = folder.run(&["program", "run", "ping.json"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.starts_with("FAILED tool-not-found: tool \"ping\": "), "{}", ended.out);
}

#[test]
fn tools_are_read_from_toml_too() {
    let tools = "[[tools]]\nname = \"ping\"\nscript = [{ ok = [1.0, 2] }]";
    let folder = Folder::new("program_run_toml", &[("program.json", &single("ping")), ("tools.toml", tools)]);
    let ended = folder.run(&["program", "run", "program.json", "--tools", "tools.toml"]);
    assert_eq!((ended.code, &*ended.err, ended.out.lines().next()), (Some(0), "", Some("[1.0,2]")));
}

#[test]
fn each_limit_is_an_error_when_it_is_crossed() {
    let three_pings = parallel(&["ping", "ping", "ping"]);
    for (limit, program, resource, number) in [
        (&["--max-nodes", "4"][..], COUNTS_DOWN, "nodes", json!(4)),
        (&["--max-depth", "2"], COUNTS_DOWN, "depth", json!(2)),
        (&["--max-call-depth", "3"], COUNTS_DOWN, "call_depth", json!(3)),
        (&["--max-tool-calls", "2"], &three_pings, "tool_calls", json!(2)),
        (&["--timeout", "0.25"], &three_pings, "wall_clock_seconds", json!(0.25)),
    ] {
        let ended = run("program_run_limit", program, &[limit, &["--format", "json"]].concat());
        let object = only(&ended);
        assert_eq!((ended.code, &object["status"], &object["passed"]), (Some(1), &json!("error"), &json!(false)));
        let error = &object["error"];
        assert_eq!(
            (&error["kind"], &error["resource"], &error["limit"]),
            (&json!("execution-limit"), &json!(resource), &number)
        );
    }
    let ended = run("program_run_limit", COUNTS_DOWN, &["--max-nodes", "4"]);
    assert_snapshot!(ended.out, @"
    FAILED execution-limit: the limit of 4 nodes is crossed
    used: 5 nodes, 0 tool calls, depth 3, call depth 1, 1 at once
    0.000000000 s of virtual time
    ");
}

#[test]
fn a_limit_that_is_just_kept_is_no_error() {
    let limits = ["--max-nodes", "4", "--max-depth", "2", "--max-tool-calls", "3", "--timeout", "1"];
    let ended = run("program_run_kept", &parallel(&["ping", "ping", "ping"]), &limits);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn the_number_at_once_is_limited() {
    let program = parallel(&["ping", "ping", "ping"]);
    for (limit, elapsed_ms) in [("1", 3000.0), ("2", 2000.0), ("3", 1000.0)] {
        let options = ["--max-concurrency", limit, "--format", "json"];
        assert_eq!(only(&run("program_run_at_once", &program, &options))["elapsed_ms"], elapsed_ms);
    }
}

#[test]
fn a_program_without_an_end_stops_at_its_limits() {
    let ended = run("program_run_endless", ENDLESS, &["--timeout", "0.5", "--format", "json"]);
    let object = only(&ended);
    assert_eq!((ended.code, &object["error"]["resource"]), (Some(1), &json!("wall_clock_seconds")));
    let ended = run("program_run_endless", ENDLESS, &[]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert!(ended.out.starts_with("FAILED execution-limit: the limit of 5000000 nodes is crossed\n"), "{}", ended.out);
    assert!(ended.out.ends_with("5000000 is the default of --max-nodes: give more to go on\n"), "{}", ended.out);
}

#[test]
fn a_tool_that_hangs_leaves_the_program_unfinished() {
    let ended = run("program_run_hang", &single("hang"), &[]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @"
    FAILED the program came to no end: nothing is left to happen: every task waits, and none for a time before the world's limit; what hangs without a timeout, or waits for a thread or for input from outside, does so forever
      the scenario waits for the tool hang, in attempt 1 of program-1-1
    31536000.000000000 s of virtual time
    give --timeout SECONDS to end a program whose tool hangs
    ");
    let object = only(&run("program_run_hang", &single("hang"), &["--format", "json"]));
    assert_eq!((&object["status"], &object["consumption"]), (&json!("unfinished"), &json!(null)));
    let timeout = run("program_run_hang", &single("hang"), &["--timeout", "3", "--format", "json"]);
    assert_eq!(only(&timeout)["error"]["limit"], 3.0);
}

#[test]
fn retries_wait_in_virtual_time() {
    let retry = ["--max-attempts", "3", "--idempotent", "flaky", "--retry-delay", "1.5"];
    let ended = run("program_run_retry", &single("flaky"), &[&retry[..], &["--trace"]].concat());
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
       0.000000000  run-1/program-1    program.started       program="" version=2.0
       0.000000000  run-1/program-1-1  program.call          tool=flaky path=$.body[0] attempt=1 parent=program-1
       0.200000000  run-1/program-1-1  program.answer        tool=flaky attempt=1 status=error error=tool-execution duration_s=0.2 parent=program-1
       0.200000000  run-1/program-1-1  program.retry         tool=flaky attempt=1 cause=tool-execution delay_s=1.5 parent=program-1
       1.700000000  run-1/program-1-1  program.call          tool=flaky path=$.body[0] attempt=2 parent=program-1
       1.900000000  run-1/program-1-1  program.answer        tool=flaky attempt=2 status=error error=timeout duration_s=0.2 parent=program-1
       1.900000000  run-1/program-1-1  program.retry         tool=flaky attempt=2 cause=timeout delay_s=1.5 parent=program-1
       3.400000000  run-1/program-1-1  program.call          tool=flaky path=$.body[0] attempt=3 parent=program-1
       3.600000000  run-1/program-1-1  program.answer        tool=flaky attempt=3 status=ok duration_s=0.2 parent=program-1
       3.600000000  run-1/program-1    program.finished      status=ok nodes=2 tool_calls=3 duration_s=3.6

    "pong"
    used: 2 nodes, 3 tool calls, depth 2, call depth 0, 1 at once
    3.600000000 s of virtual time
    "#);
}

#[test]
fn only_what_may_be_tried_again_is() {
    let attempts = |program: &str, options: &[&str]| {
        let options = [&["--max-attempts", "3", "--format", "json"], options].concat();
        let object = only(&run("program_run_attempts", program, &options));
        object["consumption"]["tool_calls"].as_u64().unwrap()
    };
    assert_eq!(attempts(&single("flaky"), &[]), 1);
    assert_eq!(attempts(&single("flaky"), &["--idempotent", "ping"]), 1);
    assert_eq!(attempts(&single("flaky"), &["--idempotent", "ping", "--idempotent", "flaky"]), 3);
    assert_eq!(attempts(&single("flaky"), &["--idempotent", "flaky", "--retry-on", "tool-execution"]), 2);
    assert_eq!(attempts(&single("down"), &["--idempotent", "down"]), 1);
    let kinds = ["--retry-on", "timeout", "--retry-on", "provider-response"];
    assert_eq!(attempts(&single("down"), &[&["--idempotent", "down"], &kinds[..]].concat()), 3);
}

#[test]
fn failures_of_branches_can_be_collected() {
    let program = parallel(&["ping", "down", "drawn"]);
    let ended = run("program_run_raise", &program, &[]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out, @r#"
    FAILED provider-response: tool "down": the script says so
    used: 4 nodes, 3 tool calls, depth 2, call depth 0, 2 at once
    0.000000000 s of virtual time
    "#);
    let ended = run("program_run_collect", &program, &["--parallel-failures", "collect"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    branches[0]: ok "pong"
    branches[1]: FAILED provider-response: tool "down": the script says so
    branches[2]: ok "pong"
    used: 4 nodes, 3 tool calls, depth 2, call depth 0, 2 at once
    1.000000000 s of virtual time
    "#);
    let ended = run("program_run_collect", &program, &["--parallel-failures", "collect", "--format", "json"]);
    assert_snapshot!(ended.out, @r#"{"type":"summary","file":"program.json","seed":0,"status":"ok","passed":false,"value":null,"branches":[{"success":true,"value":"pong"},{"success":false,"error":"provider-response","message":"tool \"down\": the script says so"},{"success":true,"value":"pong"}],"error":null,"consumption":{"nodes":4,"tool_calls":3,"bytes":144,"peak_depth":2,"peak_call_depth":0,"peak_concurrency":2},"elapsed_ms":1000.0}"#);
    let all_well = run("program_run_collect", &parallel(&["ping"]), &["--parallel-failures", "collect"]);
    assert_eq!((all_well.code, all_well.out.lines().next()), (Some(0), Some("branches[0]: ok \"pong\"")));
    let single = run("program_run_collect", &single("ping"), &["--parallel-failures", "collect"]);
    assert_eq!((single.code, &*single.out), (Some(2), ""));
    assert_snapshot!(single.err, @r#"error: --parallel-failures collect: only a program of mode "parallel" has branches to collect"#);
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let program = parallel(&["drawn", "drawn", "ping"]);
    let run =
        |seed| run("program_run_seed", &program, &["--shuffle", "--trace", "--format", "json", "--seed", seed]).out;
    assert_eq!(run("5"), run("5"));
    assert_ne!(run("5"), run("6"));
    let lines: Vec<Value> = run("5").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, events) = lines.split_last().unwrap();
    assert_eq!((&summary["type"], &summary["seed"], events.len()), (&json!("summary"), &json!(5), 8));
    assert_eq!((&events[0]["type"], &events[7]["type"]), (&json!("program.started"), &json!("program.finished")));
}

#[test]
fn a_value_that_is_too_deep_is_not_printed() {
    let open = r#"{"type":"program","mode":"parallel","body":[{"type":"value","name":"x","value":1},"#;
    let program = format!("{}{}{}", open.repeat(5_000), r#"{"type":"value","name":"x","value":1}"#, "]}".repeat(5_000));
    let ended = run("program_run_deep", &program, &[]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @"
    FAILED type-error: $.body[1].body[1].body[1].body[1].body[1].body[1].body[1].body[1].body[1].body[1]<9703 segments left out>[1].body[1].body[1].body[1].body[1].body[1].body[1].body[1].body[1].body[1]: the value has more than 128 levels of lists and objects
    used: 10001 nodes, 0 tool calls, depth 5001, call depth 0, 2 at once
    0.000000000 s of virtual time
    ");
}

#[test]
fn the_example_runs_and_crosses_the_limit_that_the_readme_gives() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/program");
    let read = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).unwrap();
    let files = [("fibonacci.json", &*read("fibonacci.json")), ("tools.toml", &*read("tools.toml"))];
    let folder = Folder::new("program_run_example", &files);
    let run = |options: &[&str]| {
        folder.run(&[&["program", "run", "fibonacci.json", "--tools", "tools.toml"], options].concat())
    };
    assert!(run(&[]).out.starts_with("55\n"));
    let limited = run(&["--max-tool-calls", "100"]);
    assert_eq!(limited.code, Some(1));
    assert!(limited.out.contains("the limit of 100 tool_calls is crossed"), "{}", limited.out);
}

#[test]
fn an_end_that_the_command_line_can_change_says_how() {
    let last_line = |ended: &Ended| ended.out.lines().last().unwrap_or_default().to_owned();
    let known = "known tools: add, negate, greater_than, subtract, ping, drawn, flaky, down, hang";
    assert_eq!(last_line(&run("program_run_hint", &single("pong"), &[])), known);
    let collected = run("program_run_hint", &parallel(&["pong", "ping"]), &["--parallel-failures", "collect"]);
    assert_eq!(last_line(&collected), known);
    let folder = Folder::new("program_run_hint_none", &[("program.json", &single("pong"))]);
    let none = folder.run(&["program", "run", "program.json"]);
    assert_eq!(last_line(&none), "there are no tools: give them with --tools TOOLS");
    let hangs = run("program_run_hint", &single("hang"), &[]);
    assert_eq!(
        (hangs.code, &*last_line(&hangs)),
        (Some(1), "give --timeout SECONDS to end a program whose tool hangs")
    );
    let timed = run("program_run_hint", &single("hang"), &["--timeout", "2"]);
    assert!(!timed.out.contains("--timeout"), "{}", timed.out);
}

#[test]
fn the_tools_of_a_whole_case_are_taken() {
    let case = format!(r#"{{"tools": [{{"name": "ping", "ok": [null]}}], "program": {}}}"#, single("other"));
    let folder = Folder::new("program_run_case", &[("program.json", &single("ping")), ("case.json", &case)]);
    let ended = folder.run(&["program", "run", "program.json", "--tools", "case.json"]);
    assert_eq!((ended.code, ended.out.lines().next()), (Some(0), Some("[null]")));
}
