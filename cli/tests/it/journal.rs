//! `windtunnel journal` on sound files.

use insta::assert_snapshot;
use serde_json::Value;

use crate::journal_orders::{SECRET, folder};

#[test]
fn workflows_activations_and_records_are_shown_without_values() {
    let folder = folder("journal_show");
    let ended = folder.run(&["journal", "show", "orders.db"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert!(!ended.out.contains("hunter2"), "{}", ended.out);
    assert_snapshot!(ended.out, @r#"
    workflow "order-1" of "refund": completed
      activation-1 at "start": started, 5 attempts, 1 failed
        state of 14 of 65536 bytes; journal of 4 of 128 records, 737 of 262144 bytes
        "model:turn:0"       model orders:call  version "1"     177 bytes  executed by attempt 1, kept for attempts 2 to 5
        "tool:turn:0:pay-2"  tool orders:call   version "1"     185 bytes  executed by attempt 2, kept for attempts 3 to 5
        "tool:turn:0:pay-3"  tool orders:call   version "1"     185 bytes  executed by attempt 3, kept for attempts 4 to 5
        "tool:turn:0:pay-4"  tool orders:call   version "1"     185 bytes  executed by attempt 4, kept for attempt 5
        decided by attempt 5: wait for the event "approved" for at most 60 s
      activation-2 at "pay": event "approved" of 21 bytes, 1 attempt
        state of 16 of 65536 bytes; journal of 0 of 128 records, 2 of 262144 bytes
        decided by attempt 1: complete with an output of 14 of 262144 bytes
    workflow "order-2" of "refund": open
      activation-1 at "start": started, 1 attempt
        state of 4 of 65536 bytes; journal of 0 of 128 records, 2 of 262144 bytes
        decided by attempt 1: sleep "night" for 0.001 s
      activation-2 at "start": timer "night", 0 attempts
        state of 4 of 65536 bytes; journal of 0 of 128 records, 2 of 262144 bytes
        not decided
    workflow "order-3" of "refund": failed
      activation-1 at "start": started, 1 attempt
        state of 4 of 65536 bytes; journal of 0 of 128 records, 2 of 262144 bytes
        decided by attempt 1: fail as "refused" with a message of 12 bytes
    3 workflows, 5 activations, 4 records
    "#);
}

#[test]
fn values_are_shown_where_they_are_asked_for_and_never_raw() {
    let folder = folder("journal_values");
    let ended = folder.run(&["journal", "show", "orders.db", "--values", "--workflow", "order-1"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert!(!ended.out.contains(|letter: char| letter.is_control() && letter != '\n'));
    assert_snapshot!(ended.out, @r#"
    workflow "order-1" of "refund": completed
      activation-1 at "start": started, 5 attempts, 1 failed
        state of 14 of 65536 bytes; journal of 4 of 128 records, 737 of 262144 bytes
        state     "hunter2\u009b31m"
        "model:turn:0"       model orders:call  version "1"     177 bytes  executed by attempt 1, kept for attempts 2 to 5
          arguments {"secret":"hunter2\u009b31m"}
          result    ["model:turn:0","hunter2\u009b31m"]
        "tool:turn:0:pay-2"  tool orders:call   version "1"     185 bytes  executed by attempt 2, kept for attempts 3 to 5
          arguments {"secret":"hunter2\u009b31m"}
          result    ["tool:turn:0:pay-2","hunter2\u009b31m"]
        "tool:turn:0:pay-3"  tool orders:call   version "1"     185 bytes  executed by attempt 3, kept for attempts 4 to 5
          arguments {"secret":"hunter2\u009b31m"}
          result    ["tool:turn:0:pay-3","hunter2\u009b31m"]
        "tool:turn:0:pay-4"  tool orders:call   version "1"     185 bytes  executed by attempt 4, kept for attempt 5
          arguments {"secret":"hunter2\u009b31m"}
          result    ["tool:turn:0:pay-4","hunter2\u009b31m"]
        decided by attempt 5: wait for the event "approved" for at most 60 s
      activation-2 at "pay": event "approved" of 21 bytes, 1 attempt
        state of 16 of 65536 bytes; journal of 0 of 128 records, 2 of 262144 bytes
        payload   {"by":"hunter2\u009b31m"}
        state     ["hunter2\u009b31m"]
        decided by attempt 1: complete with an output of 14 of 262144 bytes
          output    "hunter2\u009b31m"
    1 workflow, 2 activations, 4 records
    "#);
    let failed = folder.run(&["journal", "show", "orders.db", "--values", "--workflow", "order-3"]);
    assert_snapshot!(failed.out, @r#"
    workflow "order-3" of "refund": failed
      activation-1 at "start": started, 1 attempt
        state of 4 of 65536 bytes; journal of 0 of 128 records, 2 of 262144 bytes
        state     null
        decided by attempt 1: fail as "refused" with a message of 12 bytes
          message   "hunter2\u009b31m"
    1 workflow, 1 activation, 0 records
    "#);
}

#[test]
fn the_document_has_what_the_text_has() {
    let folder = folder("journal_json");
    let ended = folder.run(&["journal", "show", "orders.db", "--json"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert!(!ended.out.contains("hunter2"), "{}", ended.out);
    assert_snapshot!(ended.out, @r#"
    {"format":1,"file":"orders.db","bounds":{"records":128,"journal_bytes":262144,"record_bytes":131072,"state_bytes":65536},"findings":[],"workflows":[
    {"workflow_id":"order-1","workflow":"refund","sound":true,"findings":[],"activations":[{"activation_id":"activation-1","wake":{"name":"started"},"checkpoint":{"entry":"start","state_bytes":14},"attempts":5,"failures":1,"journal_bytes":737,"records":[{"key":"model:turn:0","kind":"model","callable":"orders:call","version":"1","bytes":177,"attempt":1,"arguments_bytes":25,"result_bytes":31},{"key":"tool:turn:0:pay-2","kind":"tool","callable":"orders:call","version":"1","bytes":185,"attempt":2,"arguments_bytes":25,"result_bytes":36},{"key":"tool:turn:0:pay-3","kind":"tool","callable":"orders:call","version":"1","bytes":185,"attempt":3,"arguments_bytes":25,"result_bytes":36},{"key":"tool:turn:0:pay-4","kind":"tool","callable":"orders:call","version":"1","bytes":185,"attempt":4,"arguments_bytes":25,"result_bytes":36}],"decision":{"name":"wait_event","attempt":5,"key":"approved","timeout_s":60.0}},{"activation_id":"activation-2","wake":{"name":"event","key":"approved","payload_bytes":21},"checkpoint":{"entry":"pay","state_bytes":16},"attempts":1,"failures":0,"journal_bytes":2,"records":[],"decision":{"name":"complete","attempt":1,"output_bytes":14}}]},
    {"workflow_id":"order-2","workflow":"refund","sound":true,"findings":[],"activations":[{"activation_id":"activation-1","wake":{"name":"started"},"checkpoint":{"entry":"start","state_bytes":4},"attempts":1,"failures":0,"journal_bytes":2,"records":[],"decision":{"name":"sleep","attempt":1,"key":"night","duration_s":0.001}},{"activation_id":"activation-2","wake":{"name":"timer","key":"night"},"checkpoint":{"entry":"start","state_bytes":4},"attempts":0,"failures":0,"journal_bytes":2,"records":[],"decision":null}]},
    {"workflow_id":"order-3","workflow":"refund","sound":true,"findings":[],"activations":[{"activation_id":"activation-1","wake":{"name":"started"},"checkpoint":{"entry":"start","state_bytes":4},"attempts":1,"failures":0,"journal_bytes":2,"records":[],"decision":{"name":"fail","attempt":1,"kind":"refused","message_bytes":12}}]}
    ],"interrupted":false}
    "#);
    let _one_document: Value = serde_json::from_str(&ended.out).unwrap();
    let ended = folder.run(&["journal", "show", "orders.db", "--json", "--values"]);
    assert!(!ended.out.contains('\u{9b}'));
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let first = &document["workflows"][0]["activations"][0];
    assert_eq!(first["records"][0]["arguments"]["secret"], SECRET);
    assert_eq!((&first["records"][0]["result"][1], &first["checkpoint"]["state"]), (&SECRET.into(), &SECRET.into()));
    let second = &document["workflows"][0]["activations"][1];
    assert_eq!((&second["wake"]["payload"]["by"], &second["decision"]["output"]), (&SECRET.into(), &SECRET.into()));
    assert_eq!(document["workflows"][2]["activations"][0]["decision"]["message"], SECRET);
}

/// All members of all objects, but for those of values.
fn names(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            found.push(name.clone());
            names(member, found);
        }),
        Value::Array(elements) => elements.iter().for_each(|element| names(element, found)),
        _ => {}
    }
}

#[test]
fn every_member_of_the_documents_is_documented() {
    let folder = folder("journal_members");
    let documentation = include_str!("../../JOURNAL_JSON.md");
    let mut found = Vec::new();
    for arguments in [&["journal", "show", "orders.db", "--json"][..], &["journal", "verify", "orders.db", "--json"]] {
        names(&serde_json::from_str(&folder.run(arguments).out).unwrap(), &mut found);
    }
    assert!(found.len() > 40);
    let undocumented: Vec<_> = found.iter().filter(|name| !documentation.contains(&format!("`{name}`"))).collect();
    assert!(undocumented.is_empty(), "{undocumented:?}");
}

#[test]
fn a_sound_file_is_called_so_and_nothing_touches_it() {
    let folder = folder("journal_verify");
    let before = std::fs::read(folder.path.join("orders.db")).unwrap();
    let ended = folder.run(&["journal", "verify", "orders.db"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    assert_snapshot!(ended.out, @"
    sound: 3 workflows, 5 activations, 4 records, 1 event
    the file is sound
    ");
    let ended = folder.run(&["journal", "verify", "orders.db", "--json"]);
    assert_snapshot!(ended.out, @r#"{"format":1,"file":"orders.db","sound":true,"findings":[],"sound_workflows":3,"sound_activations":5,"sound_records":4,"sound_events":1}"#);
    let _shown = folder.run(&["journal", "show", "orders.db"]);
    assert!(std::fs::read(folder.path.join("orders.db")).unwrap() == before);
    assert_eq!(std::fs::read_dir(&folder.path).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_workflow_that_is_not_there_is_told_with_those_that_are() {
    let ended = folder("journal_unknown").run(&["journal", "show", "orders.db", "--workflow", "order-9"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    assert_snapshot!(ended.err, @r#"error: orders.db: there is no workflow "order-9"; it holds: "order-1", "order-2", "order-3""#);
}

#[test]
fn help_says_what_exit_codes_mean() {
    let folder = folder("journal_help");
    assert_snapshot!(folder.run(&["journal", "show", "-h"]).out, @"
    Print the workflows of a file, their activations and their committed operations

    Usage: windtunnel journal show [OPTIONS] <FILE>

    Arguments:
      <FILE>  A file of journals

    Options:
          --workflow <ID>  Only the workflow with this identifier
          --values         Print values too: arguments, results, states, outputs, messages and payloads, which may be secrets
          --json           Print one JSON document, as cli/JOURNAL_JSON.md describes it
          --color <WHEN>   When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help           Print help

    Exit codes:
      0    all that was asked for is shown
      1    something is damaged; everything else is shown
      2    wrong arguments, or a file that cannot be read as journals at all
      130  interrupted: what was known by then is printed

    Without --values, nothing is printed of arguments, results, states, outputs, messages and payloads but their sizes.
    ");
    assert_snapshot!(folder.run(&["journal", "verify", "-h"]).out, @"
    Look for damage in a file

    Usage: windtunnel journal verify [OPTIONS] <FILE>

    Arguments:
      <FILE>  A file of journals

    Options:
          --json          Print one JSON document, as cli/JOURNAL_JSON.md describes it
          --color <WHEN>  When to print in colours [default: auto] [possible values: auto, always, never]
      -h, --help          Print help

    Exit codes:
      0    the file is sound
      1    damage was found; everything else was checked too
      2    wrong arguments, or a file that cannot be read as journals at all
      130  interrupted

    Nothing is changed, and other programs may use the file meanwhile.
    ");
}
