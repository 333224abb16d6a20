//! The checks of stores and of effects notice what they are there for: stores that break one law, and logs with one thing
//! wrong.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::{
    Binding, Claimed, Commit, Decision, Fence, JournalLayer, JournalStore, MemoryStore, OperationKind, Record, Refusal,
    StoreError,
};
use windtunnel_core::env::Env;
use windtunnel_proptests::cases::{Advance, DecisionChoice, FenceChoice, OutputChoice, StoreOperation};
use windtunnel_proptests::played::check_journal_store;
use windtunnel_proptests::{Effect, EffectLine, Violation, invariants};

/// What a store does wrong.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    ForgetsRecords,
    ForgetsAllWhenReopened,
    IgnoresFences,
    HidesIdentifiers,
    HalvesLeases,
}

struct Flawed {
    inner: MemoryStore,
    flaw: Flaw,
}

impl JournalLayer for Flawed {
    fn inner(&self) -> &dyn JournalStore {
        &self.inner
    }

    fn claim<'s>(&'s self, workflows: &'s [Arc<str>], lease: Duration) -> BoxFuture<'s, Result<Claimed, StoreError>> {
        self.inner.claim(workflows, if self.flaw == Flaw::HalvesLeases { lease / 2 } else { lease })
    }

    fn commit_record<'s>(&'s self, fence: &'s Fence, record: Arc<Record>) -> BoxFuture<'s, Commit> {
        match self.flaw {
            Flaw::ForgetsRecords => Box::pin(async { Commit::Acknowledged }),
            Flaw::IgnoresFences => Box::pin(async move {
                let commit = self.inner.commit_record(fence, record).await;
                if commit == Commit::Refused(Refusal::Superseded) { Commit::Acknowledged } else { commit }
            }),
            _ => self.inner.commit_record(fence, record),
        }
    }

    fn workflow_ids(&self) -> BoxFuture<'_, Result<Vec<Arc<str>>, StoreError>> {
        if self.flaw == Flaw::HidesIdentifiers { Box::pin(async { Ok(Vec::new()) }) } else { self.inner.workflow_ids() }
    }
}

/// A workflow is claimed twice, and each attempt commits.
fn operations() -> Vec<StoreOperation> {
    let minute = Duration::from_secs(60);
    let claim = StoreOperation::Claim { workflows: vec!["refund".to_owned()], lease: minute };
    let record = |back, key: &str| StoreOperation::CommitRecord {
        fence: FenceChoice::Claimed { back },
        key: key.to_owned(),
        output: OutputChoice::Value(json!(1)),
    };
    let complete = DecisionChoice::Complete { output: json!(2) };
    vec![
        StoreOperation::Start { workflow_id: "w".to_owned(), workflow: "refund".to_owned(), state: json!(0) },
        claim.clone(),
        record(0, "a"),
        StoreOperation::Reopen,
        StoreOperation::Advance(Advance::By(minute / 2)),
        claim.clone(),
        StoreOperation::Advance(Advance::By(minute / 2)),
        claim,
        record(1, "b"),
        record(0, "b"),
        StoreOperation::CommitDecision { fence: FenceChoice::Claimed { back: 0 }, decision: complete },
    ]
}

fn checked(flaw: Flaw) -> Result<(), Violation> {
    let open = async |before: Option<Flawed>, env: Env| match before {
        Some(before) if flaw != Flaw::ForgetsAllWhenReopened => before,
        _ => Flawed { inner: MemoryStore::new(env), flaw },
    };
    check_journal_store(open, &operations()).now_or_never().unwrap().map(drop)
}

#[track_caller]
fn check_flaw(flaw: Flaw, rule: &str) {
    assert_eq!(checked(flaw).unwrap_err().rule, rule);
}

#[test]
fn stores_that_break_a_law_are_noticed() {
    assert_eq!(checked(Flaw::None), Ok(()));
    check_flaw(Flaw::ForgetsRecords, "read");
    check_flaw(Flaw::ForgetsAllWhenReopened, "workflow_ids");
    check_flaw(Flaw::IgnoresFences, "commit_record");
    check_flaw(Flaw::HidesIdentifiers, "workflow_ids");
    check_flaw(Flaw::HalvesLeases, "claim");
}

