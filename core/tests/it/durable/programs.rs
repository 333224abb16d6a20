//! Programs that are evaluated inside a workflow.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::durable::{Decision, DurableError, JournalStore, MemoryStore, Worker, Workflow, WorkflowContext};
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{
    Evaluator, ExecutionLimits, Program, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider,
};
use windtunnel_core::executor::Executor;
use windtunnel_core::tool::{Cancelled, FunctionTool};
use windtunnel_core::{BoxError, BoxFuture};

use super::stage::{Crash, Effects, Pauses, env, history, keys, output, pausing_env};
use crate::rig::{registry, yield_once};

fn work(n: &Value) -> Value {
    json!({"type": "function", "name": "work", "params": [n]})
}

fn literal(n: u32) -> Value {
    json!({"type": "value", "name": "n", "value": n})
}

fn each(items: &[u32]) -> Value {
    let item = json!({"type": "value", "name": "x", "value": null});
    json!({"type": "map",
        "function": {"type": "lambda", "params": ["x"], "body": work(&item)},
        "iterable": {"type": "value", "name": "items", "value": items},
    })
}

fn program_of(body: &[Value]) -> Program {
    Program::from_value(&json!({"type": "program", "schema_version": "1.0", "mode": "parallel", "body": body})).unwrap()
}

/// Parts at once: a call of a call of a call, a part with parts of its own, and a list of calls.
fn program() -> Program {
    let chain = work(&work(&work(&literal(1))));
    let inner = json!({"type": "program", "mode": "parallel", "body": [work(&work(&literal(2))), work(&literal(3))]});
    program_of(&[chain, inner, each(&[4, 5])])
}

fn workflow(evaluate: impl Fn(&WorkflowContext) -> Evaluator + Send + Sync + 'static) -> Workflow {
    Workflow::new("test").entry("start", move |context: WorkflowContext, program: Value| {
        let evaluator = evaluate(&context);
        async move {
            let program = Program::from_value(&program)?;
            let value = evaluator.evaluate(&program).await.into_value()?;
            Ok::<_, BoxError>(context.complete(&value)?)
        }
    })
}

async fn start(store: &impl JournalStore, program: &Program) {
    let state = serde_json::from_str(&program.to_json()).unwrap();
    let checkpoint = windtunnel_core::durable::Checkpoint::new("start", state).unwrap();
    store.start("w", "test", checkpoint).await.unwrap();
}

/// A tool with an effect, whose argument has a name.
fn worker_tool(effects: &Effects) -> FunctionTool {
    let effects = effects.clone();
    let schema = json!({"type": "object", "properties": {"n": {}}, "required": ["n"]});
    FunctionTool::json("work", "Works.", schema, move |arguments, context| {
        let effects = effects.clone();
        async move {
            yield_once().await;
            let happened = effects.happen(&arguments.to_string(), context.idempotency_key().unwrap());
            yield_once().await;
            Ok::<_, BoxError>(json!(happened.split('#').next()))
        }
    })
}

fn executor(effects: &Effects) -> Executor {
    Executor::builder(registry([worker_tool(effects)])).env(pausing_env()).build()
}

