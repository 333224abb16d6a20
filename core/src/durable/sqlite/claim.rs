//! Claims: which activation is next, and whose.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::error::Place;
use super::fault::{Fault, Outcome};
use super::history;
use super::records;
use super::row::{ActivationRow, Woken, duration, nanoseconds};
use super::workflow::WorkflowRow;
use crate::durable::claim::{Claim, Claimed, Fence};
use crate::durable::rules::Begins;

/// When an activation can be claimed, the number of its workflow, and its position there: in the order of claims.
pub(super) type Candidate = (i64, i64, i64);

/// A workflow's number, and the position of an activation in it.
pub(super) type Spot = (i64, i64);

/// What a claim came to, and what it passed over.
pub(super) struct Claiming {
    pub(super) claimed: Claimed,
    pub(super) passed: Vec<(Spot, Fault)>,
}

/// Claims what is due for longest, and of what is due since one time the workflow that was started first. What is damaged
/// is passed over, as is all that is in `damaged`.
pub(super) fn claim(
    connection: &Connection,
    names: &[Arc<str>],
    lease: Duration,
    damaged: &BTreeSet<Spot>,
    now: Duration,
) -> Outcome<Claiming> {
    let (mut avoided, mut passed) = (damaged.clone(), Vec::new());
    loop {
        let mut first: Option<Candidate> = None;
        for name in names {
            let candidate = first_ready(connection, name, &avoided)?;
            first = first.into_iter().chain(candidate).min();
        }
        let Some(candidate @ (ready_ns, workflow, position)) = first else {
            return Ok(Claiming { claimed: Claimed::Nothing { next: None }, passed });
        };
        if ready_ns > nanoseconds(now) {
            let next = Some(duration(ready_ns).saturating_sub(now));
            return Ok(Claiming { claimed: Claimed::Nothing { next }, passed });
        }
        match take(connection, candidate, lease, now) {
            Ok(claim) => return Ok(Claiming { claimed: Claimed::Activation(Box::new(claim)), passed }),
            Err(fault) if fault.is_damage() => {
                avoided.insert((workflow, position));
                passed.push(((workflow, position), fault));
            }
            Err(fault) => return Err(fault),
        }
    }
}

fn first_ready(connection: &Connection, name: &str, avoided: &BTreeSet<Spot>) -> Outcome<Option<Candidate>> {
    let sql = "SELECT ready_ns, workflow, position FROM activations INDEXED BY ready \
               WHERE name = ? AND ready_ns IS NOT NULL ORDER BY ready_ns, workflow, position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([name])?;
    while let Some(row) = rows.next()? {
        let candidate: Candidate = (row.get(0)?, row.get(1)?, row.get(2)?);
        if !avoided.contains(&(candidate.1, candidate.2)) {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// Claims one that is due. All of it is read first, so nothing is written of one that is damaged.
fn take(
    connection: &Connection,
    (ready_ns, number, position): Candidate,
    lease: Duration,
    now: Duration,
) -> Outcome<Claim> {
    let missing = || Fault::damage(Place::Number { number }, "its row is missing, and it has activations");
    let read = WorkflowRow::at(connection, number).and_then(|workflow| workflow.ok_or_else(missing));
    let workflow = read.map_err(|fault| fault.at(|| Place::Number { number }))?;
    let due = (ready_ns, position);
    let taken = take_of(connection, &workflow, due, lease, now);
    taken.map_err(|fault| fault.at(|| ActivationRow::place_at(&workflow, position)))
}

fn take_of(
    connection: &Connection,
    workflow: &WorkflowRow,
    (ready_ns, position): (i64, i64),
    lease: Duration,
    now: Duration,
) -> Outcome<Claim> {
    let row = ActivationRow::at(connection, workflow, position)?.filter(|row| row.ready_ns() == Some(ready_ns));
    let no_row = || ActivationRow::damage(workflow, position, "the index of what is due is not that of its row");
    let mut row = row.ok_or_else(no_row)?;
    if let (Woken::NotYet, Some(key)) = (row.woken, &row.event_key) {
        row.due_ns = Begins::timed_out(key, now).due().map(nanoseconds);
        row.woken = Woken::ByTimeout;
    }
    let (checkpoint, wake) = history::beginning(connection, workflow, &row)?;
    let wake =
        wake.ok_or_else(|| ActivationRow::damage(workflow, position, "it waits for no event, and is not due"))?;
    let records = records::load(connection, workflow, &row)?.journal.records().to_vec();
    row.attempts += 1;
    row.lease_until_ns = Some(nanoseconds(now.saturating_add(lease)));
    row.update(connection)?;
    Ok(Claim {
        fence: Fence {
            workflow_id: Arc::clone(&workflow.id),
            activation_id: row.activation_id(),
            attempt: row.attempts.cast_unsigned(),
        },
        workflow: Arc::clone(&workflow.name),
        checkpoint,
        wake,
        records,
        failures: u32::try_from(row.failures).unwrap_or(u32::MAX),
    })
}
