//! Whatever happens to the bytes of a file, nothing else is read than what was committed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::durable::sqlite::{Place, SqliteError, SqliteStore, verify};
use windtunnel_core::durable::{Checkpoint, Claim, Claimed, Decision, JournalStore, StoreError, WorkflowHistory};

use crate::durable::ground::{HandClock, checkpoint, record};

const WORKFLOWS: usize = 6;
const PAGE_BYTES: usize = 4096;
const MINUTE: Duration = Duration::from_secs(60);

/// A file that was closed, and what is in it.
struct Sound {
    bytes: Vec<u8>,
    workflows: BTreeMap<Arc<str>, WorkflowHistory>,
    /// The leaves below the root of a table or an index, with its name.
    leaves: BTreeMap<usize, String>,
}

fn marker(workflow: usize) -> String {
    format!("<mark-{workflow}>")
}

async fn fill(store: &SqliteStore, clock: &HandClock) {
    for workflow in 0..WORKFLOWS {
        let id = format!("w{workflow}");
        let begin = Checkpoint::new("start", json!(marker(workflow))).unwrap();
        store.start(&id, "test", begin).await.unwrap();
        store.deliver(&id, "k", json!(marker(workflow).repeat(20))).await.unwrap();
    }
    for round in 0..4 {
        for turn in 0..WORKFLOWS {
            clock.set(Duration::from_millis((10 * round + turn + 1) as u64));
            let Claimed::Activation(claim) = store.claim(&["test".into()], MINUTE).await.unwrap() else {
                panic!("nothing is due")
            };
            let fence = claim.fence;
            let workflow: usize = fence.workflow_id[1..].parse().unwrap();
            for number in 0..4 {
                let output = json!({"z": marker(workflow).repeat(10 + 30 * number), "a": number});
                let _acknowledged = store.commit_record(&fence, record(&format!("r{number}"), output)).await;
            }
            let state = json!(marker(workflow).repeat(60));
            let decision = match (round, workflow) {
                (3, 0 | 1) => Decision::complete(state),
                // Open, with records.
                (3, _) => continue,
                (1, _) => Decision::wait_event("k", None, "start", state),
                _ => Decision::continue_("start", state),
            };
            let _acknowledged = store.commit_decision(&fence, decision.unwrap()).await;
        }
    }
}

async fn sound(folder: &Path) -> Sound {
    let path = folder.join("sound.db");
    let clock = HandClock::default();
    let store = SqliteStore::open(&path, clock.env()).await.unwrap();
    fill(&store, &clock).await;
    let mut workflows = BTreeMap::new();
    for id in store.workflow_ids().await.unwrap() {
        workflows.insert(Arc::clone(&id), store.read(&id).await.unwrap().unwrap());
    }
    drop(store);
    let report = verify(&path).unwrap();
    assert_eq!(report.findings, []);
    let counts = (report.sound_workflows, report.sound_activations, report.sound_records, report.sound_events);
    assert_eq!(counts, (6, 24, 96, 6));
    let connection = rusqlite::Connection::open(&path).unwrap();
    let leaves = "SELECT pageno - 1, name FROM dbstat WHERE pagetype = 'leaf' AND path <> '/'";
    let mut statement = connection.prepare(leaves).unwrap();
    let leaves = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let leaves = leaves.map(Result::unwrap).map(|(page, name): (u16, _)| (page.into(), name)).collect();
    drop(statement);
    connection.close().unwrap();
    Sound { bytes: fs::read(&path).unwrap(), workflows, leaves }
}

impl Sound {
    /// The workflows that a page names, if it does.
    fn on_page(&self, page: usize) -> BTreeSet<Arc<str>> {
        let text = String::from_utf8_lossy(&self.bytes[page * PAGE_BYTES..][..PAGE_BYTES]);
        let is_on = |workflow: &usize| text.contains(&marker(*workflow));
        (0..WORKFLOWS).filter(is_on).map(|workflow| format!("w{workflow}").into()).collect()
    }

    fn check_claim(&self, claim: &Claim, what: &str) {
        let history = &self.workflows[&claim.fence.workflow_id];
        let open = history.activations.last().unwrap();
        assert_eq!(claim.fence.activation_id, open.activation_id, "{what}");
        assert_eq!((&claim.checkpoint, &Some(claim.wake.clone())), (&open.checkpoint, &open.wake), "{what}");
        let records: Vec<_> = open.records.iter().map(|committed| Arc::clone(&committed.record)).collect();
        assert_eq!((&claim.records, claim.fence.attempt), (&records, open.attempts + 1), "{what}");
    }

