//! Cases that name cassettes which cannot answer.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, Format};

use super::shop::{agent, folder, model_entry, offered, response, shop, try_case, with};

#[track_caller]
fn check_refused(folder: &Path, fields: Value, message: &str) {
    let error = try_case(folder, &with(agent(), fields)).unwrap_err();
    let (_, told) = error.split_once(": ").unwrap();
    assert_eq!(told.replace(folder.to_str().unwrap(), "…"), message);
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_place_before_anything_runs() {
    let folder = folder(&offered(), &shop());
    let path = folder.path();
    fs::write(path.join("broken.json"), "{\"windtunnel_cassette\": 1,\n \"entries\": [{\"exchnge\": 1}]}").unwrap();
    let half = json!({"windtunnel_cassette": 1, "entries": [model_entry(json!({}), response(json!(7), "stop"))]});
    fs::write(path.join("half.json"), half.to_string()).unwrap();
    let model = |name: &str| json!({"model": {"cassette": name}});
    check_refused(path, model("none.json"), "$.model.cassette: …/none.json: No such file or directory (os error 2)");
    let error = try_case(path, &with(agent(), model("broken.json"))).unwrap_err();
    assert!(
        error.contains("$.model.cassette: ") && error.contains("broken.json: ") && error.contains("exchnge"),
        "{error}"
    );
    let error = try_case(path, &with(agent(), model("half.json"))).unwrap_err();
    assert!(error.contains("half.json: $.entries[0]: the response cannot be read"), "{error}");
    let from_root = path.join("shop.json");
    let error = try_case(path, &with(agent(), model(from_root.to_str().unwrap()))).unwrap_err();
    assert!(error.contains("is a path from the root"), "{error}");
    check_refused(
        path,
        json!({"tools": [{"name": "pai", "cassette": "shop.json"}]}),
        "$.tools[0].cassette: in \"shop.json\" the tool \"pai\" is neither called nor on offer; did you mean \"pay\"? known: pay",
    );
    check_refused(
        path,
        json!({"tools": [{"name": "pay", "cassette": "shop.json", "script": [{}]}]}),
        "$.tools[0].script: a tool is answered from its cassette and from nothing else; remove one of them",
    );
    check_refused(
        path,
        json!({"model": {"cassette": "shop.json", "turns": []}}),
        "$.model.turns: a model says its turns, or what its cassette holds; remove one of them",
    );
    check_refused(
        path,
        json!({"model": {"cassete": "x"}}),
        "$.model.cassete: unknown field \"cassete\"; did you mean \"cassette\"? known: name, turns, cassette",
    );
    check_refused(path, json!({"model": {}}), "$.model: missing field turns, or cassette");
    check_refused(
        path,
        json!({"replay": {"ordr": "keyed"}}),
        "$.replay.ordr: unknown field \"ordr\"; did you mean \"order\"? known: order, timing, ignore, allow_unconsumed, allow_missed_after_faults",
    );
    check_refused(
        path,
        json!({"model": {"turns": []}, "tools": [], "replay": {}}),
        "$.replay: nothing of this case is answered from a cassette; name one, or remove it",
    );
    let error = try_case(path, &with(agent(), json!({"replay": {"ignore": ["request"]}}))).unwrap_err();
    assert!(error.contains("$.replay.ignore[0]: this is no JSON path"), "{error}");
    let from_text = Case::parse("f", Format::Json, &agent().to_string()).unwrap_err().to_string();
    assert!(
        from_text.contains("$.model.cassette: a cassette is named from the folder of its case file"),
        "{from_text}"
    );
}
