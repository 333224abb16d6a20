//! Events: what was delivered to a workflow, and what it waits for or waited for.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;

use super::error::Place;
use super::fault::{Fault, Outcome};
use super::history;
use super::row::{ActivationRow, Woken, duration, nanoseconds};
use super::seal::{Seal, Sealing};
use super::workflow::WorkflowRow;
use crate::durable::rules::{Arrival, Expectation};
use crate::durable::store::Delivery;

#[derive(Debug, Default)]
pub(super) struct EventRow {
    pub(super) is_waited: bool,
    pub(super) payload: Option<Arc<Value>>,
    is_stored: bool,
}

impl EventRow {
    /// The event; an empty one, if there is none for certain.
    pub(super) fn find(connection: &Connection, workflow: &WorkflowRow, key: &str) -> Outcome<Self> {
        let sql = "SELECT is_waited, payload, seal FROM events WHERE workflow = ? AND key = ?";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query((workflow.number, key))?;
        let Some(row) = rows.next()? else {
            check_count(connection, workflow)?;
            return Ok(Self::default());
        };
        let (is_waited, payload): (bool, Option<String>) = (row.get(0)?, row.get(1)?);
        let damage = || {
            let place = Place::Event { workflow_id: Arc::clone(&workflow.id), key: key.into() };
            Fault::damage(place, "it was changed")
        };
        if seal(workflow, key, is_waited, payload.as_deref()) != row.get(2)? {
            return Err(damage());
        }
        let payload = payload.map(|payload| serde_json::from_str(&payload)).transpose().map_err(|_| damage())?;
        Ok(Self { is_waited, payload: payload.map(Arc::new), is_stored: true })
    }

    /// Remembers that the workflow waits for it.
    pub(super) fn wait(mut self, connection: &Connection, workflow: &mut WorkflowRow, key: &str) -> Outcome<()> {
        self.is_waited = true;
        self.write(connection, workflow, key)
    }

    fn deliver(
        mut self,
        connection: &Connection,
        workflow: &mut WorkflowRow,
        key: &str,
        payload: Arc<Value>,
    ) -> Outcome<()> {
        self.payload = Some(payload);
        self.write(connection, workflow, key)
    }

    fn write(&self, connection: &Connection, workflow: &mut WorkflowRow, key: &str) -> Outcome<()> {
        if !self.is_stored {
            workflow.add_event(connection)?;
        }
        let payload = self.payload.as_ref().map(|payload| payload.to_string());
        let seal = seal(workflow, key, self.is_waited, payload.as_deref());
        let sql = "INSERT INTO events (workflow, key, is_waited, payload, seal) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT DO UPDATE SET is_waited = ?3, payload = ?4, seal = ?5";
        connection.prepare_cached(sql)?.execute((workflow.number, key, self.is_waited, payload, seal))?;
        Ok(())
    }
}

fn seal(workflow: &WorkflowRow, key: &str, is_waited: bool, payload: Option<&str>) -> Seal {
    let seal = Seal::of("event").integer(workflow.number).text(key).integer(is_waited.into());
    seal.optional(payload, Sealing::text).done()
}

fn check_count(connection: &Connection, workflow: &WorkflowRow) -> Outcome<()> {
    let sql = "SELECT count(*) FROM events WHERE workflow = ?";
    let counted: i64 = connection.prepare_cached(sql)?.query_row([workflow.number], |row| row.get(0))?;
    if counted == workflow.events {
        return Ok(());
    }
    Err(Fault::damage(workflow.place(), "events are missing"))
}

/// The keys of a workflow's events.
pub(super) fn keys(connection: &Connection, workflow: &WorkflowRow) -> Outcome<Vec<Arc<str>>> {
    check_count(connection, workflow)?;
    let mut statement = connection.prepare_cached("SELECT key FROM events WHERE workflow = ? ORDER BY key")?;
    let keys = statement.query_map([workflow.number], |row| row.get(0))?;
    Ok(keys.collect::<Result<_, _>>()?)
}

/// Delivers an event.
pub(super) fn deliver(
    connection: &Connection,
    workflow_id: &str,
    key: &str,
    payload: Arc<Value>,
    now: Duration,
) -> Outcome<Delivery> {
    let Some(mut workflow) = WorkflowRow::find(connection, workflow_id)? else { return Ok(Delivery::NoWorkflow) };
    let event = EventRow::find(connection, &workflow, key)?;
    let mut last = ActivationRow::last(connection, &workflow)?;
    if !last.is_open() {
        history::check_end(connection, &workflow, &last)?;
    }
    let is_waiting = last.is_open() && last.woken == Woken::NotYet;
    let expectation = Expectation {
        delivered: event.payload.as_deref(),
        is_open: last.is_open(),
        waits_for: last.event_key.as_deref().filter(|_| is_waiting).map(|key| (key, last.due_ns.map(duration))),
        has_waited: event.is_waited,
    };
    match expectation.meet(key, &payload, now) {
        Arrival::Refused(delivery) => return Ok(delivery),
        Arrival::Kept => {}
        Arrival::Wakes => {
            (last.woken, last.due_ns) = (Woken::ByEvent, Some(nanoseconds(now)));
            last.update(connection)?;
        }
    }
    event.deliver(connection, &mut workflow, key, payload)?;
    Ok(Delivery::Accepted)
}
