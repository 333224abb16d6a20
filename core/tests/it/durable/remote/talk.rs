//! A conversation with a store in which every method is used, and every answer is held against the store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::{
    Binding, Checkpoint, Claim, Claimed, Commit, Decision, Delivery, Fence, JournalStore, MemoryStore, OperationKind,
    Record, Started, StoreError, WorkflowHistory,
};

use crate::durable::stage::{env, history};

const MINUTE: Duration = Duration::from_secs(60);
/// How often a call is made until it has an answer.
const TRIES_MAX: usize = 4;

pub(crate) fn record(key: &str, output: Value) -> Arc<Record> {
    let arguments = json!({"z": 1, "a": [1.0, i64::MIN, "\u{0}\u{7f}é\""]});
    let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", arguments).unwrap();
    Arc::new(Record::new(binding, output).unwrap())
}

pub(crate) fn checkpoint() -> Checkpoint {
    Checkpoint::new("start", json!({"z": 1.0, "a": null})).unwrap()
}

/// Somebody who asks again until there is an answer.
pub(crate) struct Talk<'t, S> {
    asked: &'t S,
    /// What the server keeps.
    kept: &'t MemoryStore,
    pub(crate) failures: usize,
}

impl<'t, S: JournalStore> Talk<'t, S> {
    pub(crate) fn new(asked: &'t S, kept: &'t MemoryStore) -> Self {
        Self { asked, kept, failures: 0 }
    }

    /// The answer, and whether it is the first one.
    async fn answer<T>(&mut self, call: impl AsyncFn(&S) -> Result<T, StoreError>) -> (T, bool) {
        for tries in 0..TRIES_MAX {
            match call(self.asked).await {
                Ok(answer) => return (answer, tries == 0),
                Err(_) => self.failures += 1,
            }
        }
        panic!("there is no answer after {TRIES_MAX} tries")
    }

    async fn commit(&mut self, call: impl AsyncFn(&S) -> Commit, is_kept: impl Fn(&WorkflowHistory) -> bool) {
        let call = async |asked: &S| match call(asked).await {
            Commit::Unknown => Err(StoreError("unknown".into())),
            known => Ok(known),
        };
        let (commit, _) = self.answer(call).await;
        assert_eq!(commit, Commit::Acknowledged);
        assert!(is_kept(&history(self.kept).await), "it was acknowledged, and is not there");
    }

    async fn claim(&mut self) -> Claim {
        let workflows = ["test".into()];
        for _ in 0..TRIES_MAX {
            match self.answer(async |asked| asked.claim(&workflows, MINUTE).await).await.0 {
                Claimed::Activation(claim) => return *claim,
                // It was claimed by a call whose answer was lost.
                Claimed::Nothing { next } => env().until(env().now() + next.unwrap()).await,
            }
        }
        panic!("nothing could be claimed")
    }

    /// Gives the history in the end.
    pub(crate) async fn whole(&mut self) -> WorkflowHistory {
        let (started, is_first) = self.answer(async |asked| asked.start("w", "test", checkpoint()).await).await;
        assert!(started == Started::New || (started == Started::Already && !is_first));
        let event = json!({"by": "Ada", "at": [1, 1.0]});
        let (delivery, is_first) = self.answer(async |asked| asked.deliver("w", "e", event.clone()).await).await;
        assert!(delivery == Delivery::Accepted || (delivery == Delivery::Already && !is_first));
        let (nobody, _) = self.answer(async |asked| asked.read("x").await).await;
        assert_eq!(nobody, None);
        let fence = self.first_activation().await;
        let claim = self.claim().await;
        assert!(claim.fence.activation_id != fence.activation_id && claim.records.is_empty());
        let decision = Decision::complete(json!({"b": [], "a": "done"})).unwrap();
        let is_kept = |history: &WorkflowHistory| history.outcome() == Some(&decision);
        self.commit(async |asked| asked.commit_decision(&claim.fence, decision.clone()).await, is_kept).await;
        let (ids, _) = self.answer(async |asked| asked.workflow_ids().await).await;
        assert_eq!(ids, ["w".into()]);
        let (read, _) = self.answer(async |asked| asked.read("w").await).await;
        let read = read.unwrap();
        assert_eq!(read, history(self.kept).await);
        read
    }

    async fn first_activation(&mut self) -> Fence {
        let claim = self.claim().await;
        let fence = &claim.fence;
        self.commit(async |asked| asked.extend(fence, MINUTE).await, |_| true).await;
        let first = record("a", json!({"y": "1", "x": 1e-7}));
        let is_kept =
            |history: &WorkflowHistory| history.activations[0].records.iter().any(|kept| kept.record == first);
        self.commit(async |asked| asked.commit_record(fence, Arc::clone(&first)).await, is_kept).await;
        let has_failed = |history: &WorkflowHistory| history.activations[0].failures > 0;
        self.commit(async |asked| asked.retry(fence, Duration::ZERO, true).await, has_failed).await;
        let claim = self.claim().await;
        assert_eq!(claim.records, [first]);
        let decision = Decision::wait_event("e", Some(MINUTE), "next", json!(1)).unwrap();
        let is_kept = |history: &WorkflowHistory| history.activations.len() == 2;
        self.commit(async |asked| asked.commit_decision(&claim.fence, decision.clone()).await, is_kept).await;
        claim.fence
    }
}

/// What does not depend on how often somebody had to ask.
pub(crate) fn essence(history: &WorkflowHistory) -> Value {
    let activation = |activation: &windtunnel_core::durable::ActivationHistory| {
        let decision = activation.decision.as_ref().map(|(decision, _)| decision);
        let records: Vec<_> = activation.records.iter().map(|committed| &committed.record).collect();
        json!([activation.activation_id, activation.checkpoint, activation.wake, records, decision])
    };
    json!([history.workflow_id, history.workflow, history.activations.iter().map(activation).collect::<Vec<_>>()])
}
