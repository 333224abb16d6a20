//! `windtunnel schema`.

use insta::assert_snapshot;
use windtunnel_core::evaluator::{Program, Version};

use crate::command::Folder;

#[test]
fn a_schema_is_printed_as_it_is() {
    let folder = Folder::new("schema_text", &[]);
    for (arguments, version) in [
        (&["schema", "1.0"][..], Version::V1),
        (&["schema", "1"], Version::V1),
        (&["schema", "2.0"], Version::V2),
        (&["schema", "2"], Version::V2),
        (&["schema"], Version::V2),
    ] {
        let ended = folder.run(arguments);
        assert_eq!((ended.code, &*ended.err), (Some(0), ""));
        assert_eq!(ended.out, Program::schema(version));
        assert!(ended.out.ends_with("}\n"));
        let schema: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(schema["title"], format!("Program, version {version}"));
    }
}

#[test]
fn an_unknown_version_is_refused() {
    let ended = Folder::new("schema_unknown", &[]).run(&["schema", "3.0"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    assert_snapshot!(ended.err, @"
    error: invalid value '3.0' for '[VERSION]'
      [possible values: 1.0, 2.0]

      tip: a similar value exists: '2.0'

    For more information, try '--help'.
    ");
}

#[test]
fn help_of_schema() {
    assert_snapshot!(Folder::new("schema_help", &[]).run(&["schema", "--help"]).out, @"
    Print the JSON Schema of programs, for models and editors

    Usage: windtunnel schema [OPTIONS] [VERSION]

    Arguments:
      [VERSION]  The version of the programs: the newest unless it is said. A program that says no version is of 1.0 [default: 2.0] [possible values: 1.0, 2.0]

    Options:
          --color <WHEN>  When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help          Print help
    ");
}
