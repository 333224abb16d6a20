//! Starts and commits: what one transaction changes.

use std::time::Duration;

use rusqlite::Connection;

use super::event::EventRow;
use super::fault::{Fault, Outcome};
use super::history;
use super::records;
use super::row::{ActivationRow, nanoseconds};
use super::workflow::WorkflowRow;
use crate::durable::checkpoint::Checkpoint;
use crate::durable::claim::{Fence, Wake};
use crate::durable::commit::Refusal;
use crate::durable::decision::Decision;
use crate::durable::record::Record;
use crate::durable::rules::{Begins, check_fence, decided_again, is_same};
use crate::durable::store::Started;

pub(super) fn start(
    connection: &Connection,
    id: &str,
    name: &str,
    checkpoint: &Checkpoint,
    now: Duration,
) -> Outcome<Started> {
    if let Some(workflow) = WorkflowRow::find_to_insert(connection, id)? {
        let first = ActivationRow::at(connection, &workflow, 1)?;
        let first = first.ok_or_else(|| ActivationRow::damage(&workflow, 1, "its row is missing"))?;
        let (began, _) = history::beginning(connection, &workflow, &first)?;
        let is_repeat = *workflow.name == *name && is_same(&began, checkpoint);
        return Ok(if is_repeat { Started::Already } else { Started::Conflict });
    }
    let workflow = WorkflowRow::insert(connection, id, name)?;
    let text = text(&Decision::Continue(checkpoint.clone()))?;
    let seal = history::insert_decision(connection, &workflow, 0, &text)?;
    ActivationRow::new(&workflow, 1, &Begins::At(now, Wake::Started), seal).insert(connection)?;
    Ok(Started::New)
}

/// The activation, if this attempt of it is the last one.
fn fenced(connection: &Connection, fence: &Fence) -> Outcome<(WorkflowRow, ActivationRow)> {
    let workflow = WorkflowRow::find(connection, &fence.workflow_id)?.ok_or(Refusal::NoActivation)?;
    let position = fence.activation_id.strip_prefix("activation-").and_then(|position| position.parse().ok());
    let position: i64 = position.ok_or(Refusal::NoActivation)?;
    let Some(activation) = ActivationRow::at(connection, &workflow, position)? else {
        if position <= ActivationRow::last_position(connection, &workflow)? && 0 < position {
            return Err(ActivationRow::damage(&workflow, position, "its row is missing"));
        }
        return Err(Refusal::NoActivation.into());
    };
    if activation.activation_id() != fence.activation_id {
        return Err(Refusal::NoActivation.into());
    }
    check_fence(fence.attempt, activation.attempts.cast_unsigned())?;
    Ok((workflow, activation))
}

fn fenced_open(connection: &Connection, fence: &Fence) -> Outcome<(WorkflowRow, ActivationRow)> {
    let fenced = fenced(connection, fence)?;
    if fenced.1.is_open() { Ok(fenced) } else { Err(Refusal::Closed.into()) }
}

pub(super) fn extend(connection: &Connection, fence: &Fence, lease_until: Duration) -> Outcome<()> {
    let (_, mut activation) = fenced_open(connection, fence)?;
    activation.lease_until_ns = Some(nanoseconds(lease_until));
    activation.update(connection)
}

pub(super) fn retry(connection: &Connection, fence: &Fence, due: Duration, is_failure: bool) -> Outcome<()> {
    let (_, mut activation) = fenced_open(connection, fence)?;
    activation.lease_until_ns = Some(nanoseconds(due));
    // A repeat does not count again.
    if is_failure && activation.failed_by != fence.attempt.cast_signed() {
        activation.failed_by = fence.attempt.cast_signed();
        activation.failures = (activation.failures + 1).min(u32::MAX.into());
    }
    activation.update(connection)
}

pub(super) fn record(connection: &Connection, fence: &Fence, record: &Record) -> Outcome<()> {
    let (workflow, mut activation) = fenced_open(connection, fence)?;
    let attempt = activation.attempts;
    records::append(connection, &workflow, &mut activation, attempt, record)
}

/// Puts a record where the next attempt finds it.
pub(super) fn seed(connection: &Connection, workflow_id: &str, record: &Record) -> Outcome<()> {
    let Some(workflow) = WorkflowRow::find(connection, workflow_id)? else { return Ok(()) };
    let mut activation = ActivationRow::last(connection, &workflow)?;
    records::append(connection, &workflow, &mut activation, 0, record)
}

pub(super) fn decision(connection: &Connection, fence: &Fence, decision: &Decision, now: Duration) -> Outcome<()> {
    let (mut workflow, mut activation) = fenced(connection, fence)?;
    if let (Some(seal), Some(by)) = (activation.decision_seal, activation.decided_by) {
        let committed = history::decision(connection, &workflow, activation.position, seal)?;
        return Ok(decided_again(&committed, by.cast_unsigned(), decision, fence.attempt)?);
    }
    let mut kept = None;
    if let Decision::WaitEvent { key, .. } = decision {
        let event = EventRow::find(connection, &workflow, key)?;
        if event.is_waited {
            return Err(Refusal::EventKeyUsed.into());
        }
        kept.clone_from(&event.payload);
        event.wait(connection, &mut workflow, key)?;
    }
    let text = text(decision)?;
    let seal = history::insert_decision(connection, &workflow, activation.position, &text)?;
    (activation.decision_seal, activation.decided_by) = (Some(seal), Some(activation.attempts));
    activation.update(connection)?;
    if let Some((_, begins)) = Begins::after(decision, now, kept.as_ref()) {
        ActivationRow::new(&workflow, activation.position + 1, &begins, seal).insert(connection)?;
    }
    Ok(())
}

/// Its form is made of strings and of what was checked when it was made: writing it cannot fail.
fn text(decision: &Decision) -> Result<String, Fault> {
    serde_json::to_string(decision).map_err(|_| Fault::Refused(Refusal::Rejected))
}
