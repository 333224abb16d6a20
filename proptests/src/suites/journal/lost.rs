//! Requests whose answers are lost.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    Binding, Checkpoint, Claimed, Commit, Decision, Delivery, DurableError, Fence, JournalStore, OperationKind, Record,
    Refusal, Started, WorkflowHistory,
};

use super::JournalStoreSubject;
use super::trial::{Seen, demand, run};
use crate::played::HandClock;
use crate::suites::turns::dropped_after;
use crate::suites::{Case, Point};

/// A request is given up, and made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostCase {
    /// Which one.
    pub request: LostRequest,
    /// After how many turns it is dropped; if it was answered by then, the answer is lost.
    pub turns: u8,
    /// Whether the store is opened again in between.
    pub is_reopened: bool,
}

/// What is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostRequest {
    /// The start of a workflow.
    Start,
    /// The commit of a record.
    Record,
    /// The commit of a decision.
    Decision,
    /// The delivery of an event.
    Event,
}

impl Case for LostCase {}

pub(super) fn points<S: JournalStoreSubject>() -> Vec<Point<S>> {
    let requests = [LostRequest::Start, LostRequest::Record, LostRequest::Decision, LostRequest::Event];
    let cases = move |_: &S| {
        let cases = (select(requests.to_vec()), 0_u8..12, any::<bool>());
        cases.prop_map(|(request, turns, is_reopened)| LostCase { request, turns, is_reopened })
    };
    let id = "lost_acknowledgment";
    let demand = "what is made again because its answer was lost is stored once";
    vec![Point::property(id, demand, cases, move |subject: &S, case: &LostCase| {
        let place = subject.place();
        run(id, subject, &place, check(subject, &place, case))
    })]
}

pub(super) const WORKFLOW_ID: &str = "order-1";
pub(super) const WORKFLOW: &str = "refund";
const EVENT: &str = "signature";

async fn check<S: JournalStoreSubject>(subject: &S, place: &S::Place, case: &LostCase) -> Seen {
    let clock = HandClock::new();
    let store = subject.open(place, None, clock.env()).await;
    let fence = match case.request {
        LostRequest::Start => None,
        _ => Some(begin(&store).await?),
    };
    // Whatever it says is lost.
    drop(dropped_after(case.turns, make(&store, case.request, fence.as_ref(), 1)).await);
    let store = match case.is_reopened {
        true => subject.open(place, Some(store), clock.env()).await,
        false => store,
    };
    for value in [1, 1, 2] {
        let told = make(&store, case.request, fence.as_ref(), value).await?;
        let is_so = if value == 1 { told.is_stored() } else { told.is_refused() };
        demand(is_so, || format!("{:?} with {value} is answered with {told:?}", case.request))?;
    }
    let history = store.read(WORKFLOW_ID).await.map_err(|error| error.to_string())?;
    let history = history.ok_or("the workflow is not there")?;
    demand(is_stored_once(case.request, &history), || format!("read is {history:?}"))
}

/// What a store says of a request.
#[derive(Debug)]
enum Told {
    Started(Started),
    Commit(Commit),
    Delivery(Delivery),
}

impl Told {
    fn is_stored(&self) -> bool {
        matches!(
            self,
            Self::Started(Started::New | Started::Already)
                | Self::Commit(Commit::Acknowledged)
                | Self::Delivery(Delivery::Accepted | Delivery::Already)
        )
    }

    fn is_refused(&self) -> bool {
        matches!(
            self,
            Self::Started(Started::Conflict)
                | Self::Commit(Commit::Refused(Refusal::Conflict | Refusal::Closed))
                | Self::Delivery(Delivery::Conflict)
        )
    }
}

/// Starts a workflow, and claims it.
pub(super) async fn begin(store: &impl JournalStore) -> Result<Fence, String> {
    start(store, WORKFLOW_ID, 0).await?;
    let workflows = [Arc::from(WORKFLOW)];
    match store.claim(&workflows, Duration::from_secs(60)).await.map_err(|error| error.to_string())? {
        Claimed::Activation(claim) => Ok(claim.fence),
        Claimed::Nothing { .. } => Err("a workflow that was started cannot be claimed".to_owned()),
    }
}

pub(super) async fn start(store: &impl JournalStore, workflow_id: &str, value: u64) -> Result<Started, String> {
    let checkpoint = Checkpoint::new("start", json!(value)).map_err(|error| error.to_string())?;
    store.start(workflow_id, WORKFLOW, checkpoint).await.map_err(|error| error.to_string())
}

/// A record under a key.
pub(super) fn record(key: &str, value: Value) -> Result<Arc<Record>, String> {
    let made = || {
        let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", json!({}))?;
        Ok(Arc::new(Record::new(binding, value)?))
    };
    made().map_err(|error: DurableError| error.to_string())
}

async fn make(
    store: &impl JournalStore,
    request: LostRequest,
    fence: Option<&Fence>,
    value: u64,
) -> Result<Told, String> {
    match (request, fence) {
        (LostRequest::Record, Some(fence)) => {
            Ok(Told::Commit(store.commit_record(fence, record("tool:a", json!(value))?).await))
        }
        (LostRequest::Decision, Some(fence)) => {
            let decision = Decision::continue_("start", json!(value)).map_err(|error| error.to_string())?;
            Ok(Told::Commit(store.commit_decision(fence, decision).await))
        }
        (LostRequest::Event, _) => {
            let delivered = store.deliver(WORKFLOW_ID, EVENT, json!(value)).await;
            delivered.map(Told::Delivery).map_err(|error| error.to_string())
        }
        _ => start(store, WORKFLOW_ID, value).await.map(Told::Started),
    }
}

fn is_stored_once(request: LostRequest, history: &WorkflowHistory) -> bool {
    let [first, later @ ..] = &history.activations[..] else { return false };
    let values: Vec<_> = first.records.iter().map(|committed| &**committed.record.key()).collect();
    match request {
        LostRequest::Start => **first.checkpoint.state() == json!(1) && later.is_empty(),
        LostRequest::Record => values == ["tool:a"] && later.is_empty(),
        LostRequest::Decision => later.len() == 1 && **later[0].checkpoint.state() == json!(1),
        LostRequest::Event => values.is_empty() && later.is_empty(),
    }
}
