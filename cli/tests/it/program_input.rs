//! `windtunnel program run`: arguments and files that are not accepted, Ctrl-C, and help.

use insta::assert_snapshot;

use crate::command::Folder;
use crate::programs::{ENDLESS, single};

/// Runs a program that pings, with a tool that does.
#[track_caller]
fn check_misused(test: &str, options: &[&str]) -> String {
    let files = [
        ("program.json", &*single("ping")),
        ("tools.json", r#"[{"name": "ping", "fn": "ping"}]"#),
        ("wrong.json", "{\"tools\": [\n{\"name\": \"ping\", \"fun\": \"ping\"}]}"),
        ("invalid.json", r#"{"mode": "single", "body": [7], "extra": 1}"#),
    ];
    let ended = Folder::new(test, &files).run(&[&["program", "run"], options].concat());
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    ended.err
}

#[test]
fn a_program_or_tools_that_are_invalid_or_absent() {
    assert_snapshot!(check_misused("program_input_invalid", &["invalid.json"]), @r#"
    error: invalid.json is not a valid program
    invalid.json:1:29: $.body[0]: must be a node: write {"type": "value", "name": …, "value": …}
    invalid.json:1:42: $.extra: unknown field; known fields: "type", "body", "mode", "name", "description", "schema_version"
       |
     1 | {"mode": "single", "body": [7], "extra": 1}
       |                             ^
       |
     1 | …"mode": "single", "body": [7], "extra": 1}
       |                                          ^
    "#);
    assert_snapshot!(check_misused("program_input_absent", &["absent.json"]), @"error: absent.json: cannot be read: No such file or directory (os error 2)");
    assert_snapshot!(check_misused("program_input_tools", &["program.json", "--tools", "wrong.json"]), @r#"
    error: wrong.json:2:18: $.tools[0].fun: unknown field "fun"; did you mean "fn"? known: name, fn, delay_ms, parameters, schema, script, random, ok, answers, cassette
       |
     1 | {"tools": [
     2 | {"name": "ping", "fun": "ping"}]}
       |                  ^^^^^
    "#);
    assert_snapshot!(check_misused("program_input_yaml", &["program.json", "--tools", "tools.yaml"]), @"error: tools.yaml: the name of a file of tools ends in .json or .toml");
    assert_snapshot!(check_misused("program_input_no_tools", &["program.json", "--tools", "absent.toml"]), @"error: absent.toml: cannot be read: No such file or directory (os error 2)");
}

#[test]
fn an_idempotent_tool_must_be_there() {
    let options = ["program.json", "--tools", "tools.json", "--max-attempts", "2", "--idempotent", "pign"];
    assert_snapshot!(check_misused("program_input_slip", &options), @"error: --idempotent pign: there is no such tool; known: ping");
    assert_snapshot!(check_misused("program_input_none", &["program.json", "--idempotent", "ping"]), @"error: --idempotent ping: there is no such tool; there are no tools");
}

#[test]
fn limits_and_policies_that_make_no_sense() {
    for wrong in [
        ["--max-nodes", "0"],
        ["--max-depth", "-1"],
        ["--timeout", "0"],
        ["--timeout", "NaN"],
        ["--retry-delay", "-1"],
        ["--retry-delay", "31536001"],
        ["--max-attempts", "0"],
        ["--parallel-failures", "ignore"],
    ] {
        check_misused("program_input_limits", &[&["program.json"], &wrong[..]].concat());
    }
    assert_snapshot!(check_misused("program_input_timeout", &["program.json", "--timeout", "0"]), @"
    error: invalid value '0' for '--timeout <SECONDS>': write a number of seconds above 0 and up to 31536000 (a year), such as 0.25

    For more information, try '--help'.
    ");
    assert_snapshot!(check_misused("program_input_kind", &["program.json", "--retry-on", "replay-mismatch"]), @"
    error: invalid value 'replay-mismatch' for '--retry-on <KIND>'
      [possible values: tool-execution, timeout, unclassified, tool-not-found, provider-response, ast-validation]

    For more information, try '--help'.
    ");
}

/// Whether the process is evaluating.
#[cfg(target_os = "linux")]
fn has_world(process: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    // A thread may end before its name is read; Linux keeps 15 letters of one.
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.into_iter().any(|name| name.trim_end() == "windtunnel-worl")
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_without_an_end_can_be_interrupted() {
    use crate::command::Ended;
    use crate::interrupt::interrupt;

    let folder = Folder::new("program_interrupt", &[("endless.json", ENDLESS)]);
    let child = folder.command(&["program", "run", "endless.json", "--max-nodes", "1000000000000"]).spawn().unwrap();
    while !has_world(child.id()) {
        std::thread::yield_now();
    }
    interrupt(child.id());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(130), "", ""));
}

#[test]
fn help_of_program_run() {
    assert_snapshot!(Folder::new("program_input_help", &[]).run(&["program", "run", "--help"]).out, @"
    Evaluate one program with scripted tools, and print what it came to and what it used

    Usage: windtunnel program run [OPTIONS] <FILE>

    Arguments:
      <FILE>  A file of one program, as JSON; `-` reads standard input

    Options:
          --tools <TOOLS>    The tools, as in a case file of kind `program`: that file (of one case), `tools` alone, or a list in JSON [default: none]
          --seed <N>         What the tools' scripts, and --shuffle, draw from [default: 0]
          --shuffle          Let siblings go on in an order drawn from the seed, instead of as they are written
          --trace            Print every event too
          --format <FORMAT>  How to print: for people, or one JSON object, after one for each event if there is a trace [default: text] [possible values: text, json]
          --color <WHEN>     When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help             Print help

    Limits:
          --max-nodes <N>        The most nodes to evaluate: a lambda's or a function's body counts each time [default: 5000000]
          --max-depth <N>        How deep a node may stand in the program, from 1
          --max-call-depth <N>   The most user functions active at once, one in the other
          --max-tool-calls <N>   The most attempts of tools [default: 500000]
          --max-concurrency <N>  The most expressions of the body to evaluate at once; with it, what is inside one of them runs one after another. Without it all begin at once, in either mode
          --max-bytes <N>        The most bytes of values, about, to copy into lists and arguments [default: 268435456]
          --timeout <SECONDS>    How long it may take, in virtual time; past it the whole evaluation fails, collected branches too

    When tools fail:
          --max-attempts <N>          How many attempts one call may make, of a tool that is --idempotent [default: 1]
          --retry-delay <SECONDS>     The wait before each further attempt [default: 0]
          --idempotent <TOOL>         A tool that may be tried again; can be given several times
          --retry-on <KIND>           A kind of error that may be tried again; can be given several times [default: tool-execution and timeout] [possible values: tool-execution, timeout, unclassified, tool-not-found, provider-response, ast-validation]
          --parallel-failures <WHAT>  What the failure of one expression of a parallel program does: fail the program, or only its own branch. A limit that is crossed fails as anything else does, except for --timeout [default: raise] [possible values: raise, collect]

    Exit codes:
      0    the program came to a value; with --parallel-failures collect, every expression of the body did
      1    it failed, or came to no end; with --parallel-failures collect, a branch failed
      2    wrong arguments, or a file that cannot be read as a program or as tools
      130  interrupted

    Time is virtual: a tool that takes an hour takes none of yours. The same seed gives the same run.
    ");
}
