//! Approvals (E8).

use std::collections::BTreeMap;
use std::sync::Arc;

use windtunnel_core::event::{Event, EventKind};

use crate::violation::{Violation, require};

/// What is known of one call's approval.
#[derive(Default)]
struct Asked {
    /// The approval that the call waits for, also after `tool.pending`.
    waits_for: Option<Arc<str>>,
    /// The reviewer was asked and has not approved.
    is_undecided: bool,
    /// The call was denied.
    is_denied: bool,
}

/// A call's requested, pending and decided events share one approval id, also when the call is made again, and no
/// attempt runs before a decision that was asked for, or after a denial.
///
/// Calls are told apart by their ids and tools, across runs: a pending call without a run of its own is made again in
/// another.
///
/// # Errors
/// [`Violation`] for the first event that breaks this.
pub fn approvals_keep_their_ids(events: &[Event]) -> Result<(), Violation> {
    let mut calls: BTreeMap<_, Asked> = BTreeMap::new();
    for event in events {
        let (Some(call_id), Some(tool)) = (&event.call_id, event.kind.tool()) else { continue };
        let asked = calls.entry((call_id, tool)).or_default();
        let is_same = |id: &Arc<str>, asked: &Asked| asked.waits_for.as_ref().is_none_or(|known| known == id);
        let is_fine = match &event.kind {
            EventKind::ToolStarted { .. } => {
                (asked.is_undecided, asked.is_denied) = (false, false);
                true
            }
            EventKind::ApprovalRequested { approval_id, .. } => {
                let is_fine = is_same(approval_id, asked);
                *asked = Asked { waits_for: Some(Arc::clone(approval_id)), is_undecided: true, is_denied: false };
                is_fine
            }
            EventKind::ApprovalDecided { approval_id, approved, .. } => {
                let is_fine = is_same(approval_id, asked);
                *asked = Asked { waits_for: None, is_undecided: false, is_denied: !approved };
                is_fine
            }
            EventKind::ToolPending { approval_id, .. } => is_same(approval_id, asked),
            EventKind::ToolAttempt { .. } => !asked.is_undecided && !asked.is_denied,
            _ => true,
        };
        require(is_fine, "E8", || {
            format!("event {} ({}) of call {call_id} does not fit its approval", event.sequence, event.kind.name())
        })?;
    }
    Ok(())
}
