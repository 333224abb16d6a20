//! What a store reads back (D3–D5).

use std::collections::BTreeSet;
use std::sync::Arc;

use windtunnel_core::durable::{
    ActivationHistory, Decision, JOURNAL_BYTES_MAX, RECORDS_MAX, Record, Wake, WorkflowHistory,
};
use windtunnel_core::event::{Event, EventKind};
use windtunnel_core::json::canonical;

use crate::violation::{Violation, require};

/// A history makes sense by itself: only the last activation is without a decision, each one begins with what the one
/// before it decided, no two are called the same, no attempt is counted twice as failed, no two records of a journal share
/// a key, and nothing is over a bound.
///
/// # Errors
/// [`Violation`] for the first activation that does not.
pub fn history_is_sound(history: &WorkflowHistory) -> Result<(), Violation> {
    let activations = &history.activations;
    require(!activations.is_empty(), "D5", || format!("{:?} has no activation", history.workflow_id))?;
    let names: BTreeSet<_> = activations.iter().map(|activation| &activation.activation_id).collect();
    require(names.len() == activations.len(), "D5", || format!("two of {activations:?} are called the same"))?;
    require(activations[0].wake == Some(Wake::Started), "D5", || format!("{:?} comes first", activations[0]))?;
    for pair in activations.windows(2) {
        let [before, after] = pair else { continue };
        let follows = before.decision.as_ref().is_some_and(|(decision, _)| begins_so(decision, after));
        require(follows, "D5", || format!("{after:?} follows on {before:?}"))?;
    }
    activations.iter().try_for_each(activation_is_sound)
}

/// Whether an activation begins with what was decided before it.
fn begins_so(decision: &Decision, next: &ActivationHistory) -> bool {
    let checkpoint = decision.checkpoint();
    let same = checkpoint.is_some_and(|checkpoint| {
        checkpoint.entry() == next.checkpoint.entry()
            && canonical(checkpoint.state()) == canonical(next.checkpoint.state())
    });
    same && match (decision, &next.wake) {
        (Decision::Continue(_), Some(Wake::Continued)) => true,
        (Decision::Sleep { key, .. }, Some(Wake::Timer { key: woken })) => key == woken,
        // Nobody can have claimed what still waits.
        (Decision::WaitEvent { .. }, None) => next.attempts == 0,
        (Decision::WaitEvent { key, .. }, Some(Wake::Event { key: woken, .. })) => key == woken,
        (Decision::WaitEvent { key, timeout, .. }, Some(Wake::Timeout { key: woken })) => {
            key == woken && timeout.is_some()
        }
        _ => false,
    }
}

fn activation_is_sound(activation: &ActivationHistory) -> Result<(), Violation> {
    require(u64::from(activation.failures) <= activation.attempts, "D3", || {
        format!("{activation:?} has more failures than attempts")
    })?;
    let by = activation.decision.as_ref().map(|(_, by)| *by);
    require(by.is_none_or(|by| (1..=activation.attempts).contains(&by)), "D3", || {
        format!("{activation:?} is decided by an attempt that there was not")
    })?;
    let is_begun = activation.attempts > 0;
    require(is_begun || (activation.records.is_empty() && by.is_none()), "D3", || {
        format!("{activation:?} was never claimed")
    })?;
    let by: Vec<_> = activation.records.iter().map(|committed| committed.attempt).collect();
    require(by.is_sorted() && by.iter().all(|by| (1..=activation.attempts).contains(by)), "D3", || {
        format!("{activation:?} has records of attempts that there were not, or not in that order")
    })?;
    let keys: BTreeSet<_> = activation.records.iter().map(|committed| committed.record.key()).collect();
    require(keys.len() == activation.records.len(), "D2", || format!("two records of {activation:?} share a key"))?;
    let bytes = activation.records.iter().map(|committed| committed.record.canonical().len() + 1).sum::<usize>();
    require(keys.len() <= RECORDS_MAX && bytes < JOURNAL_BYTES_MAX, "D4", || {
        format!("{activation:?} is over a bound, with {bytes} bytes")
    })
}

/// What is read later holds all that was read before: attempts and failures only grow, records keep their places, a
/// decision stays, and what an activation began with does.
///
/// # Errors
/// [`Violation`] for the first thing that is not as it was.
pub fn history_grows(before: &WorkflowHistory, after: &WorkflowHistory) -> Result<(), Violation> {
    let is_same = before.workflow_id == after.workflow_id && before.workflow == after.workflow;
    require(is_same, "D3", || format!("{before:?} becomes {after:?}"))?;
    require(before.activations.len() <= after.activations.len(), "D3", || {
        format!("{:?} has lost activations", before.workflow_id)
    })?;
    let pairs = before.activations.iter().zip(&after.activations);
    pairs.into_iter().try_for_each(|(before, after)| {
        let is_so = before.activation_id == after.activation_id
            && before.checkpoint == after.checkpoint
            && before.attempts <= after.attempts
            && before.failures <= after.failures
            && (before.wake.is_none() || before.wake == after.wake)
            && after.records.starts_with(&before.records)
            && (before.decision.is_none() || (before.decision == after.decision && before.records == after.records));
        require(is_so, "D3", || format!("{before:?} becomes {after:?}"))
    })
}

/// An attempt that says that it decided has: the decision that is read is its own.
///
/// # Errors
/// [`Violation`] for the first attempt that says so wrongly.
pub fn decisions_are_told_truly(events: &[Event], history: &WorkflowHistory) -> Result<(), Violation> {
    let of_workflow = events.iter().filter(|event| event.run_id == history.workflow_id);
    of_workflow.into_iter().try_for_each(|event| {
        let EventKind::ActivationFinished { attempt, status: "decided", .. } = &event.kind else { return Ok(()) };
        let activation = event.call_id.as_ref().and_then(|id| history.activation(id));
        let by = activation.and_then(|activation| activation.decision.as_ref()).map(|(_, by)| *by);
        require(by == Some(*attempt), "D3", || format!("{event:?} is told, and {activation:?} is read"))
    })
}

/// A record that was acknowledged, with the activation whose it is.
pub type AcknowledgedRecord = (Arc<str>, Arc<Record>);

/// The history holds every record that was acknowledged, and, where nothing was lost on the way, no other.
///
/// # Errors
/// [`Violation`] for the first record that is missing, changed or comes from nowhere.
pub fn history_holds(
    history: &WorkflowHistory,
    acknowledged: &[AcknowledgedRecord],
    and_no_other: bool,
) -> Result<(), Violation> {
    for (activation_id, record) in acknowledged {
        let activation = history.activation(activation_id);
        let is_held = activation.is_some_and(|activation| activation.records.iter().any(|held| held.record == *record));
        require(is_held, "D3", || {
            format!("{record:?} of {activation_id:?} was acknowledged, and {activation:?} is read")
        })?;
    }
    for activation in history.activations.iter().filter(|_| and_no_other) {
        let foreign =
            activation.records.iter().map(|held| &held.record).find(|record| {
                !acknowledged.iter().any(|(id, known)| *id == activation.activation_id && known == *record)
            });
        require(foreign.is_none(), "D3", || format!("{foreign:?} of {activation:?} was never acknowledged"))?;
    }
    Ok(())
}