    /// Puts `bytes` into a file and uses it. Gives the workflows that can still be read.
    async fn check(&self, path: &Path, bytes: &[u8], what: &str) -> BTreeSet<Arc<str>> {
        let names_file = |error: &SqliteError| {
            assert!(error.to_string().contains(path.to_str().unwrap()), "{what}: {error}");
        };
        let names_file_inside = |error: StoreError| names_file(error.0.downcast_ref::<SqliteError>().unwrap());
        fs::write(path, bytes).unwrap();
        let is_unchanged = bytes == self.bytes;
        match verify(path) {
            Ok(report) => assert!(fs::read(path).unwrap() == bytes, "{what}: {report:?}"),
            Err(error) => names_file(&error),
        }
        let clock = HandClock::default();
        let store = match SqliteStore::open(path, clock.env()).await {
            Ok(store) => store,
            Err(error) => {
                names_file(&error);
                assert!(fs::read(path).unwrap() == bytes, "{what}: it was refused, and changed");
                return BTreeSet::new();
            }
        };
        let mut readable = BTreeSet::new();
        for (id, history) in &self.workflows {
            match store.read(id).await {
                Ok(read) => {
                    assert_eq!(read.as_ref(), Some(history), "{what}");
                    readable.insert(Arc::clone(id));
                }
                Err(error) => names_file_inside(error),
            }
        }
        match store.workflow_ids().await {
            Ok(ids) => {
                assert!(ids.iter().all(|id| self.workflows.contains_key(id)), "{what}");
                assert!(readable.is_empty() || ids.len() + 1 > readable.len() || is_unchanged, "{what}");
            }
            Err(error) => names_file_inside(error),
        }
        clock.set(2 * MINUTE);
        let mut claimed = BTreeSet::new();
        loop {
            match store.claim(&["test".into()], 10 * MINUTE).await {
                Ok(Claimed::Activation(claim)) => {
                    self.check_claim(&claim, what);
                    assert!(claimed.insert(claim.fence.workflow_id), "{what}: claimed twice");
                }
                Ok(Claimed::Nothing { .. }) => break,
                Err(error) => {
                    names_file_inside(error);
                    break;
                }
            }
        }
        readable
    }
}

fn flipped(bytes: &[u8], page: usize, offset: usize, bits: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[page * PAGE_BYTES + offset] ^= bits;
    bytes
}

#[tokio::test]
async fn a_changed_byte_a_lost_page_and_a_lost_end_are_found_wherever_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let sound = sound(folder.path()).await;
    let path = folder.path().join("damaged.db");
    let all: BTreeSet<_> = sound.workflows.keys().cloned().collect();
    assert_eq!(sound.check(&path, &sound.bytes, "unchanged").await, all);
    let (pages, mut spared) = (sound.bytes.len() / PAGE_BYTES, 0);
    assert!(pages > 20, "{pages}");
    for page in 0..pages {
        let mut cases = Vec::new();
        // In the header of the page, and at places that differ from page to page.
        let offsets = [0, 4, 9, 24 + page, 500 + 37 * page, 4095 - 13 * page];
        for (index, offset) in offsets.into_iter().enumerate() {
            let bits = [0x01, 0x80, 0xff, 0x10][index % 4];
            cases.push((format!("page {page}, byte {offset}"), flipped(&sound.bytes, page, offset % PAGE_BYTES, bits)));
        }
        let mut zeroed = sound.bytes.clone();
        zeroed[page * PAGE_BYTES..][..PAGE_BYTES].fill(0);
        cases.push((format!("page {page} is empty"), zeroed));
        if page > 0 {
            let mut doubled = sound.bytes.clone();
            doubled.copy_within((page - 1) * PAGE_BYTES..page * PAGE_BYTES, page * PAGE_BYTES);
            cases.push((format!("page {page} is the one before it"), doubled));
        }
        for (what, bytes) in cases {
            let readable = sound.check(&path, &bytes, &what).await;
            let Some(tree) = sound.leaves.get(&page) else { continue };
            // What else stands on a page may be left from another use of it.
            if ["records", "decisions", "events"].contains(&tree.as_str()) {
                let on_page = sound.on_page(page);
                let others: BTreeSet<_> = all.difference(&on_page).cloned().collect();
                // A row that stands between two leaves is found through the one before it.
                let lost = others.difference(&readable).count();
                assert!(lost <= 1, "{what}: it is a leaf of {tree} with {on_page:?}, and {readable:?} are left");
                spared += others.len();
            } else {
                assert!(!readable.is_empty(), "{what}: it is a leaf of {tree}, and nothing is left");
            }
        }
        for length in [page * PAGE_BYTES, page * PAGE_BYTES + 77 * (page + 1)] {
            sound.check(&path, &sound.bytes[..length], &format!("cut off at {length}")).await;
        }
    }
    assert!(spared > 100, "{spared}: too little was lost for this to prove anything");
}

