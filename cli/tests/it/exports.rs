//! Files that commands write beside what they print.

use serde_json::Value;

use crate::command::Folder;

const PAYS_TWICE: &str = include_str!("../../../examples/pays_twice.toml");

#[test]
fn a_replay_is_written_for_other_tools() {
    let folder = Folder::new("exports_replay", &[("pay.toml", PAYS_TWICE), ("old.json", "old")]);
    let files = ["--events", "events.jsonl", "--perfetto", "old.json", "--otlp", "spans.json"];
    let ended = folder.run(&[&["replay", "pay.toml", "--seed", "6"], &files[..]].concat());
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    let read = |name: &str| std::fs::read_to_string(folder.path.join(name)).unwrap();
    let events: Vec<Value> = read("events.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.last().unwrap()["type"], "run.finished");
    let trace: Value = serde_json::from_str(&read("old.json")).unwrap();
    let names: Vec<_> = trace["traceEvents"].as_array().unwrap().iter().map(|event| &event["name"]).collect();
    assert!(
        names.contains(&&"attempt 2".into()) && names.contains(&&"wait after attempt 1: timeout".into()),
        "{names:?}"
    );
    // 2025-01-01, when worlds begin.
    assert!(read("spans.json").contains("\"startTimeUnixNano\":\"1735689600000000000\""), "{}", read("spans.json"));
    // Nothing is left of writing them.
    assert_eq!(std::fs::read_dir(&folder.path).unwrap().count(), 4);
}

#[test]
fn verdicts_are_written_as_junit() {
    let folder = Folder::new("exports_junit", &[("pay.toml", PAYS_TWICE), ("wrong.toml", "tools = 1")]);
    let counted = |arguments: &[&str], code: i32| {
        let ended = folder.run(&[arguments, &["--junit", "out.xml"]].concat());
        assert_eq!(ended.code, Some(code), "{}", ended.err);
        let xml = std::fs::read_to_string(folder.path.join("out.xml")).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let counts =
            ["tests", "failures", "errors"].map(|name| document.root_element().attribute(name).unwrap().to_owned());
        let failure = document.descendants().find(|node| node.has_tag_name("failure"));
        (counts.join(" "), failure.and_then(|node| node.text()).unwrap_or_default().to_owned())
    };
    let (counts, failure) = counted(&["run", "pay.toml", "--seeds", "5..=6"], 1);
    assert_eq!(counts, "2 1 0");
    assert!(failure.ends_with("\nto repeat it: windtunnel replay pay.toml --seed 6"), "{failure}");
    let (counts, _) = counted(&["check", "pay.toml", "wrong.toml"], 2);
    assert_eq!(counts, "2 0 1");
    let (counts, failure) = counted(&["sweep", "pay.toml", "--pairs", "0"], 1);
    assert!(counts.ends_with(" 0") && !counts.starts_with('0'), "{counts}");
    assert!(failure.contains("to repeat it: windtunnel replay pay.toml --recipe "), "{failure}");
}

#[test]
fn a_file_that_cannot_be_written_is_named_with_a_remedy() {
    let folder = Folder::new("exports_unwritable", &[("pay.toml", PAYS_TWICE)]);
    for arguments in
        [["replay", "pay.toml", "--perfetto", "no/where.json"], ["check", "pay.toml", "--junit", "no/where.json"]]
    {
        let ended = folder.run(&arguments);
        assert_eq!(ended.code, Some(2));
        let told = "error: no/where.json cannot be written: ";
        let remedy = "; name a file in a folder that is there and may be written to\n";
        assert!(ended.err.starts_with(told) && ended.err.ends_with(remedy), "{}", ended.err);
    }
}
