//! Workers: leases, fences, failed attempts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    Claimed, Commit, Decision, Ending, Fence, JournalLayer, JournalStore, MemoryStore, Turn, Worker, Workflow,
};
use windtunnel_core::event::{Event, Gate};
use windtunnel_core::{BoxError, BoxFuture};

use super::stage::{Effects, effect, env, history, keys, output, started, workflow};

const MINUTE: Duration = Duration::from_secs(60);

/// A workflow whose only operation takes so long.
fn slow(effects: &Effects, duration: Duration) -> Workflow {
    let effects = effects.clone();
    workflow(move |context| {
        let effects = effects.clone();
        async move {
            let body = move |_: Value, call: windtunnel_core::durable::OperationCall| async move {
                let answer = effects.happen("slow", &call.idempotency_key);
                call.env.until(call.env.now() + duration).await;
                Ok::<_, BoxError>(answer)
            };
            let kind = windtunnel_core::durable::OperationKind::Model;
            let answer: String = context.operation("slow", kind, "model:ask", "1", json!({}), body).await?;
            Ok(context.complete(&answer)?)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_alive_keeps_what_it_claimed() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let worker = started(store.clone(), env(), slow(&effects, 60 * MINUTE)).await;
    let (first, second) = join(worker.turn(), worker.run_until_idle()).await;
    assert!(matches!(first.unwrap(), Turn::Attempt { ending: Ending::Decided { .. }, .. }));
    second.unwrap();
    assert_eq!(effects.names(), ["slow"]);
}

/// A connection to a store on which signs of life do not arrive.
struct Mute(MemoryStore);

impl JournalLayer for Mute {
    fn inner(&self) -> &dyn JournalStore {
        &self.0
    }

    fn extend<'s>(&'s self, _fence: &'s Fence, _lease: Duration) -> BoxFuture<'s, Commit> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_superseded_attempt_commits_nothing() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    // It answers while the second attempt is under way.
    let mute = started(Mute(store.clone()), env(), slow(&effects, MINUTE * 2)).await;
    let other = Worker::new(store.clone()).env(env()).workflow(slow(&effects, MINUTE * 2));
    let second = async {
        env().until(MINUTE + Duration::from_secs(1)).await;
        other.turn().await.unwrap()
    };
    let (first, second) = join(mute.turn(), second).await;
    let Turn::Attempt { fence, ending } = first.unwrap() else { panic!("nothing was due") };
    assert!(matches!(ending, Ending::Superseded), "{ending:?}");
    assert_eq!(fence.attempt, 1);
    assert!(matches!(second, Turn::Attempt { ending: Ending::Decided { .. }, .. }));
    assert_eq!(output(&store).await, "slow#2");
    let activation = &history(&store).await.activations[0];
    assert_eq!((activation.attempts, activation.records.len(), activation.failures), (2, 1, 0));
    assert_eq!(activation.decision.as_ref().unwrap().1, 2);
    // Both effects carried one key (D6, D8).
    assert_eq!(effects.counts()["slow"], 2);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_stops_as_soon_as_it_hears_that_another_took_over() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let clock = env();
    let worker = started(store.clone(), clock.clone(), slow(&effects, MINUTE * 60)).await;
    let take_over = async {
        clock.until(Duration::from_secs(1)).await;
        let attempt = |attempt| Fence { workflow_id: "w".into(), activation_id: "activation-1".into(), attempt };
        // As a lease that passed: the worker gave no sign in time.
        let _given_up = store.retry(&attempt(1), Duration::ZERO, false).await;
        store.claim(&["test".into()], MINUTE * 600).await.unwrap()
    };
    let (turn, claimed) = join(worker.turn(), take_over).await;
    assert!(matches!(claimed, Claimed::Activation(_)));
    assert!(matches!(turn.unwrap(), Turn::Attempt { ending: Ending::Superseded, .. }));
    assert_eq!(clock.now(), Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn a_failing_entry_is_tried_again_and_then_the_workflow_fails() {
    let clock = env();
    let (store, effects) = (MemoryStore::new(clock.clone()), Effects::default());
    let shared = effects.clone();
    let failing = workflow(move |context| {
        let effects = shared.clone();
        async move {
            effect(&context, &effects, "once").await?;
            Err("password=hunter2".into())
        }
    });
    let worker = started(store.clone(), clock.clone(), failing).await;
    worker.run_until_idle().await.unwrap();
    let failed = Decision::fail("entry-failed", "the entry failed").unwrap();
    assert_eq!(history(&store).await.outcome(), Some(&failed));
    assert_eq!(effects.names(), ["once"]);
    assert_eq!(clock.now(), Duration::from_millis(1500));
    assert_eq!(history(&store).await.activations[0].attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_an_entry_is_a_failed_attempt() {
    let store = MemoryStore::new(env());
    let count = Arc::new(AtomicU64::new(0));
    let panicking = workflow(move |context| {
        let count = Arc::clone(&count);
        async move {
            assert!(count.fetch_add(1, Ordering::Relaxed) > 0, "the first attempt panics");
            Ok(context.complete(&context.attempt())?)
        }
    });
    let worker = started(store.clone(), env(), panicking).await;
    let Turn::Attempt { ending: Ending::Retried { error, .. }, .. } = worker.turn().await.unwrap() else {
        panic!("it did not panic")
    };
    assert_eq!(error.kind(), "entry-panicked");
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, 2);
}

#[tokio::test(start_paused = true)]
async fn a_changed_request_fails_with_both_sides_and_runs_nothing() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let entry = |version: &'static str, effects: Effects, is_failing: bool| {
        workflow(move |context| {
            let effects = effects.clone();
            async move {
                let body = move |_: Value, call: windtunnel_core::durable::OperationCall| async move {
                    Ok::<_, BoxError>(effects.happen("a", &call.idempotency_key))
                };
                let kind = windtunnel_core::durable::OperationKind::Tool;
                let answer: String = context.operation("a", kind, "agent:call", version, json!({}), body).await?;
                if is_failing { Err("later".into()) } else { Ok(context.complete(&answer)?) }
            }
        })
    };
    started(store.clone(), env(), entry("1", effects.clone(), true)).await.turn().await.unwrap();
    let changed = started(store.clone(), env(), entry("2", effects.clone(), false)).await;
    changed.run_until_idle().await.unwrap();
    assert_eq!(effects.names(), ["a"]);
    assert_eq!(keys(&history(&store).await.activations[0]), ["a"]);
    let Some(Decision::Fail { kind, message }) = history(&store).await.outcome().cloned() else { panic!("no failure") };
    assert_eq!(&*kind, "binding-mismatch");
    assert!(message.contains(r#"its version was "1" and is now "2""#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_claims_only_the_workflows_that_it_has() {
    let store = MemoryStore::new(env());
    let worker = started(store.clone(), env(), workflow(|context| async move { Ok(context.complete(&())?) })).await;
    let stranger = Worker::new(store.clone()).env(env()).workflow(Workflow::new("other"));
    assert!(matches!(stranger.turn().await.unwrap(), Turn::Nothing { next: None }));
    assert!(matches!(worker.turn().await.unwrap(), Turn::Attempt { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_runs_for_ever_finds_what_is_started_later() {
    let clock = env();
    let store = MemoryStore::new(clock.clone());
    let done = workflow(|context| async move { Ok(context.complete(&json!("done"))?) });
    let worker = Worker::new(store.clone()).env(clock.clone()).workflow(done);
    let later = async {
        clock.until(Duration::from_millis(2500)).await;
        worker.start("w", "test", "start", &()).await.unwrap();
        clock.until(Duration::from_millis(3500)).await;
        output(&store).await
    };
    let run = std::pin::pin!(worker.run());
    match futures_util::future::select(Box::pin(later), run).await {
        futures_util::future::Either::Left((output, _)) => assert_eq!(output, "done"),
        futures_util::future::Either::Right((never, _)) => match never {},
    }
}

/// Holds every event of an attempt up for longer than the lease is.
struct Slowly;

impl Gate for Slowly {
    fn pass(&self, event: &Event) -> Option<BoxFuture<'static, ()>> {
        let is_attempts = event.kind.name().starts_with("activation.");
        is_attempts.then(|| env().until(env().now() + Duration::from_secs(100)))
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_gives_signs_of_life_whatever_it_waits_for() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let done = effects.clone();
    let flow = workflow(move |context| {
        let effects = done.clone();
        async move { Ok(context.complete(&effect(&context, &effects, "a").await?)?) }
    });
    let one = started(store.clone(), env().with_gate(Slowly), flow.clone()).await;
    let other = Worker::new(store.clone()).env(env().with_gate(Slowly)).workflow(flow);
    let (first, second) = join(one.run_until_idle(), other.run_until_idle()).await;
    first.and(second).unwrap();
    assert_eq!((history(&store).await.activations[0].attempts, effects.names().len()), (1, 1));
}
