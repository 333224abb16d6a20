//! One operation: replayed, executed, shared, refused (D2, D3, D7).

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};
use windtunnel_core::durable::{
    Acknowledgment, Decision, DurableError, Ending, ErrorKind, JournalStore, MemoryStore, OperationCall, OperationKind,
    Turn, WorkflowContext,
};
use windtunnel_core::event::{Event, Gate};
use windtunnel_core::{BoxError, BoxFuture};

use super::stage::{Effects, Pauses, effect, env, history, keys, output, poll_once, started, workflow};

type Answer = Result<Value, DurableError>;

async fn answering(context: &WorkflowContext, key: &str, arguments: Value, answer: Result<Value, BoxError>) -> Answer {
    let body = move |_: Value, _: OperationCall| async move { answer };
    context.operation(key, OperationKind::Tool, "agent:call", "1", arguments, body).await
}

fn kind_of(answer: &Answer) -> ErrorKind {
    answer.as_ref().unwrap_err().kind()
}

/// Runs one attempt of a workflow with this entry.
async fn attempt<F, Fut>(store: &MemoryStore, entry: F) -> Ending
where
    F: Fn(WorkflowContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Decision, BoxError>> + Send + 'static,
{
    let worker = started(store.clone(), env(), workflow(entry)).await;
    match worker.turn().await.unwrap() {
        Turn::Attempt { ending, .. } => ending,
        Turn::Nothing { .. } => panic!("nothing is due"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_callable_leaves_no_record_and_may_run_again() {
    let store = MemoryStore::new(env());
    attempt(&store, |context| async move {
        let failed = answering(&context, "a", json!({}), Err("password=hunter2".into())).await.unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::CallFailed);
        assert!(!format!("{failed} {failed:?}").contains("hunter2"));
        assert_eq!(failed.source().unwrap().to_string(), "password=hunter2");
        let good = answering(&context, "a", json!({}), Ok(json!(1))).await?;
        Ok(context.complete(&good)?)
    })
    .await;
    assert_eq!(output(&store).await, 1);
    assert_eq!(keys(&history(&store).await.activations[0]), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_callable_is_a_failed_call() {
    let store = MemoryStore::new(env());
    attempt(&store, |context| async move {
        let body = |(): (), _: OperationCall| async { panic!("no disk") };
        let arguments = json!({});
        let panicking = move |_: Value, call: OperationCall| async move {
            let panicked: Result<Value, BoxError> = body((), call).await;
            panicked
        };
        let panicked: Answer =
            context.operation("a", OperationKind::Model, "agent:call", "1", arguments, panicking).await;
        assert_eq!(kind_of(&panicked), ErrorKind::CallFailed);
        Ok(context.complete(&())?)
    })
    .await;
    assert_eq!(output(&store).await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_stored_or_read_back_leaves_no_record() {
    let store = MemoryStore::new(env());
    attempt(&store, |context| async move {
        let large = answering(&context, "a", json!({}), Ok(json!("y".repeat(131_072)))).await;
        assert_eq!(kind_of(&large), ErrorKind::TooLarge);
        let huge = answering(&context, "b", json!({}), Ok(json!(u64::MAX))).await;
        assert_eq!(kind_of(&huge), ErrorKind::InvalidJson);
        let nothing = answering(&context, "c", json!([1]), Ok(json!(1))).await;
        assert_eq!(kind_of(&nothing), ErrorKind::InvalidJson);
        // serde_json alone would make it null, which reads as none.
        let body = |_: Value, _: OperationCall| async { Ok::<_, BoxError>(Some(f64::NAN)) };
        let float: Result<Option<f64>, _> =
            context.operation("d", OperationKind::Tool, "c", "1", json!({}), body).await;
        assert_eq!(float.unwrap_err().kind(), ErrorKind::InvalidJson);
        Ok(context.complete(&())?)
    })
    .await;
    assert_eq!(output(&store).await, Value::Null);
    assert!(history(&store).await.activations[0].records.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_same_request_at_the_same_time_is_one_execution() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let (shared, watched) = (effects.clone(), effects.clone());
    attempt(&store, move |context| {
        let effects = shared.clone();
        async move {
            let other = answering(&context, "a", json!({"name": "b"}), Ok(json!(1)));
            let (first, (second, changed)) =
                join(effect(&context, &effects, "a"), join(effect(&context, &effects, "a"), other)).await;
            assert_eq!(first?, second?);
            assert_eq!(kind_of(&changed), ErrorKind::BindingMismatch);
            Ok(context.complete(&())?)
        }
    })
    .await;
    assert_eq!(watched.names(), ["a"]);
    assert_eq!(output(&store).await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn an_execution_goes_on_as_long_as_somebody_waits() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let shared = effects.clone();
    attempt(&store, move |context| {
        let effects = shared.clone();
        async move {
            let mut first = Box::pin(effect(&context, &effects, "a"));
            let mut second = Box::pin(effect(&context, &effects, "a"));
            for waiting in [&mut first, &mut second] {
                assert!(poll_once(waiting).await.is_pending());
            }
            drop(first);
            second.await?;
            let mut lonely = Box::pin(effect(&context, &effects, "b"));
            assert!(poll_once(&mut lonely).await.is_pending());
            drop(lonely);
            // Dropped before its effect: it may begin anew.
            effect(&context, &effects, "b").await?;
            Ok(context.complete(&())?)
        }
    })
    .await;
    assert_eq!(effects.names(), ["a", "b"]);
    assert_eq!(keys(&history(&store).await.activations[0]), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn an_operation_inside_a_callable_is_refused() {
    let store = MemoryStore::new(env());
    attempt(&store, |context| async move {
        let inner = context.clone();
        let body = move |_: Value, _: OperationCall| async move {
            let nested = answering(&inner, "inner", json!({}), Ok(json!(1))).await.unwrap_err();
            Ok::<_, BoxError>(nested.to_string())
        };
        let message: String =
            context.operation("outer", OperationKind::Tool, "agent:call", "1", json!({}), body).await?;
        let after = answering(&context, "after", json!({}), Ok(json!(message))).await?;
        Ok(context.complete(&after)?)
    })
    .await;
    let message = r#"operation "inner" was made inside the callable of "outer"; make it from the workflow's entry"#;
    assert_eq!(output(&store).await, message);
    assert_eq!(keys(&history(&store).await.activations[0]), ["outer", "after"]);
}

#[tokio::test(start_paused = true)]
async fn a_poisoned_activation_makes_no_decision_and_the_next_attempt_reads_what_was_committed() {
    for (acknowledgment, effects_in_all) in [(Acknowledgment::Lost, 2), (Acknowledgment::Rejected, 3)] {
        let (store, effects) = (MemoryStore::new(env()), Effects::default());
        store.script_records([Acknowledgment::Ok, acknowledgment]);
        let shared = effects.clone();
        let worker = started(
            store.clone(),
            env(),
            workflow(move |context| {
                let effects = shared.clone();
                async move {
                    let first = effect(&context, &effects, "a").await?;
                    let second = effect(&context, &effects, "b").await;
                    if context.attempt() == 1 {
                        assert_eq!(second.as_ref().unwrap_err().kind(), ErrorKind::CommitUnacknowledged);
                        let replayed = effect(&context, &effects, "a").await.unwrap_err();
                        assert_eq!(replayed.kind(), ErrorKind::ActivationPoisoned);
                    }
                    // It does not look at the error, and decides all the same.
                    Ok(context.complete(&json!([first, second.unwrap_or_default()]))?)
                }
            }),
        )
        .await;
        let Turn::Attempt { ending: Ending::Retried { error, .. }, .. } = worker.turn().await.unwrap() else {
            panic!("it decided")
        };
        assert_eq!(error.kind(), "activation-poisoned");
        assert!(history(&store).await.outcome().is_none());
        worker.run_until_idle().await.unwrap();
        assert_eq!(effects.counts().values().sum::<usize>(), effects_in_all);
        let activation = &history(&store).await.activations[0];
        assert_eq!((keys(activation), activation.attempts, activation.failures), (vec!["a", "b"], 2, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_dropped_while_it_commits_poisons_its_attempt() {
    // Before the record is stored, and after.
    for (polls, effects_in_all) in [(3, 2), (4, 1)] {
        let effects = Effects::default();
        let store = Pauses::new(MemoryStore::new(env()), effects.clone());
        let shared = effects.clone();
        let dropping = workflow(move |context| {
            let effects = shared.clone();
            async move {
                if context.attempt() == 1 {
                    let mut dropped = Box::pin(effect(&context, &effects, "a"));
                    for _ in 0..polls {
                        assert!(poll_once(&mut dropped).await.is_pending());
                    }
                    drop(dropped);
                    return Ok(context.complete(&"never")?);
                }
                Ok(context.complete(&effect(&context, &effects, "a").await?)?)
            }
        });
        let worker = started(store.clone(), env(), dropping).await;
        let Turn::Attempt { ending: Ending::Retried { error, .. }, .. } = worker.turn().await.unwrap() else {
            panic!("it decided")
        };
        assert_eq!(error.kind(), "activation-poisoned");
        worker.run_until_idle().await.unwrap();
        assert_eq!(output(&store).await, format!("a#{effects_in_all}"));
        assert_eq!(effects.counts()["a"], effects_in_all);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_committed_after_a_commit_without_acknowledgment() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    store.script_records([Acknowledgment::Rejected]);
    let ending = attempt(&store, move |context| {
        let effects = effects.clone();
        async move {
            let (first, second) = join(effect(&context, &effects, "a"), effect(&context, &effects, "b")).await;
            let kinds = [first.unwrap_err().kind(), second.unwrap_err().kind()];
            assert_eq!(kinds, [ErrorKind::CommitUnacknowledged, ErrorKind::ActivationPoisoned]);
            Ok(context.complete(&())?)
        }
    })
    .await;
    assert!(matches!(ending, Ending::Retried { .. }));
    assert!(history(&store).await.activations[0].records.is_empty());
}

/// Holds up the operation `b` when it begins.
struct HoldsUp;

impl Gate for HoldsUp {
    fn pass(&self, event: &Event) -> Option<BoxFuture<'static, ()>> {
        let is_it = event.kind.name() == "operation.started" && event.call_id.as_deref() == Some("b");
        is_it.then(|| env().sleep(Duration::from_secs(1)))
    }
}

#[tokio::test(start_paused = true)]
async fn no_callable_begins_after_a_commit_without_acknowledgment() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    store.script_records([Acknowledgment::Rejected]);
    let shared = effects.clone();
    let both = workflow(move |context| {
        let effects = shared.clone();
        async move {
            let (first, second) = join(effect(&context, &effects, "a"), effect(&context, &effects, "b")).await;
            let kinds = [first.unwrap_err().kind(), second.unwrap_err().kind()];
            assert_eq!(kinds, [ErrorKind::CommitUnacknowledged, ErrorKind::ActivationPoisoned]);
            Ok(context.complete(&())?)
        }
    });
    let worker = started(store.clone(), env().with_gate(HoldsUp), both).await;
    let Turn::Attempt { ending: Ending::Retried { .. }, .. } = worker.turn().await.unwrap() else {
        panic!("it decided")
    };
    assert_eq!(effects.names(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_hides_that_a_commit_was_not_acknowledged_has_not_failed() {
    for panics in [false, true] {
        let (store, effects) = (MemoryStore::new(env()), Effects::default());
        store.script_records([Acknowledgment::Rejected; 7]);
        let shared = effects.clone();
        let hiding = workflow(move |context| {
            let effects = shared.clone();
            async move {
                let answer = effect(&context, &effects, "a").await;
                // Unwinds as a panic does, without the panic hook.
                let fail = |_| if panics { std::panic::resume_unwind(Box::new("no")) } else { BoxError::from("no") };
                Ok(context.complete(&answer.map_err(fail)?)?)
            }
        });
        let worker = started(store.clone(), env(), hiding).await;
        let Turn::Attempt { ending: Ending::Retried { error, .. }, .. } = worker.turn().await.unwrap() else {
            panic!("it decided")
        };
        assert_eq!(error.kind(), "activation-poisoned");
        worker.run_until_idle().await.unwrap();
        assert_eq!(output(&store).await, "a#8");
        assert_eq!(history(&store).await.activations[0].failures, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_of_an_activation_runs_on() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let left: Arc<parking_lot::Mutex<Option<WorkflowContext>>> = Arc::default();
    let task: Arc<parking_lot::Mutex<Option<tokio::task::JoinHandle<()>>>> = Arc::default();
    let (kept, shared, begun) = (Arc::clone(&left), effects.clone(), Arc::clone(&task));
    attempt(&store, move |context| {
        let (kept, effects, task) = (Arc::clone(&kept), shared.clone(), Arc::clone(&begun));
        async move {
            *kept.lock() = Some(context.clone());
            let detached = context.clone();
            let slow = move |_: Value, call: OperationCall| async move {
                call.env.until(Duration::from_secs(5)).await;
                Ok::<_, BoxError>(effects.happen("slow", &call.idempotency_key))
            };
            #[expect(clippy::disallowed_methods, reason = "what outlives the activation is what is tested")]
            let spawned = tokio::spawn(async move {
                let answer: Result<String, _> =
                    detached.operation("slow", OperationKind::Tool, "c", "1", json!({}), slow).await;
                assert_eq!(answer.unwrap_err().kind(), ErrorKind::ActivationClosed);
            });
            // It begins.
            env().pause().await;
            *task.lock() = Some(spawned);
            Ok(context.complete(&())?)
        }
    })
    .await;
    // It hears of the end at once.
    let detached = task.lock().take().unwrap();
    detached.await.unwrap();
    tokio::time::advance(Duration::from_secs(60)).await;
    assert!(effects.names().is_empty());
    let context = left.lock().clone().unwrap();
    let late = answering(&context, "late", json!({}), Ok(json!(1))).await;
    assert_eq!(kind_of(&late), ErrorKind::ActivationClosed);
    assert!(store.read("w").await.unwrap().unwrap().activations[0].records.is_empty());
}
