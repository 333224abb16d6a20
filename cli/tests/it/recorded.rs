//! Cases whose model and tools are answered from a cassette.

use std::fs;

use crate::command::Folder;

const CASE: &str = include_str!("../../../examples/refund_recorded.toml");
const CASSETTE: &str = include_str!("../../../examples/refund_recorded.cassette.json");

fn example(test: &str, changed: &[(&str, &str)]) -> Folder {
    let case = changed.iter().fold(CASE.to_owned(), |case, (from, to)| {
        assert!(case.contains(from), "{from}");
        case.replace(from, to)
    });
    let folder = Folder::new(test, &[]);
    fs::create_dir_all(folder.path.join("cases/small")).unwrap();
    fs::write(folder.path.join("cases/refund.toml"), case).unwrap();
    fs::write(folder.path.join("cases/refund_recorded.cassette.json"), CASSETTE).unwrap();
    folder
}

const REFUND: &str = "cases/refund.toml";

#[test]
fn every_command_finds_the_cassette_beside_the_case() {
    let folder = example("recorded_all", &[]);
    let checked = folder.run(&["check", REFUND]);
    assert_eq!((checked.code, &*checked.err), (Some(0), ""), "{}", checked.out);
    assert_eq!(folder.run(&["run", REFUND, "--seeds", "0..3"]).code, Some(0));
    let digest = || {
        let replayed = folder.run(&["replay", REFUND]);
        assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
        let line = replayed.out.lines().find(|line| line.contains("digest")).unwrap().to_owned();
        // The lease of the worker that crashed at 2.96 s runs for a minute; the rest is as it was recorded.
        assert!(line.contains(" in 62.31"), "{line}");
        line
    };
    assert_eq!(digest(), digest());
}

#[test]
fn what_was_missed_and_what_is_left_is_told() {
    let folder = example("recorded_missed", &[("Refund order 7.", "Refund order 8.")]);
    let replayed = folder.run(&["replay", REFUND]);
    assert_eq!(replayed.code, Some(1), "{}", replayed.out);
    for told in [
        "$.model.cassette: refund_recorded.cassette.json: $.entries[0]: replay mismatch: model complete \"opus\": changed",
        "$.request.messages[0].content: expected \"Refund order 7.\", found \"Refund order 8.\"",
        "$.tools[2].cassette: refund_recorded.cassette.json: $.entries[4] of lane \"main\" was never asked for: tool \"pay\"",
    ] {
        assert!(replayed.out.contains(told), "{told}\n{}", replayed.out);
    }
}

#[test]
fn a_cassette_that_is_broken_or_not_there_is_an_error_with_its_place() {
    let folder = example("recorded_broken", &[]);
    fs::write(
        folder.path.join("cases/refund_recorded.cassette.json"),
        "{\n \"windtunnel_cassette\": 1,\n \"entris\": []}",
    )
    .unwrap();
    let broken = folder.run(&["check", REFUND]);
    assert_eq!(broken.code, Some(2));
    let told = format!("{}{}", broken.out, broken.err);
    assert!(
        told.contains("cases/refund.toml:15:12: $.model.cassette: cases/refund_recorded.cassette.json: "),
        "{told}"
    );
    assert!(told.contains("entris"), "{told}");
    fs::remove_file(folder.path.join("cases/refund_recorded.cassette.json")).unwrap();
    let missing = folder.run(&["replay", REFUND]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("cases/refund_recorded.cassette.json: No such file"), "{}", missing.err);
}

/// The bank does not know keys, and pays again.
const FORGETFUL: &[(&str, &str)] = &[("idempotent = true\n", ""), ("at = \"after-effect\"", "at = \"before-call\"")];

#[test]
fn what_a_sweep_finds_is_repeated_and_a_shrunk_case_finds_its_cassette_from_its_own_folder() {
    let folder = example("recorded_sweep", FORGETFUL);
    let swept = folder.run(&["sweep", REFUND, "--kinds", "tool.lose_acknowledgment", "--format", "json"]);
    assert_eq!(swept.code, Some(1), "{}{}", swept.out, swept.err);
    assert!(swept.out.contains("paid at most once"), "{}", swept.out);
    assert!(!swept.out.contains(folder.path.to_str().unwrap()), "{}", swept.out);

    let planned =
        "\n[[faults]]\nwhen = { event = \"tool.body\", tool = \"pay\" }\ndo = { fault = \"tool.duplicate\" }\n";
    fs::write(folder.path.join("cases/planned.toml"), fs::read_to_string(folder.path.join(REFUND)).unwrap() + planned)
        .unwrap();
    let shrunk = folder.run(&["shrink", "cases/planned.toml", "--seed", "0", "-o", "cases/small/case.json"]);
    assert_eq!(shrunk.code, Some(0), "{}{}", shrunk.out, shrunk.err);
    let text = fs::read_to_string(folder.path.join("cases/small/case.json")).unwrap();
    assert!(text.contains("\"../refund_recorded.cassette.json\"") && !text.contains("/cases/"), "{text}");
    assert_eq!(folder.run(&["replay", "cases/small/case.json"]).code, Some(1));
    let printed = folder.run(&["shrink", "cases/planned.toml", "--seed", "0"]);
    assert_eq!(printed.code, Some(0), "{}{}", printed.out, printed.err);
    assert!(printed.out.contains("\"refund_recorded.cassette.json\""), "{}", printed.out);
}
