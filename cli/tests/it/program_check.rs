//! `windtunnel program check`.

use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::{Ended, Folder};
use crate::programs::{ADDS, COUNTS_DOWN, nested};

const WRONG: &str = r#"{
    "mode": "double",
    "body": [
        {"type": "conditional", "true_branch": 7},
        {"type": "functoin", "name": "f", "params": []}
    ],
    "boddy": []
}"#;

#[test]
fn valid_programs_of_both_versions_pass() {
    let folder = Folder::new("program_valid", &[("one.json", ADDS), ("two.json", COUNTS_DOWN)]);
    let ended = folder.run(&["program", "check", "one.json", "two.json"]);
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(0), "2 valid, 0 invalid\n", ""));
}

#[test]
fn every_offence_is_reported_at_once_with_its_place() {
    let unbound = r#"{"schema_version": "2.0", "body": [{"type": "variable", "name": "é"}]}"#;
    let files = [("wrong.json", WRONG), ("one.json", ADDS), ("unbound.json", unbound)];
    let folder = Folder::new("program_offences", &files);
    let ended = folder.run(&["program", "check", "wrong.json", "one.json", "unbound.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    wrong.json:2:13: $.mode: must be "single" or "parallel"
    wrong.json:4:9: $.body[0]: `condition` is missing
    wrong.json:4:48: $.body[0].true_branch: must be a node: write {"type": "value", "name": …, "value": …}
    wrong.json:5:18: $.body[1].type: "functoin" cannot stand here; known types: "program", "function", "value", "conditional", "map", "filter", "reduce"
    wrong.json:7:14: $.boddy: unknown field; known fields: "type", "body", "mode", "name", "description", "schema_version"
    unbound.json:1:65: $.body[0].name: "é" is not a name; use letters, digits and _, and begin with no digit
    1 valid, 2 invalid
    "#);
}

#[test]
fn text_that_is_no_json_is_invalid_at_its_place() {
    let folder = Folder::new(
        "program_no_json",
        &[
            ("comma.json", "{\n  \"body\": [,]}"),
            ("empty.json", ""),
            ("twice.json", r#"{"mode": "single", "mode": "single"}"#),
            ("large.json", r#"{"body": 18446744073709551616}"#),
        ],
    );
    std::fs::write(folder.path.join("bytes.json"), b"{\n\"\xff\": 1}").unwrap();
    let ended = folder.run(&["program", "check", "comma.json", "empty.json", "twice.json", "large.json", "bytes.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @"
    comma.json:2:12: $.body[0]: Unexpected comma, no values to separate
    empty.json:1:1: $: Unexpected end of file, a value was expected
    twice.json:1:20: $.mode: this member is given twice
    large.json:1:10: $.body: the number 18446744073709551616 does not fit; write it as a string, or a large integer as a float such as 1e30
    bytes.json:2:2: $: the text is not UTF-8
    0 valid, 5 invalid
    ");
}

#[test]
fn offences_past_a_hundred_are_counted() {
    let text = format!(r#"{{"mode": "single", "body": [{}1]}}"#, "1, ".repeat(122));
    let ended = Folder::new("program_many", &[("many.json", &text)]).run(&["program", "check", "many.json"]);
    assert_eq!((ended.code, ended.out.lines().count()), (Some(1), 102));
    assert!(ended.out.ends_with("many.json: and 23 more offences; repair these first\n0 valid, 1 invalid\n"));
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let folder = Folder::new("program_absent", &[("wrong.json", "7"), ("one.json", ADDS)]);
    let ended = folder.run(&["program", "check", "absent.json", "wrong.json", "one.json", "."]);
    assert_eq!(ended.code, Some(2));
    assert_snapshot!(ended.out, @"
    wrong.json:1:1: $: must be an object, not a number
    1 valid, 1 invalid, 2 not readable
    ");
    assert_snapshot!(ended.err, @"
    error: absent.json: cannot be read: No such file or directory (os error 2)
    error: .: cannot be read: Is a directory (os error 21)
    ");
}

#[test]
fn standard_input_is_a_program_too() {
    let folder = Folder::new("program_stdin", &[("one.json", ADDS)]);
    let mut child = folder.command(&["program", "check", "-", "one.json"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"body": []}"#).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @"
    <stdin>:1:1: $: `mode` is missing
    1 valid, 1 invalid
    ");
}

#[test]
fn each_file_is_a_json_object_and_so_is_the_summary() {
    let files = [("one.json", ADDS), ("two.json", COUNTS_DOWN), ("wrong.json", WRONG)];
    let folder = Folder::new("program_json", &files);
    let ended =
        folder.run(&["program", "check", "--format", "json", "one.json", "two.json", "wrong.json", "absent.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(2), ""));
    assert!(ended.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert_snapshot!(ended.out, @r#"
    {"type":"program","file":"one.json","valid":true,"version":"1.0","name":"adds","nodes":9,"tools":["add","negate"],"offences":[]}
    {"type":"program","file":"two.json","valid":true,"version":"2.0","name":null,"nodes":12,"tools":["greater_than","subtract"],"offences":[]}
    {"type":"program","file":"wrong.json","valid":false,"version":null,"name":null,"nodes":null,"tools":null,"offences":[{"path":"$.mode","line":2,"column":13,"problem":"must be \"single\" or \"parallel\""},{"path":"$.body[0]","line":4,"column":9,"problem":"`condition` is missing"},{"path":"$.body[0].true_branch","line":4,"column":48,"problem":"must be a node: write {\"type\": \"value\", \"name\": …, \"value\": …}"},{"path":"$.body[1].type","line":5,"column":18,"problem":"\"functoin\" cannot stand here; known types: \"program\", \"function\", \"value\", \"conditional\", \"map\", \"filter\", \"reduce\""},{"path":"$.boddy","line":7,"column":14,"problem":"unknown field; known fields: \"type\", \"body\", \"mode\", \"name\", \"description\", \"schema_version\""}]}
    {"type":"error","file":"absent.json","message":"absent.json: cannot be read: No such file or directory (os error 2)"}
    {"type":"summary","files":4,"valid":2,"invalid":1,"unreadable":1,"interrupted":false}
    "#);
}

#[test]
fn names_cannot_move_the_cursor() {
    let text = format!("{{\"mode\": \"single\", \"body\": [], \"{}\": 1}}", "\u{9b}31m\u{7f}\\u001b[2J\\n\u{202e}");
    let folder = Folder::new("program_escape", &[("a\u{1b}[2J.json", &text)]);
    let file = "a\u{1b}[2J.json";
    for arguments in [
        &["program", "check", file, "b\u{9b}\n.json"][..],
        &["program", "check", "--format", "json", file],
        &["program", "show", file],
        &["program", "run", file],
        &["program", "run", "c\u{1b}.json"],
    ] {
        let ended = folder.run(arguments);
        let shown = ended.out + &ended.err;
        let is_harmless = |letter: char| letter == '\n' || !(letter.is_control() || letter == '\u{202e}');
        assert!(shown.contains(r"\u001b") && shown.chars().all(is_harmless), "{shown:?}");
    }
}

#[test]
fn a_hundred_thousand_levels_are_checked() {
    let (valid, invalid) = (nested(100_000, ""), nested(100_000, "7"));
    let folder = Folder::new("program_deep", &[("valid.json", &valid), ("invalid.json", &invalid)]);
    let ended = folder.run(&["program", "check", "valid.json", "invalid.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    invalid.json:1:4000026: $.body[0].params[0].params[0].params[0].params[0].params[0].params[0].params[0].params[0].params[0]<199963 segments left out>[0].params[0].params[0].params[0].params[0].params[0].params[0].params[0].params[0].params[0]: must be a node: write {"type": "value", "name": …, "value": …}
    1 valid, 1 invalid
    "#);
}

#[test]
fn with_tools_the_calls_must_fit_them() {
    let tools =
        r#"[{"name": "add", "fn": "add"}, {"name": "open", "schema": {"properties": {"a": {}}, "required": ["b"]}}]"#;
    let one = r#"{"mode": "parallel", "body": [
        {"type": "function", "name": "functions.add", "params": [{"type": "value", "name": "a", "value": 1}]},
        {"type": "function", "name": "open", "params": []},
        {"type": "map", "iterable": {"type": "value", "name": "n", "value": [{"type": "tool_call", "tool": "data"}]},
            "function": {"params": ["n"], "body": {"name": "negate", "params": [
                {"type": "value", "name": "n", "value": null}]}}}]}"#;
    let two = r#"{"schema_version": "2.0", "mode": "parallel", "body": [
        {"type": "tool_call", "tool": "ad", "arguments": {}},
        {"type": "tool_call", "tool": "add", "arguments": {"a": {"type": "literal", "value": 1},
            "c": {"type": "tool_call", "tool": "open", "arguments": {"x": {"type": "literal", "value": 1}}}}}]}"#;
    let folder = Folder::new("program_fits", &[("one.json", one), ("two.json", two), ("tools.json", tools)]);
    let without = folder.run(&["program", "check", "one.json", "two.json"]);
    assert_eq!((without.code, &*without.out), (Some(0), "2 valid, 0 invalid\n"));
    let ended = folder.run(&["program", "check", "one.json", "two.json", "--tools", "tools.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    one.json: $.body[0]: tool "add" takes exactly 2 parameters, not 1
    one.json: $.body[2].function.body: there is no tool "negate"; known: add, open
    two.json: $.body[0]: there is no tool "ad"; known: add, open
    two.json: $.body[1]: tool "add" takes no argument "c"; known: a, b
    two.json: $.body[1]: tool "add" needs the argument "b"
    two.json: $.body[1].arguments.c: tool "open" needs the argument "b"
    0 valid, 2 invalid
    "#);
    let deep = nested(100_000, "");
    std::fs::write(folder.path.join("deep.json"), deep).unwrap();
    let ended = folder.run(&["program", "check", "deep.json", "--tools", "tools.json"]);
    assert_snapshot!(ended.out, @"
    deep.json: nests deeper than 2000 levels of JSON: its tools cannot be checked
    0 valid, 1 invalid
    ");
}

#[test]
fn help_of_program() {
    let folder = Folder::new("program_help", &[]);
    assert_snapshot!(folder.run(&["program", "--help"]).out, @"
    Check, show or evaluate one program: a tree of tool calls as JSON

    Usage: windtunnel program [OPTIONS] <COMMAND>

    Commands:
      check  Check programs, and report everything that is wrong with them
      show   Print one program, as an indented tree or in its canonical form
      run    Evaluate one program with scripted tools, and print what it came to and what it used
      help   Print this message or the help of the given subcommand(s)

    Options:
          --color <WHEN>  When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help          Print help
    ");
    assert_snapshot!(folder.run(&["program", "check", "--help"]).out, @"
    Check programs, and report everything that is wrong with them

    Usage: windtunnel program check [OPTIONS] <FILES>...

    Arguments:
      <FILES>...  Files of one program each, as JSON; `-` reads standard input

    Options:
          --tools <TOOLS>    Tools that the programs must fit: each is there, and takes the arguments that it is called with
          --format <FORMAT>  How to print: a line for each offence, or a JSON object for each file and one for the summary [default: text] [possible values: text, json]
          --color <WHEN>     When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help             Print help

    Exit codes:
      0    every program is valid
      1    a program is invalid
      2    wrong arguments, or a file that cannot be read
      130  interrupted: what was known by then is printed
    ");
}
