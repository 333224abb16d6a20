//! Completions, pages of the manual, colours, and the lines that an error is about.

use insta::assert_snapshot;

use crate::command::Folder;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let folder = Folder::new("manual_completions", &[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = folder.run(&["completions", shell]);
        assert_eq!((ended.code, &*ended.err), (Some(0), ""));
        for word in ["replay", "perfetto", "completions"] {
            assert!(ended.out.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn each_command_has_a_page_with_its_exit_codes() {
    let folder = Folder::new("manual_man", &[]);
    let ended = folder.run(&["man", "pages/man1"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    for page in ["windtunnel", "windtunnel-replay", "windtunnel-diff", "windtunnel-program-check", "windtunnel-init"] {
        let text = std::fs::read_to_string(folder.path.join(format!("pages/man1/{page}.1"))).unwrap();
        assert!(text.contains(".TH") && text.contains("Exit codes"), "{page}:\n{text}");
    }
}

#[test]
fn colours_are_as_they_are_asked_for() {
    let text = r#"{"tools": [{"name": "a", "script": [{"fail": "hang"}]}], "calls": [{"name": "a"}]}"#;
    let folder = Folder::new("manual_color", &[("stuck.json", text), ("wrong.json", "[")]);
    let is_coloured = |arguments: &[&str], no_color: bool| {
        let mut command = folder.command(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let output = command.output().unwrap();
        [output.stdout, output.stderr].map(|text| text.contains(&0x1b))
    };
    assert_eq!(is_coloured(&["check", "stuck.json", "wrong.json"], false), [false, false]);
    assert_eq!(is_coloured(&["check", "stuck.json", "wrong.json", "--color", "always"], false), [true, true]);
    assert_eq!(is_coloured(&["--color", "always", "check", "stuck.json", "wrong.json"], true), [true, true]);
    assert_eq!(is_coloured(&["check", "stuck.json", "wrong.json", "--color", "never"], false), [false, false]);
    assert_eq!(is_coloured(&["replay", "wrong.json", "--color", "always"], false), [false, true]);
}

#[test]
fn an_error_with_a_place_shows_the_lines_around_it() {
    let case = "id = \"a\"\n\n[[tools]]\nname = \"pay\"\nretrise = 3\n\n[[calls]]\nname = \"pay\"\n";
    let program = "{\"schema_version\": \"2.0\",\n \"body\": [{\"op\": \"cal\", \"name\": 1}]}\n";
    let files = [("a.toml", case), ("p.json", program), ("c.json", "{\n  \"windtunnel\": 1,,\n}\n")];
    let folder = Folder::new("manual_excerpt", &files);
    let told = [
        &["replay", "a.toml"][..],
        &["check", "a.toml"],
        &["program", "show", "p.json"],
        &["fixture", "show", "c.json"],
    ]
    .map(|arguments| {
        let ended = folder.run(arguments);
        assert_eq!(ended.code, Some(2), "{}", ended.out);
        ended.err
    });
    assert_snapshot!(told.join("---\n"), @r#"
    error: a.toml:5:1: $.tools[0].retrise: unknown field "retrise"; did you mean "retries"? known: name, description, kind, parameters, schema, retries, timeout_s, parallel_safe, once_per_run, confirm, cache_ttl_s, cache_scope, script, random, cassette
       |
     3 | [[tools]]
     4 | name = "pay"
     5 | retrise = 3
       | ^^^^^^^
     6 |
     7 | [[calls]]
    ---
    error: a.toml:5:1: $.tools[0].retrise: unknown field "retrise"; did you mean "retries"? known: name, description, kind, parameters, schema, retries, timeout_s, parallel_safe, once_per_run, confirm, cache_ttl_s, cache_scope, script, random, cassette
       |
     3 | [[tools]]
     4 | name = "pay"
     5 | retrise = 3
       | ^^^^^^^
     6 |
     7 | [[calls]]
    ---
    error: p.json is not a valid program
    p.json:2:11: $.body[0]: `type` is missing; known types: "literal", "variable", "call", "tool_call", "conditional", "memo"; write a plain value as {"type": "literal", "value": …}
       |
     1 | {"schema_version": "2.0",
     2 |  "body": [{"op": "cal", "name": 1}]}
       |           ^
    ---
    error: c.json: line 2, column 19: $.windtunnel: Object keys must be strings
       |
     1 | {
     2 |   "windtunnel": 1,,
       |                   ^
     3 | }
    "#);
}
