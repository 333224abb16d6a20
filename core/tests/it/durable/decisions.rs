//! How activations end, and how the next ones begin (D5).

use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::{
    Acknowledgment, Decision, Delivery, Ending, JournalStore, MemoryStore, Started, Turn, Wake, Worker, Workflow,
    WorkflowContext,
};
use windtunnel_core::event::EventLog;

use super::stage::{Effects, effect, env, history, keys, output, started, workflow};

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test(start_paused = true)]
async fn only_the_checkpoint_crosses() {
    let (store, effects) = (MemoryStore::new(env()), Effects::default());
    let shared = effects.clone();
    let count = Workflow::new("test").entry("start", move |context: WorkflowContext, round: u64| {
        let effects = shared.clone();
        async move {
            // The same key in each activation: each has a journal of its own.
            effect(&context, &effects, "turn").await?;
            assert_eq!(context.wake() == &Wake::Started, round == 0);
            if round == 2 {
                return Ok::<_, BoxError>(context.complete(&json!(round))?);
            }
            Ok(context.continue_("start", &(round + 1))?)
        }
    });
    let worker = Worker::new(store.clone()).env(env()).workflow(count);
    worker.start("w", "test", "start", &0).await.unwrap();
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, 2);
    assert_eq!(effects.names(), ["turn", "turn", "turn"]);
    let history = history(&store).await;
    assert!(history.activations.iter().all(|activation| keys(activation) == ["turn"]));
    assert_eq!(history.activations.len(), 3);
}

fn sleeper() -> Workflow {
    Workflow::new("test")
        .entry("start", |context: WorkflowContext, _: Value| async move { context.sleep("night", DAY, "woken", &7) })
        .entry("woken", |context: WorkflowContext, state: u64| async move {
            context.complete(&json!([state, context.wake().name()]))
        })
}

#[tokio::test(start_paused = true)]
async fn a_sleep_takes_its_time_and_no_worker() {
    let env = env();
    let store = MemoryStore::new(env.clone());
    let worker = started(store.clone(), env.clone(), sleeper()).await;
    worker.turn().await.unwrap();
    let Turn::Nothing { next } = worker.turn().await.unwrap() else { panic!("something is due") };
    assert_eq!(next, Some(DAY));
    worker.run_until_idle().await.unwrap();
    assert_eq!(env.now(), DAY);
    assert_eq!(output(&store).await, json!([7, "timer"]));
}

fn waiter(timeout: Option<Duration>) -> Workflow {
    Workflow::new("test")
        .entry("start", move |context: WorkflowContext, _: Value| async move {
            context.wait_event("approval", timeout, "woken", &7)
        })
        .entry("woken", |context: WorkflowContext, _: u64| async move {
            context.complete(&json!([context.wake().name(), context.event::<Value>()?]))
        })
}