fn fence(attempt: u64) -> Fence {
    Fence { workflow_id: "w".into(), activation_id: "activation-1".into(), attempt }
}

fn record(key: &str) -> Arc<Record> {
    let binding = Binding::new(key, OperationKind::Tool, "agent:call", "1", json!({})).unwrap();
    Arc::new(Record::new(binding, json!(key)).unwrap())
}

fn started(key: &str, run: u64) -> Effect {
    Effect::CallableStarted { key: key.into(), idempotency_key: format!("key of {key}").into(), run }
}

/// The first attempt loses the answer to its second record, and the second one goes on.
fn good() -> Vec<(u64, Effect)> {
    let stored = |key: &str| Effect::RecordStored(record(key));
    let answered = |key: &str, commit| Effect::RecordAnswered(record(key), commit);
    let ended = |run| Effect::CallableEnded { run, is_ok: true };
    vec![
        (1, Effect::Claimed(vec![])),
        (1, started("a", 0)),
        (1, ended(0)),
        (1, Effect::RecordSent(record("a"))),
        (1, stored("a")),
        (1, answered("a", Commit::Acknowledged)),
        (1, Effect::Released("a".into(), json!("a"))),
        (1, started("b", 1)),
        (1, ended(1)),
        (1, Effect::RecordSent(record("b"))),
        (1, answered("b", Commit::Unknown)),
        (2, Effect::Claimed(vec![record("a")])),
        (2, Effect::Released("a".into(), json!("a"))),
        (2, started("b", 2)),
    ]
}

fn everything(effects: Vec<(u64, Effect)>) -> Result<invariants::Repeats, Violation> {
    let line = |(attempt, effect)| EffectLine { at: Duration::ZERO, fence: fence(attempt), effect };
    let lines: Vec<_> = effects.into_iter().map(line).collect();
    invariants::attempts_read_what_is_stored(&lines)?;
    invariants::overtaken_attempts_store_nothing(&lines)?;
    invariants::acknowledged_operations_do_not_run_again(&lines)?;
    invariants::idempotency_keys_tell_operations_apart(&lines)?;
    invariants::results_wait_for_their_acknowledgment(&lines)?;
    invariants::poisoned_attempts_stop(&lines)?;
    invariants::commits_come_one_after_another(&lines)?;
    invariants::repeats_are_explained(&lines)
}

#[track_caller]
fn check(rule: &str, told: &str, change: impl FnOnce(&mut Vec<(u64, Effect)>)) {
    let mut effects = good();
    change(&mut effects);
    let violation = everything(effects).unwrap_err();
    assert!(violation.rule == rule && violation.message.contains(told), "{violation}");
}

#[test]
fn effects_that_should_not_be_are_noticed() {
    assert_eq!(everything(good()), Ok([("its commit was not acknowledged", 1)].into()));
    check("D3", "is given []", |effects| effects[11].1 = Effect::Claimed(vec![]));
    check("D3", "is claimed after attempt 1", |effects| effects[11].0 = 3);
    check("D3", "comes after attempt 2", |effects| effects.push((1, Effect::RecordStored(record("b")))));
    check("D2", "comes after Some", |effects| effects.push((2, started("a", 3))));
    check("D6", "had the key", |effects| {
        let idempotency_key = "another".into();
        effects[13].1 = Effect::CallableStarted { key: "b".into(), idempotency_key, run: 2 };
    });
    check("D6", "has the key of", |effects| {
        let idempotency_key = "key of b".into();
        effects.push((2, Effect::CallableStarted { key: "c".into(), idempotency_key, run: 3 }));
    });
    check("D3", "without an acknowledgment", |effects| effects.push((2, Effect::Released("b".into(), json!("b")))));
    check("D3", "comes after Some", |effects| effects.insert(11, (1, started("c", 3))));
    check("D3", "comes after Some", |effects| {
        effects.insert(11, (1, Effect::DecisionSent(Decision::complete(json!(1)).unwrap())));
    });
    check("D3", "is under way", |effects| effects.insert(4, (1, Effect::RecordSent(record("c")))));
    check("D8", "without a reason", |effects| effects.push((2, started("b", 3))));
}
