//! A store of journals, put through a list of operations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::{
    Binding, Checkpoint, Claimed, Commit, Decision, DurableError, Fence, JournalStore, OperationKind, RECORD_BYTES_MAX,
    Record, WorkflowHistory,
};
use windtunnel_core::env::Env;

use super::HandClock;
use crate::cases::{Advance, DecisionChoice, FenceChoice, OutputChoice, Side, StoreOperation};
use crate::invariants::{AcknowledgedRecord, history_grows, history_holds, history_is_sound};
use crate::models::{StoreAnswer, StoreCall, StoreModel};
use crate::{Violation, violation::require};

/// A request that was made of a store, when, and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// On the test's clock.
    pub at: Duration,
    /// What was asked.
    pub call: StoreCall,
    /// What the store said.
    pub answer: StoreAnswer,
}

/// Puts a store through operations, and holds every answer against [`StoreModel`]. After each of them all workflows are read
/// back, and held against the model and against what was read before. Gives all that was asked and answered.
///
/// `open` is given the environment that the store is to take its time from, and the store that there was before: nothing at
/// first, and later, when it is to be opened again, the one that it opened last. A store on a disk drops that one and opens
/// its file; a store in memory gives it back.
///
/// ```
/// use windtunnel_core::durable::MemoryStore;
/// use windtunnel_core::env::Env;
/// use windtunnel_proptests::cases::StoreOperation;
/// use windtunnel_proptests::played::check_journal_store;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), windtunnel_proptests::Violation> {
/// let open = async |before: Option<MemoryStore>, env: Env| before.unwrap_or_else(|| MemoryStore::new(env));
/// let start = StoreOperation::Start {
///     workflow_id: "order-7".to_owned(),
///     workflow: "refund".to_owned(),
///     state: serde_json::json!({"order": 7}),
/// };
/// let exchanges = check_journal_store(open, &[start.clone(), StoreOperation::Reopen, start]).await?;
/// assert!(format!("{:?}", exchanges.last().unwrap().answer).contains("Already"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Violation`] with the first answer that is wrong.
pub async fn check_journal_store<S: JournalStore>(
    mut open: impl AsyncFnMut(Option<S>, Env) -> S,
    operations: &[StoreOperation],
) -> Result<Vec<Exchange>, Violation> {
    let clock = HandClock::new();
    let mut store = open(None, clock.env()).await;
    let mut check = Check::default();
    for operation in operations {
        match operation {
            StoreOperation::Reopen => store = open(Some(store), clock.env()).await,
            StoreOperation::Advance(advance) => {
                let duration = check.duration(advance);
                clock.advance(duration);
                check.model.advance(duration);
            }
            _ => {
                for call in check.calls(operation) {
                    check.make(call, &store).await?;
                }
            }
        }
        check.read_all(&store).await?;
    }
    Ok(check.exchanges)
}

#[derive(Default)]
struct Check {
    model: StoreModel,
    exchanges: Vec<Exchange>,
    claims: Vec<Fence>,
    /// As they were last read.
    histories: BTreeMap<String, WorkflowHistory>,
    /// By workflow.
    acknowledged: BTreeMap<Arc<str>, Vec<AcknowledgedRecord>>,
}

impl Check {
    async fn make(&mut self, call: StoreCall, store: &impl JournalStore) -> Result<(), Violation> {
        let answer = call.make(store).await;
        self.model.check(&call, &answer)?;
        match (&call, &answer) {
            (_, StoreAnswer::Claimed(Claimed::Activation(claim))) => self.claims.push(claim.fence.clone()),
            (StoreCall::CommitRecord { fence, record }, StoreAnswer::Commit(Commit::Acknowledged)) => {
                let known = self.acknowledged.entry(Arc::clone(&fence.workflow_id)).or_default();
                known.push((Arc::clone(&fence.activation_id), Arc::clone(record)));
            }
            _ => {}
        }
        self.exchanges.push(Exchange { at: self.model.now(), call, answer });
        Ok(())
    }

    async fn read_all(&mut self, store: &impl JournalStore) -> Result<(), Violation> {
        let call = StoreCall::WorkflowIds;
        let answer = call.make(store).await;
        self.model.check(&call, &answer)?;
        let StoreAnswer::WorkflowIds(ids) = answer else { return Ok(()) };
        require(self.histories.keys().all(|known| ids.iter().any(|id| **id == **known)), "D3", || {
            format!("a workflow is lost: {ids:?}")
        })?;
        for id in ids {
            let call = StoreCall::Read { workflow_id: id.to_string() };
            let answer = call.make(store).await;
            self.model.check(&call, &answer)?;
            let StoreAnswer::History(Some(history)) = answer else { continue };
            history_is_sound(&history)?;
            history_holds(&history, self.acknowledged.get(&id).map_or(&[][..], |known| known), true)?;
            if let Some(before) = self.histories.get(&*id) {
                history_grows(before, &history)?;
            }
            self.histories.insert(id.to_string(), history);
        }
        Ok(())
    }

