//! `windtunnel program show`.

use std::io::Write;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::command::{Ended, Folder};
use crate::programs::{ADDS, COUNTS_DOWN, nested};

#[test]
fn a_program_of_version_1_is_a_tree() {
    let ended = Folder::new("show_v1", &[("one.json", ADDS)]).run(&["program", "show", "one.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
    program 1.0, parallel, "adds"
      tool functions.add
        a = 1
        b = 2
      map
        lambda (n)
          tool negate
            parameter n
        over: numbers = [3,4.5]
    "#);
}

#[test]
fn a_program_of_version_2_is_a_tree() {
    let ended = Folder::new("show_v2", &[("two.json", COUNTS_DOWN)]).run(&["program", "show", "two.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"
    program 2.0, single
      define down(n)
        conditional
          if: tool greater_than
            a: variable n
            b: 0
          then: call down
            tool subtract
              a: variable n
              b: 1
          else: "done"
      call down
        3
    "#);
}

#[test]
fn the_canonical_form_is_its_own() {
    let folder = Folder::new("show_canonical", &[("one.json", ADDS)]);
    let ended = folder.run(&["program", "show", "--canonical", "one.json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @r#"{"type":"program","body":[{"type":"function","name":"functions.add","params":[{"type":"value","name":"a","value":1},{"type":"value","name":"b","value":2}]},{"type":"map","function":{"type":"lambda","params":["n"],"body":{"type":"function","name":"negate","params":[{"type":"value","name":"n","value":null}]}},"iterable":{"type":"value","name":"numbers","value":[3,4.5]}}],"mode":"parallel","name":"adds","description":null,"schema_version":"1.0"}"#);
    let mut child = folder.command(&["program", "show", "-", "--canonical"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(ended.out.as_bytes()).unwrap();
    assert_eq!(Ended::of(child.wait_with_output().unwrap()).out, ended.out);
}

#[test]
fn a_program_that_is_invalid_is_not_shown() {
    let folder = Folder::new("show_invalid", &[("wrong.json", r#"{"mode": "double", "body": 7}"#)]);
    let ended = folder.run(&["program", "show", "wrong.json"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    assert_snapshot!(ended.err, @r#"
    error: wrong.json is not a valid program
    wrong.json:1:10: $.mode: must be "single" or "parallel"
    wrong.json:1:28: $.body: must be a list, not a number
       |
     1 | {"mode": "double", "body": 7}
       |          ^^^^^^^^
       |
     1 | {"mode": "double", "body": 7}
       |                            ^
    "#);
}

#[test]
fn a_hundred_thousand_levels_are_shown() {
    let text = nested(100_000, "");
    let folder = Folder::new("show_deep", &[("deep.json", &text)]);
    let ended = folder.run(&["program", "show", "deep.json"]);
    assert_eq!((ended.code, ended.out.lines().count()), (Some(0), 100_001));
    assert_eq!(ended.out.lines().last().map(str::trim_start), Some("[level 100000] tool f"));
    let canonical = folder.run(&["program", "show", "deep.json", "--canonical"]);
    assert_eq!((canonical.code, canonical.out.matches(r#""name":"f""#).count()), (Some(0), 100_000));
}

#[test]
fn help_of_show() {
    assert_snapshot!(Folder::new("show_help", &[]).run(&["program", "show", "--help"]).out, @"
    Print one program, as an indented tree or in its canonical form

    Usage: windtunnel program show [OPTIONS] <FILE>

    Arguments:
      <FILE>  A file of one program, as JSON; `-` reads standard input

    Options:
          --canonical     Print the canonical JSON: equal programs have the same
          --color <WHEN>  When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help          Print help

    Exit codes:
      0    the program is shown
      2    wrong arguments, or a file that cannot be read as a program
      130  interrupted
    ");
}
