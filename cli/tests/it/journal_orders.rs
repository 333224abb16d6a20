//! A file of journals with two workflows, for the tests that read it.

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::sqlite::SqliteStore;
use windtunnel_core::durable::{
    Binding, Checkpoint, Claimed, Commit, Decision, Fence, JournalStore, OperationKind, Record,
};
use windtunnel_sim::World;

use crate::command::Folder;

/// Stands in every value. The control character would begin an escape sequence.
pub(crate) const SECRET: &str = "hunter2\u{9b}31m";

/// A folder with the file `orders.db`.
pub(crate) fn folder(test: &str) -> Folder {
    let folder = Folder::new(test, &[]);
    let path = folder.path.join("orders.db");
    let filled = World::new(0).run(|world| async move {
        let store = SqliteStore::create_new(&path, world.env()).await.map_err(BoxError::from)?;
        fill(&store).await
    });
    filled.outcome.unwrap().unwrap();
    folder
}

async fn fill(store: &SqliteStore) -> Result<(), BoxError> {
    store.start("order-1", "refund", Checkpoint::new("start", json!(SECRET))?).await?;
    let fence = claim(store).await?;
    acknowledged(store.commit_record(&fence, record("model:turn:0", OperationKind::Model)?.into()).await);
    acknowledged(store.retry(&fence, Duration::ZERO, true).await);
    for _ in 0..3 {
        let fence = claim(store).await?;
        let record = record(&format!("tool:turn:0:pay-{}", fence.attempt), OperationKind::Tool)?;
        acknowledged(store.commit_record(&fence, record.into()).await);
    }
    let decision = Decision::wait_event("approved", Some(Duration::from_secs(60)), "pay", json!([SECRET]))?;
    acknowledged(store.commit_decision(&claim(store).await?, decision).await);
    store.deliver("order-1", "approved", json!({"by": SECRET})).await?;
    acknowledged(store.commit_decision(&claim(store).await?, Decision::complete(json!(SECRET))?).await);

    store.start("order-2", "refund", Checkpoint::new("start", Value::Null)?).await?;
    let decision = Decision::sleep("night", Duration::from_millis(1), "start", Value::Null)?;
    acknowledged(store.commit_decision(&claim(store).await?, decision).await);
    store.start("order-3", "refund", Checkpoint::new("start", Value::Null)?).await?;
    acknowledged(store.commit_decision(&claim(store).await?, Decision::fail("refused", SECRET)?).await);
    Ok(())
}

async fn claim(store: &SqliteStore) -> Result<Fence, BoxError> {
    match store.claim(&["refund".into()], Duration::ZERO).await? {
        Claimed::Activation(claim) => Ok(claim.fence),
        Claimed::Nothing { .. } => Err("nothing is due".into()),
    }
}

fn record(key: &str, kind: OperationKind) -> Result<Record, BoxError> {
    let binding = Binding::new(key, kind, "orders:call", "1", json!({"secret": SECRET}))?;
    Ok(Record::new(binding, json!([key, SECRET]))?)
}

#[track_caller]
fn acknowledged(commit: Commit) {
    assert_eq!(commit, Commit::Acknowledged);
}
