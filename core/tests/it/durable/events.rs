//! What durable operations say of themselves.

use serde_json::json;
use windtunnel_core::BoxError;
use windtunnel_core::durable::{JournalStore, MemoryStore, OperationKind, Workflow, WorkflowContext};
use windtunnel_core::event::EventLog;

use super::stage::{env, poll_once, started, workflow};
use crate::capture::Capture;
use crate::mirror::assert_mirrored;

fn shown(log: &EventLog) -> Vec<String> {
    log.events()
        .iter()
        .map(|event| {
            let mut data = event.data();
            data.retain(|name, _| !["duration_s", "workflow", "callable", "kind"].contains(&name.as_str()));
            let data: Vec<String> = data.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {}", event.kind.name(), data.join(" ")).replace('"', "")
        })
        .collect()
}

fn paying() -> Workflow {
    workflow(|context: WorkflowContext| async move {
        let body = |_, _| async { Ok::<_, BoxError>("hunter2".to_owned()) };
        let secret = json!({"card": "hunter2"});
        let _: String = context.operation("pay", OperationKind::Tool, "bank:pay", "1", secret, body).await?;
        let missing = |_, _| async { Err::<(), _>(BoxError::from("hunter2")) };
        let _gone = context.operation("look", OperationKind::Model, "bank:look", "1", json!({}), missing).await;
        let none = |_, _| async { Ok::<_, BoxError>(()) };
        let _refused = context.operation("pay", OperationKind::Tool, "bank:pay", "2", json!({}), none).await;
        if context.attempt() == 1 { Err("hunter2".into()) } else { Ok(context.complete(&"hunter2")?) }
    })
}

#[tokio::test(start_paused = true)]
async fn every_step_is_an_event_and_none_holds_a_value() {
    let (store, log) = (MemoryStore::new(env()), EventLog::new());
    let worker = started(store.clone(), env(), paying()).await.sink(log.clone());
    let (capture, _guard) = Capture::begin();
    worker.run_until_idle().await.unwrap();
    assert_mirrored(&capture, &log);
    assert_eq!(
        shown(&log),
        [
            "activation.started entry=start attempt=1 wake=started records=0",
            "operation.started operation=pay attempt=1",
            "operation.executed operation=pay status=ok",
            "operation.commit operation=pay bytes=134",
            "operation.committed operation=pay status=acknowledged",
            "operation.started operation=look attempt=1",
            "operation.executed operation=look status=error error=call-failed",
            "operation.refused operation=pay error=binding-mismatch",
            "activation.retry attempt=1 cause=entry-failed delay_s=0.5",
            "activation.finished attempt=1 status=failed error=entry-failed executed=2 replayed=0",
            "activation.started entry=start attempt=2 wake=started records=1",
            "operation.replayed operation=pay",
            "operation.started operation=look attempt=2",
            "operation.executed operation=look status=error error=call-failed",
            "operation.refused operation=pay error=binding-mismatch",
            "activation.decided attempt=2 decision=complete",
            "activation.finished attempt=2 status=decided decision=complete executed=1 replayed=1",
        ]
    );
    let lines: String = log.events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(!lines.contains("hunter2"));
    let pay = &log.of_call("pay")[0];
    assert_eq!((&*pay.run_id, pay.parent_id.as_deref()), ("w", Some("activation-1")));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_attempt_says_so() {
    let (store, log) = (MemoryStore::new(env()), EventLog::new());
    let hanging = workflow(|_| async { std::future::pending().await });
    let worker = started(store.clone(), env(), hanging).await.sink(log.clone());
    let mut turn = Box::pin(worker.turn());
    assert!(poll_once(&mut turn).await.is_pending());
    drop(turn);
    let finished = &log.of_type("activation.finished")[0];
    assert_eq!(finished.data()["status"], "cancelled");
    assert!(store.read("w").await.unwrap().unwrap().outcome().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_attempt_says_what_it_did() {
    let (store, log) = (MemoryStore::new(env()), EventLog::new());
    let hanging = workflow(|context: WorkflowContext| async move {
        let body = |_, _| async { Ok::<_, BoxError>(()) };
        context.operation("a", OperationKind::Tool, "bank:pay", "1", json!({}), body).await?;
        let _: () = std::future::pending().await;
        Ok(context.complete(&())?)
    });
    let worker = started(store, env(), hanging).await.sink(log.clone());
    // The second one begins when the lease of the first is over.
    for (executed, replayed) in [(1, 0), (0, 1)] {
        let mut turn = Box::pin(worker.turn());
        assert!(poll_once(&mut turn).await.is_pending());
        drop(turn);
        let finished = log.of_type("activation.finished").pop().unwrap();
        assert_eq!((&finished.data()["executed"], &finished.data()["replayed"]), (&json!(executed), &json!(replayed)));
        env().until(env().now() + std::time::Duration::from_secs(61)).await;
    }
}
