//! From a request to what the store says.

use std::sync::Arc;

use serde::Serialize;

use super::message::ErrorCode;
use super::page::{history_page, ids_page};
use super::request::{Request, VERSION};
use crate::durable::history::WorkflowHistory;
use crate::durable::store::{JournalStore, StoreError};

/// What the store says, as JSON.
pub(super) async fn answer(store: Arc<dyn JournalStore>, request: Request) -> Result<String, ErrorCode> {
    match request {
        Request::Hello { version: VERSION } => written(Ok(serde_json::json!({"version": VERSION}).to_string())),
        Request::Hello { .. } => Err(ErrorCode::UnknownVersion),
        Request::Start { workflow_id, workflow, checkpoint } => {
            json(&answered(store.start(&workflow_id, &workflow, checkpoint).await)?)
        }
        Request::Claim { workflows, lease } => json(&answered(store.claim(&workflows, lease).await)?),
        Request::Extend { fence, lease } => json(&store.extend(&fence, lease).await),
        Request::CommitRecord { fence, record } => json(&store.commit_record(&fence, record).await),
        Request::CommitDecision { fence, decision } => json(&store.commit_decision(&fence, decision).await),
        Request::Retry { fence, after, is_failure } => json(&store.retry(&fence, after, is_failure).await),
        Request::Deliver { workflow_id, key, payload } => {
            json(&answered(store.deliver(&workflow_id, &key, payload).await)?)
        }
        Request::Read { workflow_id, from } => {
            let history = answered(store.read(&workflow_id).await)?;
            let page = |history: &WorkflowHistory| written(history_page(history, from));
            history.as_ref().map_or(Ok("null".to_owned()), page)
        }
        Request::WorkflowIds { from } => written(ids_page(&answered(store.workflow_ids().await)?, from)),
    }
}

/// The cause stays here: it may hold anything.
fn answered<T>(answer: Result<T, StoreError>) -> Result<T, ErrorCode> {
    answer.map_err(|error| {
        tracing::debug!(cause = crate::causes::text(&error), "the journal store failed a remote request");
        ErrorCode::StoreFailed
    })
}

fn json(answer: &impl Serialize) -> Result<String, ErrorCode> {
    written(serde_json::to_string(answer))
}

fn written(text: serde_json::Result<String>) -> Result<String, ErrorCode> {
    text.map_err(|_| ErrorCode::Unanswerable)
}
