//! Arguments and files that are not accepted, and help.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::command::Folder;

#[track_caller]
fn check_misused(test: &str, files: &[(&str, &str)], arguments: &[&str]) -> String {
    let ended = Folder::new(test, files).run(arguments);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    ended.err
}

const TWO: &str = "{\"id\": \"a\", \"tools\": [], \"calls\": []}\n{\"id\": \"b\", \"tools\": [], \"calls\": []}";

#[test]
fn help_says_what_there_is_and_what_exit_codes_mean() {
    let folder = Folder::new("input_help", &[]);
    let ended = folder.run(&["--help"]);
    assert_eq!(ended.code, Some(0));
    assert_snapshot!(ended.out, @"
    Tests the calls of AI agents deterministically: case files run on virtual time, and every failure repeats

    Usage: windtunnel [OPTIONS] <COMMAND>

    Commands:
      check        Run case files, each case twice, and compare with what they expect
      run          Run the cases of a file over many seeds and sum up
      sweep        Try every fault at every event of a case, then pairs of faults, and tell each way to fail once
      shrink       Make a failing seed of a case small, and write it as a case of its own
      replay       Run one case with one seed and print what happened, event by event
      diff         Show two runs side by side where they first differ
      init         Add a first test in a simulated world, and a first case file, to a crate
      program      Check, show or evaluate one program: a tree of tool calls as JSON
      journal      Show or check the journals of durable workflows in a file
      fixture      Show, compare, check, redact, convert and accept files of recorded traffic
      record       Stand between clients and the services that they ask, and record what passes
      serve        Answer clients from a cassette, as the services did
      mcp          Record or play servers of the Model Context Protocol
      schema       Print the JSON Schema of programs, for models and editors
      completions  Print a script with which a shell completes this command
      man          Write the pages of the manual: one for each command
      help         Print this message or the help of the given subcommand(s)

    Options:
          --color <WHEN>  When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help          Print help
      -V, --version       Print version

    Exit codes:
      0    every case passed; every program is valid, or came to a value; no journal is damaged; all traffic is recorded, or
           was asked for; two traces are the same
      1    a case failed; a program is invalid, or failed; a journal is damaged; traffic was missed or left over; two traces
           differ
      2    wrong arguments, a file that cannot be read as what it must be, or one that cannot be written
      130  interrupted: what was known by then is printed

    Colours and the progress bar appear on terminals only; NO_COLOR turns colours off, and --color says otherwise.
    ");
}

#[test]
fn help_of_check() {
    let folder = Folder::new("input_help_check", &[]);
    assert_snapshot!(folder.run(&["check", "-h"]).out, @"
    Run case files, each case twice, and compare with what they expect

    Usage: windtunnel check [OPTIONS] <FILES>...

    Arguments:
      <FILES>...  Case files (.json, .jsonl, .toml); `-` reads JSONL from standard input

    Options:
          --jobs <N>         How many cases to run at once [default: one for each core]
          --junit <FILE>     Write the verdicts to this file as JUnit XML: a test for each case
          --format <FORMAT>  How to print: for people, or a JSON object for each case and one for the summary [default: text] [possible values: text, json]
          --report <FILE>    Also write what happened to this file, as a page for the browser
          --color <WHEN>     When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help             Print help

    Exit codes:
      0    every case passed
      1    a case failed
      2    wrong arguments, a file that cannot be read as cases, or one that cannot be written
      130  interrupted: what was known by then is printed

    Colours and the progress bar appear on terminals only; NO_COLOR turns colours off, and --color says otherwise.
    ");
}

#[test]
fn help_of_run() {
    let folder = Folder::new("input_help_run", &[]);
    assert_snapshot!(folder.run(&["run", "-h"]).out, @"
    Run the cases of a file over many seeds and sum up

    Usage: windtunnel run [OPTIONS] <FILE>

    Arguments:
      <FILE>  A case file (.json, .jsonl, .toml)

    Options:
          --seeds <A..B>     The seeds: A..B without B, A..=B with it [default: 0..1000]
          --jobs <N>         How many seeds to run at once; the output is the same for any number [default: one for each core]
          --case <ID>        Only the case with this id
          --junit <FILE>     Write the verdicts to this file as JUnit XML: a test for each seed
          --format <FORMAT>  How to print: for people, or a JSON object for each case and one for the summary [default: text] [possible values: text, json]
          --report <FILE>    Also write what happened to this file, as a page for the browser
          --color <WHEN>     When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help             Print help

    Exit codes:
      0    every case passed
      1    a case failed
      2    wrong arguments, a file that cannot be read as cases, or one that cannot be written
      130  interrupted: what was known by then is printed

    Colours and the progress bar appear on terminals only; NO_COLOR turns colours off, and --color says otherwise.
    ");
}

#[test]
fn help_of_replay() {
    let folder = Folder::new("input_help_replay", &[]);
    assert_snapshot!(folder.run(&["replay", "-h"]).out, @"
    Run one case with one seed and print what happened, event by event

    Usage: windtunnel replay [OPTIONS] <FILE>

    Arguments:
      <FILE>  A case file (.json, .jsonl, .toml)

    Options:
          --seed <N>         The seed [default: the one in the file, or 0]
          --case <ID>        The case with this id, where the file holds several
          --recipe <JSON>    Instead of what the file plans and draws, run what a sweep has found, which says this: a seed and its faults, as JSON
          --journal <FILE>   Keep the journal of a case of kind operations or agent in this file, which must not be there yet
          --events <FILE>    Write the events to this file, each as a line of JSON; `windtunnel diff` compares such files
          --perfetto <FILE>  Write the trace to this file, to be opened in https://ui.perfetto.dev
          --otlp <FILE>      Write the trace to this file as JSON of the OpenTelemetry Protocol, for a collector
          --format <FORMAT>  How to print: for people, or a JSON object for each event and one for the summary [default: text] [possible values: text, json]
          --report <FILE>    Also write what happened to this file, as a page for the browser
          --color <WHEN>     When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help             Print help

    Exit codes:
      0    every case passed
      1    a case failed
      2    wrong arguments, a file that cannot be read as cases, or one that cannot be written
      130  interrupted: what was known by then is printed

    Colours and the progress bar appear on terminals only; NO_COLOR turns colours off, and --color says otherwise.
    ");
}

#[test]
fn a_file_that_is_absent_or_of_no_known_format() {
    assert_snapshot!(check_misused("input_absent", &[], &["run", "absent.json"]), @"error: absent.json: cannot be read: No such file or directory (os error 2)");
    assert_snapshot!(check_misused("input_format", &[("a.yaml", "")], &["replay", "a.yaml"]), @"error: a.yaml: the name of a case file ends in .json, .jsonl or .toml");
}

#[test]
fn a_file_with_a_slip() {
    let text = "id = \"a\"\ncalls = []\n\n[[tools]]\nname = \"a\"\nretrise = 3\n";
    assert_snapshot!(check_misused("input_slip", &[("a.toml", text)], &["run", "a.toml"]), @r#"
    error: a.toml:6:1: $.tools[0].retrise: unknown field "retrise"; did you mean "retries"? known: name, description, kind, parameters, schema, retries, timeout_s, parallel_safe, once_per_run, confirm, cache_ttl_s, cache_scope, script, random, cassette
       |
     4 | [[tools]]
     5 | name = "a"
     6 | retrise = 3
       | ^^^^^^^
    "#);
}

#[test]
fn a_case_that_must_be_chosen_or_is_not_there() {
    assert_snapshot!(check_misused("input_choice", &[("two.jsonl", TWO)], &["replay", "two.jsonl"]), @"error: two.jsonl holds 2 cases; choose one with --case: a, b");
    let absent = check_misused("input_no_case", &[("two.jsonl", TWO)], &["run", "two.jsonl", "--case", "c"]);
    assert_snapshot!(absent, @r#"error: two.jsonl: there is no case "c"; it holds: a, b"#);
}

#[test]
fn seeds_that_are_no_range() {
    assert_snapshot!(check_misused("input_seeds", &[("two.jsonl", TWO)], &["run", "two.jsonl", "--seeds", "5..5"]), @"
    error: invalid value '5..5' for '--seeds <A..B>': no seed is in 5..5; the first comes before the end

    For more information, try '--help'.
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let lines: String =
        (0..20_000).map(|index| TWO.lines().next().unwrap().replace("\"a\"", &format!("\"{index}\"")) + "\n").collect();
    let folder = Folder::new("input_pipe", &[("many.jsonl", &lines)]);
    let mut child = folder.command(&["check", "many.jsonl", "--format", "json"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn the_exit_code_does_not_depend_on_who_reads_the_output() {
    let case = r#"{"tools": [], "calls": [], "expect": {"ledger_entries": 9}}"#;
    let folder = Folder::new("unread", &[("fails.json", case)]);
    for closed in [">&-", "| true", "2>&-"] {
        let script = format!("set -o pipefail; '{}' check fails.json {closed}", env!("CARGO_BIN_EXE_windtunnel"));
        let mut shell = std::process::Command::new("bash");
        let status = shell.args(["-c", &script]).current_dir(&folder.path).stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{closed}");
    }
}