    fn duration(&self, advance: &Advance) -> Duration {
        let (nth, side) = match advance {
            Advance::By(duration) => return *duration,
            Advance::ToDue { nth, side } => (*nth, *side),
        };
        let dues = self.model.dues();
        let Some(place) = nth.checked_rem(dues.len()) else { return Duration::ZERO };
        let exactly = dues[place] - self.model.now();
        let nanosecond = Duration::from_nanos(1);
        match side {
            Side::Before => exactly - nanosecond,
            Side::At => exactly,
            Side::After => exactly + nanosecond,
        }
    }

    /// The requests that an operation stands for, none if it has no sense here.
    fn calls(&self, operation: &StoreOperation) -> Vec<StoreCall> {
        let call = match operation.clone() {
            StoreOperation::CommitMany { fence, count } => return self.many(&self.fence(&fence), count),
            StoreOperation::Again { back } => {
                let earlier = self.exchanges.iter().rev().map(|exchange| &exchange.call).nth(back);
                return earlier.cloned().into_iter().collect();
            }
            StoreOperation::Reopen | StoreOperation::Advance(_) => return Vec::new(),
            StoreOperation::Start { workflow_id, workflow, state } => {
                checkpoint(state).map(|checkpoint| StoreCall::Start { workflow_id, workflow, checkpoint })
            }
            StoreOperation::Claim { workflows, lease } => {
                Ok(StoreCall::Claim { workflows: workflows.iter().map(|name| name.as_str().into()).collect(), lease })
            }
            StoreOperation::Extend { fence, lease } => Ok(StoreCall::Extend { fence: self.fence(&fence), lease }),
            StoreOperation::CommitRecord { fence, key, output } => {
                let fence = self.fence(&fence);
                self.record(&fence, &key, output).map(|record| StoreCall::CommitRecord { fence, record })
            }
            StoreOperation::CommitDecision { fence, decision } => {
                let fence = self.fence(&fence);
                made(decision).map(|decision| StoreCall::CommitDecision { fence, decision })
            }
            StoreOperation::Retry { fence, after, is_failure } => {
                Ok(StoreCall::Retry { fence: self.fence(&fence), after, is_failure })
            }
            StoreOperation::Deliver { workflow_id, key, payload } => {
                Ok(StoreCall::Deliver { workflow_id, key, payload })
            }
            StoreOperation::Read { workflow_id } => Ok(StoreCall::Read { workflow_id }),
            StoreOperation::WorkflowIds => Ok(StoreCall::WorkflowIds),
        };
        // What cannot be made cannot be asked.
        call.into_iter().collect()
    }

    fn many(&self, fence: &Fence, count: usize) -> Vec<StoreCall> {
        let records = (0..count).filter_map(|number| plain_record(&format!("many:{number}"), json!(number)).ok());
        records.map(|record| StoreCall::CommitRecord { fence: fence.clone(), record }).collect()
    }

    fn fence(&self, choice: &FenceChoice) -> Fence {
        let claimed = |back: usize| {
            let last = self.claims.len().checked_sub(1)?;
            self.claims.get(last - back.min(last)).cloned()
        };
        let chosen = match choice {
            FenceChoice::Claimed { back } => claimed(*back),
            FenceChoice::Unclaimed { back } => claimed(*back).map(|fence| Fence { attempt: u64::MAX >> 2, ..fence }),
            FenceChoice::OtherActivation { back } => {
                claimed(*back).map(|fence| Fence { activation_id: "activation-unknown".into(), ..fence })
            }
            FenceChoice::Stranger => None,
        };
        let stranger = || Fence { workflow_id: "stranger".into(), activation_id: "activation-1".into(), attempt: 1 };
        chosen.unwrap_or_else(stranger)
    }

    fn record(&self, fence: &Fence, key: &str, output: OutputChoice) -> Result<Arc<Record>, DurableError> {
        let over = match output {
            OutputChoice::Value(value) => return plain_record(key, value),
            OutputChoice::Fills => 0,
            OutputChoice::Overflows => 1,
        };
        let bytes = (self.model.room(fence) + over).min(RECORD_BYTES_MAX);
        let overhead = plain_record(key, json!(""))?.bytes();
        plain_record(key, json!("y".repeat(bytes.saturating_sub(overhead))))
    }
}

fn plain_record(key: &str, output: Value) -> Result<Arc<Record>, DurableError> {
    let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", json!({}))?;
    Ok(Arc::new(Record::new(binding, output)?))
}

fn checkpoint(state: Value) -> Result<Checkpoint, DurableError> {
    Checkpoint::new("start", state)
}

fn made(choice: DecisionChoice) -> Result<Decision, DurableError> {
    match choice {
        DecisionChoice::Continue { state } => Decision::continue_("start", state),
        DecisionChoice::Sleep { duration } => Decision::sleep("nap", duration, "start", json!(null)),
        DecisionChoice::WaitEvent { key, timeout } => Decision::wait_event(&key, timeout, "start", json!(null)),
        DecisionChoice::Complete { output } => Decision::complete(output),
        DecisionChoice::Fail => Decision::fail("refused", "no"),
    }
}
