//! What does not fit into one frame, in parts that do.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::RemoteError;
use crate::durable::history::{ActivationHistory, WorkflowHistory};

/// Bytes of the entries of a page, unless it has only one.
pub const PAGE_BYTES_MAX: usize = 768 * 1024;
/// Pages that a client takes for one answer.
pub const PAGES_MAX: usize = 256;

/// Some activations of a workflow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryPage {
    workflow_id: Arc<str>,
    workflow: Arc<str>,
    activations: Vec<ActivationHistory>,
    has_more: bool,
}

/// Some identifiers of workflows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdsPage {
    workflow_ids: Vec<Arc<str>>,
    has_more: bool,
}

/// The page of a history from this activation on, as JSON.
pub(super) fn history_page(history: &WorkflowHistory, from: usize) -> serde_json::Result<String> {
    let (activations, has_more) = entries(history.activations.get(from..).unwrap_or_default())?;
    let (workflow_id, workflow) =
        (serde_json::to_string(&history.workflow_id)?, serde_json::to_string(&history.workflow)?);
    Ok(format!(
        r#"{{"workflow_id":{workflow_id},"workflow":{workflow},"activations":[{activations}],"has_more":{has_more}}}"#
    ))
}

/// The page of identifiers from this one on, as JSON.
pub(super) fn ids_page(ids: &[Arc<str>], from: usize) -> serde_json::Result<String> {
    let (ids, has_more) = entries(ids.get(from..).unwrap_or_default())?;
    Ok(format!(r#"{{"workflow_ids":[{ids}],"has_more":{has_more}}}"#))
}

/// As many as fit, and whether there are more.
fn entries(all: &[impl Serialize]) -> serde_json::Result<(String, bool)> {
    let mut text = String::new();
    for (index, entry) in all.iter().enumerate() {
        let entry = serde_json::to_string(entry)?;
        if index > 0 {
            if text.len() + 1 + entry.len() > PAGE_BYTES_MAX {
                return Ok((text, true));
            }
            text.push(',');
        }
        text.push_str(&entry);
    }
    Ok((text, false))
}

/// A history that is put together from its pages. It is that of the instant at which the last page was read: an activation
/// with a decision never changes, and one without is the last.
pub(super) struct HistoryPages {
    history: WorkflowHistory,
}

impl HistoryPages {
    pub(super) fn new(workflow_id: &str) -> Self {
        let history = WorkflowHistory { workflow_id: workflow_id.into(), workflow: "".into(), activations: Vec::new() };
        Self { history }
    }

    /// How many activations there are by now.
    pub(super) fn len(&self) -> usize {
        self.history.activations.len()
    }

    /// Takes the next page, and says whether there are more.
    pub(super) fn take(&mut self, page: HistoryPage) -> Result<bool, RemoteError> {
        let is_first = self.history.activations.is_empty();
        let is_another =
            page.workflow_id != self.history.workflow_id || (!is_first && page.workflow != self.history.workflow);
        self.history.workflow = page.workflow;
        let is_empty = page.activations.is_empty();
        self.history.activations.extend(page.activations);
        let before = self.history.activations.len().saturating_sub(usize::from(!page.has_more));
        let is_open = self.history.activations.iter().take(before).any(|activation| activation.decision.is_none());
        if is_another || is_open || (is_empty && (page.has_more || !is_first)) {
            return Err(RemoteError::Unintelligible);
        }
        Ok(page.has_more)
    }

    pub(super) fn finish(self) -> WorkflowHistory {
        self.history
    }
}

impl IdsPage {
    /// Moves the identifiers to those that are there, and says whether there are more.
    pub(super) fn append_to(self, ids: &mut Vec<Arc<str>>) -> Result<bool, RemoteError> {
        if self.workflow_ids.is_empty() && (self.has_more || !ids.is_empty()) {
            return Err(RemoteError::Unintelligible);
        }
        ids.extend(self.workflow_ids);
        Ok(self.has_more)
    }
}
