//! What is stored of an activation, read back and checked.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};

use super::event::EventRow;
use super::fault::{Fault, Outcome};
use super::records;
use super::row::{ActivationRow, Woken};
use super::seal::Seal;
use super::workflow::WorkflowRow;
use crate::durable::checkpoint::Checkpoint;
use crate::durable::claim::Wake;
use crate::durable::decision::Decision;
use crate::durable::history::{ActivationHistory, WorkflowHistory};

/// A workflow with all its activations.
pub(super) fn workflow(connection: &Connection, workflow_id: &str) -> Outcome<Option<WorkflowHistory>> {
    let Some(row) = WorkflowRow::find(connection, workflow_id)? else { return Ok(None) };
    let (mut activations, mut position) = (Vec::new(), 1);
    loop {
        let activation = activation_at(connection, &row, position)?;
        let goes_on = activation.decision.as_ref().is_some_and(|(decision, _)| decision.checkpoint().is_some());
        activations.push(activation);
        if !goes_on {
            break;
        }
        position += 1;
    }
    Ok(Some(WorkflowHistory { workflow_id: row.id, workflow: row.name, activations }))
}

/// The activation at a position where one must be.
pub(super) fn activation_at(
    connection: &Connection,
    workflow: &WorkflowRow,
    position: i64,
) -> Outcome<ActivationHistory> {
    read_activation(connection, workflow, position)
        .map_err(|fault| fault.at(|| ActivationRow::place_at(workflow, position)))
}

fn read_activation(connection: &Connection, workflow: &WorkflowRow, position: i64) -> Outcome<ActivationHistory> {
    let row = ActivationRow::at(connection, workflow, position)?;
    let row = row.ok_or_else(|| ActivationRow::damage(workflow, position, "its row is missing"))?;
    let (checkpoint, wake) = beginning(connection, workflow, &row)?;
    let decision = match (row.decision_seal, row.decided_by) {
        (None, None) => None,
        (Some(seal), Some(by)) => Some((decision(connection, workflow, row.position, seal)?, by.cast_unsigned())),
        _ => {
            return Err(Fault::damage(
                ActivationRow::place_at(workflow, row.position),
                "its decision is there by half",
            ));
        }
    };
    Ok(ActivationHistory {
        activation_id: row.activation_id(),
        checkpoint,
        wake,
        attempts: row.attempts.cast_unsigned(),
        failures: u32::try_from(row.failures).unwrap_or(u32::MAX),
        records: records::load(connection, workflow, &row)?.committed(),
        decision,
    })
}

/// Where an activation begins, and why, if it does so far.
pub(super) fn beginning(
    connection: &Connection,
    workflow: &WorkflowRow,
    row: &ActivationRow,
) -> Outcome<(Checkpoint, Option<Wake>)> {
    let before = decision(connection, workflow, row.position - 1, row.checkpoint_seal)?;
    let damage = || {
        Fault::damage(
            ActivationRow::place_at(workflow, row.position),
            "it does not begin as the decision before it says",
        )
    };
    let checkpoint = before.checkpoint().cloned().ok_or_else(damage)?;
    let wake = match (&before, row.woken, &row.event_key) {
        (Decision::Continue(_), Woken::ByTime, None) if row.position == 1 => Wake::Started,
        (Decision::Continue(_), Woken::ByTime, None) => Wake::Continued,
        (Decision::Sleep { key, .. }, Woken::ByTime, None) => Wake::Timer { key: Arc::clone(key) },
        (Decision::WaitEvent { key, .. }, woken, Some(waited)) if key == waited => match woken {
            Woken::ByTime => return Err(damage()),
            Woken::NotYet => return Ok((checkpoint, None)),
            Woken::ByTimeout => Wake::Timeout { key: Arc::clone(key) },
            Woken::ByEvent => {
                let payload = EventRow::find(connection, workflow, key)?.payload.ok_or_else(damage)?;
                Wake::Event { key: Arc::clone(key), payload }
            }
        },
        _ => return Err(damage()),
    };
    Ok((checkpoint, Some(wake)))
}

/// The decision at a position where one must be.
pub(super) fn decision(
    connection: &Connection,
    workflow: &WorkflowRow,
    position: i64,
    seal: Seal,
) -> Outcome<Decision> {
    let sql = "SELECT text FROM decisions WHERE workflow = ? AND position = ?";
    let place = (workflow.number, position);
    let text = connection.prepare_cached(sql)?.query_row(place, |row| row.get::<_, String>(0)).optional()?;
    let damage = |problem| ActivationRow::damage(workflow, position.max(1), problem);
    let text = text.ok_or_else(|| damage("its decision is missing"))?;
    if Seal::decision(workflow.number, position, &text) != seal {
        return Err(damage("its decision was changed"));
    }
    serde_json::from_str(&text).map_err(|_| damage("its decision does not read as one"))
}

/// Whether a workflow may end with this activation, which has a decision.
pub(super) fn check_end(connection: &Connection, workflow: &WorkflowRow, last: &ActivationRow) -> Outcome<()> {
    let Some(seal) = last.decision_seal else { return Ok(()) };
    match decision(connection, workflow, last.position, seal)?.checkpoint() {
        None => Ok(()),
        Some(_) => Err(ActivationRow::damage(workflow, last.position + 1, "its row is missing")),
    }
}

/// Stores what was decided at a position.
pub(super) fn insert_decision(
    connection: &Connection,
    workflow: &WorkflowRow,
    position: i64,
    text: &str,
) -> Outcome<Seal> {
    let sql = "INSERT INTO decisions (workflow, position, text) VALUES (?, ?, ?)";
    connection.prepare_cached(sql)?.execute((workflow.number, position, text))?;
    Ok(Seal::decision(workflow.number, position, text))
}