#[tokio::test(start_paused = true)]
async fn an_event_before_or_during_the_wait_wakes_the_workflow() {
    for before in [true, false] {
        let env = env();
        let store = MemoryStore::new(env.clone());
        let worker = started(store.clone(), env.clone(), waiter(Some(DAY))).await;
        if !before {
            worker.turn().await.unwrap();
            env.until(DAY - Duration::from_nanos(1_000_000)).await;
        }
        let deliver = |payload: Value| store.deliver("w", "approval", payload);
        assert_eq!(deliver(json!({"by": "Ada"})).await.unwrap(), Delivery::Accepted);
        assert_eq!(deliver(json!({"by": "Ada"})).await.unwrap(), Delivery::Already);
        assert_eq!(deliver(json!({"by": "Bob"})).await.unwrap(), Delivery::Conflict);
        worker.run_until_idle().await.unwrap();
        assert_eq!(output(&store).await, json!(["event", {"by": "Ada"}]));
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_at_the_timeout_is_too_late() {
    let env = env();
    let store = MemoryStore::new(env.clone());
    let worker = started(store.clone(), env.clone(), waiter(Some(DAY))).await;
    worker.turn().await.unwrap();
    env.until(DAY).await;
    assert_eq!(store.deliver("w", "approval", json!(1)).await.unwrap(), Delivery::TooLate);
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!(["timeout", null]));
    assert_eq!(store.deliver("w", "approval", json!(1)).await.unwrap(), Delivery::NoWorkflow);
    assert_eq!(store.deliver("x", "approval", json!(1)).await.unwrap(), Delivery::NoWorkflow);
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_a_timeout_is_for_ever() {
    let store = MemoryStore::new(env());
    let worker = started(store.clone(), env(), waiter(None)).await;
    worker.run_until_idle().await.unwrap();
    assert!(history(&store).await.outcome().is_none());
    store.deliver("w", "approval", json!(1)).await.unwrap();
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!(["event", 1]));
}

#[tokio::test(start_paused = true)]
async fn a_workflow_waits_once_for_a_key() {
    let store = MemoryStore::new(env());
    let again = Workflow::new("test").entry("start", |context: WorkflowContext, _: Value| async move {
        context.wait_event("approval", None, "start", &())
    });
    let worker = started(store.clone(), env(), again).await;
    store.deliver("w", "approval", json!(1)).await.unwrap();
    worker.run_until_idle().await.unwrap();
    let Some(Decision::Fail { kind, message }) = history(&store).await.outcome().cloned() else { panic!("no failure") };
    assert_eq!(&*kind, "decision-refused");
    assert_eq!(&*message, "the decision was refused: the workflow has waited for an event with its key before");
}

#[tokio::test(start_paused = true)]
async fn a_workflow_that_fails_says_so() {
    let store = MemoryStore::new(env());
    let worker =
        started(store.clone(), env(), workflow(|context| async move { Ok(context.fail("no-stock", "sold")?) }));
    worker.await.run_until_idle().await.unwrap();
    assert_eq!(history(&store).await.outcome(), Some(&Decision::fail("no-stock", "sold").unwrap()));
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_is_not_there_is_named() {
    let store = MemoryStore::new(env());
    let lost = workflow(|context| async move { Ok(context.continue_("strat", &())?) });
    let worker = started(store.clone(), env(), lost).await;
    worker.run_until_idle().await.unwrap();
    let Some(Decision::Fail { kind, message }) = history(&store).await.outcome().cloned() else { panic!("no failure") };
    assert_eq!((&*kind, &*message), ("unknown-entry", r#"workflow "test" has no entry "strat"; it has: start"#));
    let error = worker.start("x", "test", "strat", &()).await.unwrap_err();
    assert_eq!(error.to_string(), &*message);
    assert!(worker.start("x", "tset", "start", &()).await.unwrap_err().to_string().starts_with("there is no workflow"));
}

#[tokio::test(start_paused = true)]
async fn starting_again_changes_nothing() {
    let store = MemoryStore::new(env());
    let worker = started(store.clone(), env(), sleeper()).await;
    assert_eq!(worker.start("w", "test", "start", &Value::Null).await.unwrap(), Started::Already);
    assert_eq!(worker.start("w", "test", "start", &1).await.unwrap(), Started::Conflict);
    worker.turn().await.unwrap();
    assert_eq!(worker.start("w", "test", "start", &Value::Null).await.unwrap(), Started::Already);
    assert_eq!(&*store.workflow_ids().await.unwrap(), ["w".into()]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_whose_acknowledgment_is_lost_is_read_back() {
    let (store, log) = (MemoryStore::new(env()), EventLog::new());
    store.script_decisions([Acknowledgment::Lost, Acknowledgment::Lost]);
    let worker = started(store.clone(), env(), sleeper()).await.sink(log.clone());
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!([7, "timer"]));
    let statuses: Vec<_> =
        log.of_type("activation.reconciled").iter().map(|event| event.data()["status"].clone()).collect();
    assert_eq!(statuses, ["decided", "decided"]);
    assert!(history(&store).await.activations.iter().all(|activation| activation.attempts == 1));
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_is_rejected_is_made_again() {
    let store = MemoryStore::new(env());
    store.script_decisions([Acknowledgment::Rejected; 7]);
    let worker = started(store.clone(), env(), sleeper()).await;
    let Turn::Attempt { ending: Ending::Retried { error, .. }, .. } = worker.turn().await.unwrap() else {
        panic!("it was not rejected")
    };
    assert_eq!(error.to_string(), "the decision was refused: the store rejects it");
    worker.run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!([7, "timer"]));
}
