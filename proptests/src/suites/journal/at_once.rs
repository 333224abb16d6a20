//! Requests at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::durable::{Claimed, Commit, Delivery, Fence, JournalStore, Started};

use super::JournalStoreSubject;
use super::lost::{WORKFLOW, record, start};
use super::trial::{Seen, demand, run};
use crate::played::HandClock;
use crate::suites::{Case, Point};

/// Workers at once on a few workflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtOnceCase {
    /// How many workflows there are.
    pub workflows: usize,
    /// How many workers claim, each once.
    pub workers: usize,
    /// How many records each commits at once.
    pub records: usize,
}

impl Case for AtOnceCase {}

pub(super) fn points<S: JournalStoreSubject>() -> Vec<Point<S>> {
    let cases = |_: &S| {
        let cases = (1_usize..4, 1_usize..6, 1_usize..5);
        cases.prop_map(|(workflows, workers, records)| AtOnceCase { workflows, workers, records })
    };
    let id = "at_once";
    let demand = "of requests at once each is answered as if there were an order of them";
    vec![Point::property(id, demand, cases, move |subject: &S, case: &AtOnceCase| {
        let place = subject.place();
        run(id, subject, &place, check(subject, &place, case))
    })]
}

async fn check<S: JournalStoreSubject>(subject: &S, place: &S::Place, case: &AtOnceCase) -> Seen {
    let store = subject.open(place, None, HandClock::new().env()).await;
    starts(&store, case).await?;
    let fences = claims(&store, case).await?;
    for fence in &fences {
        commits(&store, fence, case.records).await?;
        deliveries(&store, fence).await?;
    }
    Ok(())
}

/// Each workflow is started twice, and is new once.
async fn starts(store: &impl JournalStore, case: &AtOnceCase) -> Seen {
    for number in 0..case.workflows {
        let workflow_id = format!("order-{number}");
        let started = join_all([(); 2].map(|()| start(store, &workflow_id, 0))).await;
        let mut started = started.into_iter().collect::<Result<Vec<_>, _>>()?;
        started.sort_by_key(|started| *started != Started::New);
        demand(started == [Started::New, Started::Already], || format!("two starts at once are {started:?}"))?;
    }
    Ok(())
}

/// Each activation is claimed by one worker.
async fn claims(store: &impl JournalStore, case: &AtOnceCase) -> Result<Vec<Fence>, String> {
    let workflows = [Arc::from(WORKFLOW)];
    let claimed = join_all((0..case.workers).map(|_| store.claim(&workflows, Duration::from_secs(60)))).await;
    let mut fences = Vec::new();
    for claimed in claimed {
        if let Claimed::Activation(claim) = claimed.map_err(|error| error.to_string())? {
            fences.push(claim.fence);
        }
    }
    let different: BTreeSet<_> = fences.iter().map(|fence| Arc::clone(&fence.workflow_id)).collect();
    let due = case.workflows.min(case.workers);
    demand(fences.len() == due && different.len() == due, || format!("claims at once are {fences:?}"))?;
    Ok(fences)
}

/// Each record is stored once.
async fn commits(store: &impl JournalStore, fence: &Fence, count: usize) -> Seen {
    let keys: Vec<_> = (0..count).map(|number| format!("tool:{number}")).collect();
    let records = keys.iter().map(|key| record(key, json!(key))).collect::<Result<Vec<_>, _>>()?;
    let commits = join_all(records.into_iter().map(|record| store.commit_record(fence, record))).await;
    let is_so = commits.iter().all(|commit| *commit == Commit::Acknowledged);
    demand(is_so, || format!("records at once are answered with {commits:?}"))?;
    let history = store.read(&fence.workflow_id).await.map_err(|error| error.to_string())?;
    let history = history.ok_or_else(|| format!("{:?} is not there", fence.workflow_id))?;
    let read: Vec<_> = history.activations.iter().flat_map(|activation| &activation.records).collect();
    let stored: BTreeSet<_> = read.iter().map(|committed| committed.record.key().to_string()).collect();
    let is_so = read.len() == count && keys.iter().all(|key| stored.contains(key));
    demand(is_so, || format!("read are {stored:?} of {keys:?}"))
}

/// Of several events under one key one is accepted.
async fn deliveries(store: &impl JournalStore, fence: &Fence) -> Seen {
    let delivered = join_all((0..3).map(|value| store.deliver(&fence.workflow_id, "signature", json!(value)))).await;
    let delivered = delivered.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let count = |due| delivered.iter().filter(|delivery| **delivery == due).count();
    demand(count(Delivery::Accepted) == 1 && count(Delivery::Conflict) == 2, || {
        format!("three events at once under one key are {delivered:?}")
    })
}
