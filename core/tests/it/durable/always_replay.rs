//! The mode that replays after each record, and the check of order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::join;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::{Ending, MemoryStore, OperationKind, OrderCheck, Turn, Workflow, WorkflowContext};

use super::stage::{Effects, effect, env, history, keys, output, started, workflow};

async fn ending(workflow: Workflow, store: &MemoryStore) -> Ending {
    match started(store.clone(), env(), workflow).await.always_replay().turn().await.unwrap() {
        Turn::Attempt { ending, .. } => ending,
        Turn::Nothing { .. } => panic!("nothing is due"),
    }
}

/// The error of the attempt, with its kind.
async fn error_of(workflow: Workflow) -> (&'static str, String) {
    match ending(workflow, &MemoryStore::new(env())).await {
        Ending::Retried { error, .. } => (error.kind(), error.to_string()),
        other => panic!("{other:?} instead of an error"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_replays_the_same_comes_to_the_same() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let (entries, entered) = (Arc::new(AtomicU64::new(0)), effects.clone());
    let counted = Arc::clone(&entries);
    let honest = workflow(move |context: WorkflowContext| {
        let effects = entered.clone();
        counted.fetch_add(1, Ordering::Relaxed);
        async move {
            let first = effect(&context, &effects, "a").await?;
            let second = effect(&context, &effects, "b").await?;
            let (third, fourth) = join(effect(&context, &effects, "c"), effect(&context, &effects, "d")).await;
            Ok(context.complete(&json!([first, second, third?, fourth?]))?)
        }
    });
    assert!(matches!(ending(honest, &store).await, Ending::Decided { .. }));
    assert_eq!(entries.load(Ordering::Relaxed), 5);
    assert_eq!(keys(&history(&store).await.activations[0]), ["a", "b", "c", "d"]);
    let counts = effects.counts();
    // What ran beside a commit may run again.
    assert_eq!((counts["a"], counts["b"], counts["c"], counts["d"]), (1, 1, 1, 2));
    assert_eq!(output(&store).await, json!(["a#1", "b#2", "c#3", "d#5"]));
}

#[tokio::test(start_paused = true)]
async fn what_failed_and_runs_again_beside_what_is_recorded_is_in_order() {
    let (store, runs) = (MemoryStore::new(env()), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&runs);
    let honest = workflow(move |context: WorkflowContext| {
        let runs = Arc::clone(&counted);
        async move {
            // Over before the other one is asked for, which happens at the same instant.
            let flaky = |_: Value, _| async move {
                if runs.fetch_add(1, Ordering::Relaxed) == 0 { Err(BoxError::from("not yet")) } else { Ok(1) }
            };
            let sure = |_: Value, _| async { Ok::<_, BoxError>(2) };
            let operation = OperationKind::Tool;
            let (flaky, sure): (Result<i32, _>, Result<i32, _>) = join(
                context.operation("flaky", operation, "bank:call", "1", json!({}), flaky),
                context.operation("sure", operation, "bank:call", "1", json!({}), sure),
            )
            .await;
            Ok(context.complete(&json!([flaky?, sure?]))?)
        }
    });
    let ending = ending(honest, &store).await;
    assert!(matches!(ending, Ending::Decided { .. }), "{ending:?}");
    assert_eq!(keys(&history(&store).await.activations[0]), ["sure", "flaky"]);
    assert_eq!((output(&store).await, runs.load(Ordering::Relaxed)), (json!([1, 2]), 2));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_changes_is_found() {
    let (drawn, effects) = (Arc::new(AtomicU64::new(0)), Effects::default());
    let (kind, message) = error_of(workflow(move |context: WorkflowContext| {
        let (name, effects) = (format!("turn-{}", drawn.fetch_add(1, Ordering::Relaxed)), effects.clone());
        async move {
            effect(&context, &effects, &name).await?;
            Ok(context.complete(&())?)
        }
    }))
    .await;
    assert_eq!(kind, "out-of-order");
    assert!(message.contains(r#"operation 1 was recorded as "turn-0", and now "turn-1" is requested"#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_route_that_changes_is_found() {
    let (drawn, effects) = (Arc::new(AtomicU64::new(0)), Effects::default());
    let (kind, message) = error_of(workflow(move |context: WorkflowContext| {
        let (is_first, effects) = (drawn.fetch_add(1, Ordering::Relaxed) == 0, effects.clone());
        async move {
            if is_first {
                effect(&context, &effects, "a").await?;
            }
            Ok(context.complete(&())?)
        }
    }))
    .await;
    assert_eq!(kind, "out-of-order");
    assert!(message.contains(r#"operation 1 was recorded as "a", and now it was not requested at all"#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn an_argument_that_changes_is_found() {
    let drawn = Arc::new(AtomicU64::new(0));
    let (kind, message) = error_of(workflow(move |context: WorkflowContext| {
        let arguments = json!({"at": drawn.fetch_add(1, Ordering::Relaxed)});
        async move {
            let body = |_, _| async { Ok::<_, windtunnel_core::BoxError>(()) };
            let kind = windtunnel_core::durable::OperationKind::Model;
            context.operation("a", kind, "model:ask", "1", arguments, body).await?;
            Ok(context.complete(&())?)
        }
    }))
    .await;
    assert_eq!(kind, "binding-mismatch");
    assert!(message.contains("its arguments differ at $.at"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_strict_worker_holds_the_order_of_the_records() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let swapped = effects.clone();
    let swapping = workflow(move |context: WorkflowContext| {
        let effects = swapped.clone();
        async move {
            let order = if context.attempt() == 1 { ["a", "b"] } else { ["b", "a"] };
            for name in order {
                effect(&context, &effects, name).await?;
            }
            if context.attempt() == 1 { Err("again".into()) } else { Ok(context.complete(&())?) }
        }
    });
    let lenient = started(store.clone(), env(), swapping).await;
    lenient.turn().await.unwrap();
    env().until(std::time::Duration::from_secs(1)).await;
    let strict = lenient.clone().order(OrderCheck::Strict);
    let Turn::Attempt { ending: Ending::Retried { error, .. }, .. } = strict.turn().await.unwrap() else {
        panic!("the order was not checked")
    };
    assert_eq!(error.kind(), "out-of-order");
    lenient.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!(null));
    assert_eq!(effects.names(), ["a", "b"]);
}
