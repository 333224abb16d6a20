//! `windtunnel journal` on files that are damaged, or hold something else.

use insta::assert_snapshot;
use serde_json::Value;

use crate::command::Folder;
use crate::journal_orders::folder;

/// Flips a bit in the middle of the last place where the file holds this text.
fn damage(folder: &Folder, text: &str) {
    let path = folder.path.join("orders.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let place = bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).unwrap();
    bytes[place + text.len() / 2] ^= 1;
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn damage_is_shown_with_where_and_hides_nothing_else() {
    let folder = folder("journal_damaged");
    damage(&folder, r#""output":["tool:turn:0:pay-3""#);
    let ended = folder.run(&["journal", "show", "orders.db"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    workflow "order-1" of "refund": damaged
      DAMAGED workflow "order-1", activation-1, record 2 ("tool:turn:0:pay-3"): its text or one before it was changed
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
    3 workflows, 4 activations, 0 records, 1 damaged
    "#);
    let other = folder.run(&["journal", "show", "orders.db", "--workflow", "order-2"]);
    assert_eq!(other.code, Some(0));
    let ended = folder.run(&["journal", "show", "orders.db", "--json"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| &document["workflows"][index]);
    assert_eq!(
        [first, second, third].map(|workflow| workflow["sound"].as_bool()),
        [Some(false), Some(true), Some(true)]
    );
    assert_eq!(
        (&first["findings"][0]["place"]["position"], &first["activations"][0]["activation_id"]),
        (&2.into(), &"activation-2".into())
    );
    let ended = folder.run(&["journal", "verify", "orders.db"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    assert_snapshot!(ended.out, @r#"
    DAMAGED workflow "order-1", activation-1, record 2 ("tool:turn:0:pay-3"): its text or one before it was changed
    sound: 2 workflows, 4 activations, 0 records, 1 event
    the file is damaged: 1 finding
    "#);
    let ended = folder.run(&["journal", "verify", "orders.db", "--json"]);
    assert_eq!(ended.code, Some(1));
    assert_snapshot!(ended.out, @r#"{"format":1,"file":"orders.db","sound":false,"findings":[{"place":{"kind":"record","workflow_id":"order-1","activation_id":"activation-1","position":2,"key":"tool:turn:0:pay-3","text":"workflow \"order-1\", activation-1, record 2 (\"tool:turn:0:pay-3\")"},"problem":"its text or one before it was changed"}],"sound_workflows":2,"sound_activations":4,"sound_records":0,"sound_events":1}"#);
}

#[test]
fn a_workflow_whose_row_is_damaged_is_shown_by_its_number() {
    let folder = folder("journal_row");
    damage(&folder, "order-2refund");
    let ended = folder.run(&["journal", "show", "orders.db"]);
    assert_eq!((ended.code, &*ended.err), (Some(1), ""));
    let told: Vec<_> = ended.out.lines().filter(|line| !line.starts_with("   ")).collect();
    assert_snapshot!(told.join("\n"), @r#"
    workflow "order-1" of "refund": completed
      activation-1 at "start": started, 5 attempts, 1 failed
      activation-2 at "pay": event "approved" of 21 bytes, 1 attempt
    DAMAGED workflow number 2: the row of the workflow was changed
    workflow "order-3" of "refund": failed
      activation-1 at "start": started, 1 attempt
    3 workflows, 3 activations, 4 records, 1 damaged
    "#);
    let ended = folder.run(&["journal", "show", "orders.db", "--workflow", "order-2"]);
    assert_eq!(ended.code, Some(2));
    assert_snapshot!(ended.err, @r#"error: orders.db: there is no workflow "order-2"; it holds: "order-1", "order-3", and 1 that are damaged"#);
}

/// That it is refused by both commands with the same words, and left as it is.
#[track_caller]
fn refusal(folder: &Folder) -> String {
    let before = std::fs::read(folder.path.join("orders.db")).ok();
    let [shown, verified] = ["show", "verify"].map(|command| folder.run(&["journal", command, "orders.db"]));
    assert_eq!((shown.code, &*shown.out), (Some(2), ""));
    assert_eq!((verified.code, &*verified.out, &verified.err), (Some(2), "", &shown.err));
    assert_eq!(std::fs::read(folder.path.join("orders.db")).ok(), before);
    shown.err
}

#[test]
fn what_holds_no_journals_is_refused() {
    let absent = Folder::new("journal_absent", &[]);
    assert_snapshot!(refusal(&absent), @"error: orders.db does not exist; check the path, or open it with a program that writes journals");
    assert_eq!(std::fs::read_dir(&absent.path).unwrap().count(), 0);
    assert_snapshot!(refusal(&Folder::new("journal_foreign", &[("orders.db", "notes")])), @"error: orders.db holds no journals of this toolkit (it is no file of SQLite); nothing was changed, give another path");
    assert_snapshot!(refusal(&Folder::new("journal_empty", &[("orders.db", "")])), @"error: orders.db is damaged: the file: it is empty; delete it, if it was never used, to begin anew; everything else can still be read, restore this from a copy");
    let newer = folder("journal_newer");
    let path = newer.path.join("orders.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // SQLite's `user_version`.
    bytes[60..64].copy_from_slice(&2_u32.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    assert_snapshot!(refusal(&newer), @"error: orders.db has format 2, and this program knows formats up to 1; nothing was changed, use a newer program");
    let a_folder = Folder::new("journal_folder", &[]);
    std::fs::create_dir(a_folder.path.join("orders.db")).unwrap();
    assert_snapshot!(refusal(&a_folder), @"
    error: orders.db cannot be read or made; see the cause
    cause: it is no regular file
    ");
}