#[tokio::test]
async fn a_damaged_record_is_named_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let sound = sound(folder.path()).await;
    let path = folder.path().join("damaged.db");
    fs::write(&path, &sound.bytes).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let changes = [
        "UPDATE records SET text = replace(text, '\"a\":2', '\"a\":3') WHERE workflow = 3 AND activation = 4 AND position = 2",
        "DELETE FROM records WHERE workflow = 4 AND activation = 4 AND position = 3",
        "UPDATE decisions SET text = replace(text, 'mark', 'Mark') WHERE workflow = 5 AND position = 3",
        "UPDATE activations SET attempts = 0 WHERE workflow = 6 AND position = 4",
        "UPDATE events SET payload = '1' WHERE workflow = 1",
    ];
    for change in changes {
        let changed = connection.execute(change, []);
        assert_eq!(changed, Ok(1), "{change}");
    }
    connection.close().unwrap();
    let report = verify(&path).unwrap();
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        [
            "workflow \"w0\", event \"k\": it was changed",
            "workflow \"w0\", event \"k\": it was changed",
            "workflow \"w2\", activation-4, record 2 (\"r2\"): its text or one before it was changed",
            "workflow \"w3\", activation-4, record 3: the journal ends elsewhere than it was committed",
            "workflow \"w4\", activation-3: its decision was changed",
            "workflow \"w4\", activation-3: its decision was changed",
            "workflow \"w5\", activation-4: its row was changed",
        ]
    );
    assert_eq!((report.sound_workflows, report.sound_events), (1, 5));
    let clock = HandClock::default();
    clock.set(2 * MINUTE);
    let store = SqliteStore::open(&path, clock.env()).await.unwrap();
    // Of the four that are open all are damaged; nothing is handed out, and nobody fails for it.
    let Claimed::Nothing { next: None } = store.claim(&["test".into()], MINUTE).await.unwrap() else {
        panic!("claimed")
    };
    assert_eq!(store.workflow_ids().await.unwrap().len(), WORKFLOWS);
    store.start("new", "test", checkpoint(1)).await.unwrap();
    let Claimed::Activation(claim) = store.claim(&["test".into()], MINUTE).await.unwrap() else {
        panic!("not claimed")
    };
    assert_eq!(&*claim.fence.workflow_id, "new");
    let error = store.read("w2").await.unwrap_err();
    let Some(SqliteError::Damaged { place: Place::Record { position: 2, .. }, .. }) = error.0.downcast_ref() else {
        panic!("{error:?}")
    };
    assert!(!format!("{error:?}").contains("mark-"), "errors hold no values");
}

#[tokio::test]
async fn a_file_that_lost_whole_pages_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let sound = sound(folder.path()).await;
    let path = folder.path().join("short.db");
    fs::write(&path, &sound.bytes[..sound.bytes.len() - PAGE_BYTES]).unwrap();
    let error = SqliteStore::open(&path, HandClock::default().env()).await.unwrap_err().to_string();
    assert!(error.contains("it has not as many pages as its header says"), "{error}");
}

#[tokio::test]
async fn where_sqlite_finds_damage_the_workflow_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let sound = sound(folder.path()).await;
    let path = folder.path().join("damaged.db");
    let mut named = BTreeSet::new();
    for page in 1..sound.bytes.len() / PAGE_BYTES {
        // What kind of page it is: SQLite cannot read one of another kind.
        fs::write(&path, flipped(&sound.bytes, page, 0, 0xff)).unwrap();
        let Ok(store) = SqliteStore::open(&path, HandClock::default().env()).await else { continue };
        for id in sound.workflows.keys() {
            let Err(error) = store.read(id).await else { continue };
            let error = error.0.to_string();
            // Without brackets where it cannot even read which workflow it is.
            if error.contains("SQLite cannot read it (") {
                assert!(error.contains(&format!("workflow {:?}", &**id)), "page {page}: {error}");
                named.insert(Arc::clone(id));
            }
        }
    }
    assert_eq!(named.len(), WORKFLOWS, "{named:?}");
}
