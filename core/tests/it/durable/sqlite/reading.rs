//! A file is read as it is, also beside damage, and stays as it is.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::durable::sqlite::{JournalFile, SqliteStore};
use windtunnel_core::durable::{Claimed, CommittedRecord, Decision, Fence, JournalStore, WorkflowHistory};

use crate::durable::ground::{HandClock, checkpoint, record};

async fn claim(store: &SqliteStore) -> Fence {
    let claimed = store.claim(&["test".into()], Duration::ZERO).await.unwrap();
    let Claimed::Activation(claim) = claimed else { panic!("nothing is due") };
    claim.fence
}

/// Two workflows with two activations each: a record is seeded, and those of the first activation are of two attempts.
async fn fill(path: &Path) -> Vec<WorkflowHistory> {
    let store = SqliteStore::create_new(path, HandClock::default().env()).await.unwrap();
    let mut histories = Vec::new();
    for id in ["w1", "w2"] {
        store.start(id, "test", checkpoint(1)).await.unwrap();
        store.seed(id, vec![record("seeded", json!(0))]).await.unwrap();
        for key in ["first", "second"] {
            let fence = claim(&store).await;
            assert!(
                store.commit_record(&fence, record(key, json!(id))).await
                    == windtunnel_core::durable::Commit::Acknowledged
            );
        }
        let fence = claim(&store).await;
        // A repeat by a later attempt stays the earlier one's.
        let _acknowledged = store.commit_record(&fence, record("second", json!(id))).await;
        let _acknowledged = store.commit_decision(&fence, Decision::continue_("start", json!(2)).unwrap()).await;
        let _acknowledged = store.commit_decision(&claim(&store).await, Decision::complete(json!(3)).unwrap()).await;
        histories.push(store.read(id).await.unwrap().unwrap());
    }
    histories
}

#[tokio::test]
async fn each_record_says_which_attempt_committed_it() {
    let folder = tempfile::tempdir().unwrap();
    let histories = fill(&folder.path().join("file")).await;
    let activation = &histories[0].activations[0];
    let by: Vec<_> =
        activation.records.iter().map(|CommittedRecord { record, attempt }| (&**record.key(), *attempt)).collect();
    assert_eq!((by, activation.attempts), (vec![("seeded", 0), ("first", 1), ("second", 2)], 3));
}

#[tokio::test]
async fn a_file_in_use_is_read_as_it_is_at_one_moment_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let histories = fill(&path).await;
    let before = fs::read(&path).unwrap();
    let file = JournalFile::open(&path).unwrap();
    assert_eq!((file.workflows(), file.findings()), (2, &[][..]));
    // Not seen by whom reads already.
    let store = SqliteStore::open_existing(&path, HandClock::default().env()).await.unwrap();
    store.start("w3", "test", checkpoint(1)).await.unwrap();
    for (number, history) in (1..).zip(&histories) {
        let reading = file.workflow_at(number).unwrap().unwrap();
        assert!(reading.is_sound());
        assert_eq!((&reading.workflow_id, &reading.workflow), (&history.workflow_id, &history.workflow));
        assert!(reading.activations.iter().map(|activation| activation.as_ref().unwrap()).eq(&history.activations));
    }
    assert!(file.workflow_at(3).unwrap().is_err());
    drop(file);
    assert_eq!(JournalFile::open(&path).unwrap().workflows(), 3);
    assert!(fs::read(&path).unwrap() == before, "the log is still the store's");
    drop(store);
    assert_eq!(JournalFile::open(&path).unwrap().workflows(), 3);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left of reading it");
}

#[tokio::test]
async fn damage_hides_neither_other_workflows_nor_other_activations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let histories = fill(&path).await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    let changed =
        connection.execute("UPDATE records SET attempt = 1 WHERE workflow = 1 AND key = 'second'", []).unwrap();
    connection.close().unwrap();
    assert_eq!(changed, 1);
    let file = JournalFile::open(&path).unwrap();
    let reading = file.workflow_at(1).unwrap().unwrap();
    let finding = reading.activations[0].as_ref().unwrap_err();
    let problem = r#"workflow "w1", activation-1, record 2 ("second"): its text or one before it was changed"#;
    assert_eq!(finding.to_string(), problem);
    assert_eq!(reading.activations[1].as_ref(), Ok(&histories[0].activations[1]));
    assert!(file.workflow_at(2).unwrap().unwrap().is_sound());
}