#[tokio::test(start_paused = true)]
async fn each_call_of_a_program_is_an_operation_named_by_its_place() {
    let store = MemoryStore::new(env());
    start(&store, &program()).await;
    let effects = Effects::default();
    let tools = executor(&effects);
    let flow = workflow(move |context| Evaluator::new(context.tools("plan", tools.clone()).unwrap()).env(env()));
    Worker::new(store.clone()).env(env()).workflow(flow).run_until_idle().await.unwrap();
    let history = history(&store).await;
    let mut keys = keys(&history.activations[0]);
    keys.sort_unstable();
    let chain = ["1.1/1", "1.1/1.1/1", "1.1/1.1/1.1/1"];
    let (inner, items) = (["1.2/1.1/1", "1.2/1.1/1.1/1", "1.2/1.2/1"], ["1.3/1", "1.3/2"]);
    let places = chain.iter().chain(&inner).chain(&items);
    let wanted: Vec<_> = places.map(|place| format!("tool:plan:{place}")).collect();
    assert_eq!(keys, wanted);
    assert_eq!(effects.counts().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn operations_of_a_program_have_the_version_that_is_said() {
    let store = MemoryStore::new(env());
    start(&store, &program_of(&[work(&literal(1))])).await;
    let tools = executor(&Effects::default());
    let flow =
        workflow(move |context| Evaluator::new(context.tools("plan", tools.clone()).unwrap().version("7")).env(env()));
    Worker::new(store.clone()).env(env()).workflow(flow).run_until_idle().await.unwrap();
    let history = history(&store).await;
    let records = &history.activations[0].records;
    let versions: Vec<_> = records.iter().map(|committed| &**committed.record.binding().version()).collect();
    assert_eq!(versions, ["7"]);
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_of_a_program_repeats_nothing_that_was_committed() {
    for limits in [None, NonZeroU64::new(1), NonZeroU64::new(2)] {
        let mut polls = 0;
        loop {
            let effects = Effects::default();
            let store = Pauses::new(MemoryStore::new(env()), effects.clone());
            start(&store, &program()).await;
            let worker = |env: Env| {
                let tools = executor(&effects);
                let limits = ExecutionLimits { max_concurrency: limits, ..ExecutionLimits::default() };
                let flow = workflow(move |context| {
                    Evaluator::new(context.tools("plan", tools.clone()).unwrap()).env(self::env()).limits(limits)
                });
                Worker::new(store.clone()).env(env).workflow(flow)
            };
            let ended = Crash::new(worker(pausing_env()).run_until_idle(), polls).await.is_some();
            worker(env()).run_until_idle().await.unwrap();
            let history = history(&store).await;
            store.check_read_back(&history);
            assert!(matches!(history.outcome(), Some(Decision::Complete(_))), "{:?}", history.outcome());
            assert_eq!(effects.counts().len(), 8);
            if ended {
                break;
            }
            polls += 1;
        }
        assert!(polls > 40, "only {polls} points");
    }
}

/// Answers after times of its own, and notes which call stood where.
struct Timed {
    seed: u64,
    places: Arc<Mutex<BTreeMap<String, String>>>,
}

impl ToolProvider for Timed {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        let schema = json!({"type": "object", "properties": {"n": {}}, "required": ["n"]});
        Box::pin(async move { Ok(vec![Arc::new(ToolDefinition::with_input_schema("work", "Works.", &schema)?)]) })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let n = call.arguments["n"].as_u64().unwrap();
            let place = call.place.unwrap().to_string();
            let wait = (n * 7919 + self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
            env().until(env().now() + Duration::from_millis(wait)).await;
            let before = self.places.lock().insert(place, n.to_string());
            assert_eq!(before, None, "two calls with one name");
            if n > 3 && call.attempt == 1 {
                return Err(ToolFailure::timeout().into());
            }
            Ok(json!(n + 10))
        })
    }

    fn needs_places(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn places_do_not_depend_on_how_long_answers_take() {
    let retry = windtunnel_core::evaluator::RetryPolicy {
        max_attempts: std::num::NonZeroU32::new(2).unwrap(),
        idempotent_tools: ["work".to_owned()].into(),
        ..windtunnel_core::evaluator::RetryPolicy::default()
    };
    for program in [program(), choices()] {
        let mut seen = Vec::new();
        for seed in 0..40 {
            let places = Arc::new(Mutex::new(BTreeMap::new()));
            let evaluator = Evaluator::new(Timed { seed, places: Arc::clone(&places) }).env(env());
            let policy = windtunnel_core::evaluator::ExecutionPolicy { retry: retry.clone(), ..Default::default() };
            evaluator.policy(policy).evaluate(&program).await.into_value().unwrap();
            seen.push(places.lock().clone());
        }
        assert!(seen.iter().all(|places| *places == seen[0]), "{seen:?}");
        assert!(seen[0].keys().any(|place| place.ends_with("#2")), "a retry has a name of its own: {:?}", seen[0]);
    }
}

/// Parts whose calls in calls begin after an answer: at one instant, or alone.
fn choices() -> Program {
    let choice = |n| json!({"type": "conditional", "condition": work(&literal(n)), "true_branch": work(&work(&literal(n + 10)))});
    program_of(&[choice(1), choice(2), choice(3), choice(4)])
}

#[tokio::test(start_paused = true)]
async fn run_guards_hold_over_attempts_of_an_evaluation() {
    let program = program_of(&[work(&work(&literal(1)))]);
    let mut polls = 0;
    loop {
        let effects = Effects::default();
        let store = MemoryStore::new(env());
        start(&store, &program).await;
        let worker = |env: Env| {
            let tools = [worker_tool(&effects).once_per_run()];
            let tools = Executor::builder(registry(tools)).env(pausing_env()).build();
            let flow =
                workflow(move |context| Evaluator::new(context.tools("p", tools.clone()).unwrap()).env(self::env()));
            Worker::new(store.clone()).env(env).workflow(flow)
        };
        let ended = Crash::new(worker(pausing_env()).run_until_idle(), polls).await.is_some();
        worker(env()).run_until_idle().await.unwrap();
        assert_eq!(effects.counts().len(), 1, "the second is refused, whoever makes it");
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls > 20, "only {polls} points");
}

#[tokio::test(start_paused = true)]
async fn control_flow_in_a_tool_leaves_no_record_and_ends_the_attempt() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let schema = json!({"type": "object", "properties": {"n": {}}});
    let stops = FunctionTool::json("work", "Stops.", schema, move |_, _| {
        let again = cancelled.swap(true, Ordering::Relaxed);
        async move { if again { Ok(json!(2)) } else { Err(BoxError::from(Cancelled)) } }
    });
    let executor = Executor::builder(registry([stops])).env(env()).build();
    let flow = workflow(move |context| Evaluator::new(context.tools("p", executor.clone()).unwrap()).env(env()));
    let store = MemoryStore::new(env());
    start(&store, &program_of(&[work(&literal(1))])).await;
    Worker::new(store.clone()).env(env()).workflow(flow).run_until_idle().await.unwrap();
    assert_eq!(output(&store).await, json!(2));
    assert_eq!(history(&store).await.activations[0].attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn an_evaluation_that_asks_for_too_much_fails_with_the_bound() {
    let items: Vec<_> = (0..129).collect();
    let program = program_of(&[each(&items)]);
    let effects = Effects::default();
    let tools = executor(&effects);
    let flow = workflow(move |context| {
        assert!(matches!(context.tools(&"n".repeat(33), tools.clone()), Err(DurableError::TooLarge { .. })));
        Evaluator::new(context.tools("p", tools.clone()).unwrap()).env(env())
    });
    let store = MemoryStore::new(env());
    start(&store, &program).await;
    Worker::new(store.clone()).env(env()).workflow(flow).run_until_idle().await.unwrap();
    let history = history(&store).await;
    let failed = history.outcome().unwrap();
    assert!(matches!(failed, Decision::Fail { kind, .. } if &**kind == "too-many-records"), "{failed:?}");
    assert_eq!(effects.counts().len(), 128, "and what was committed is not made again");
}
