//! What a call costs: over the bare tool, beside other retry crates, and in a simulated world.
//!
//! These machines are noisy, so everything is measured in turns within one run and given as a ratio too.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports and stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock")]

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable};
use serde_json::{Value, json};
use tower::retry::Policy;
use tower::{ServiceExt, service_fn};
use windtunnel::BoxError;
use windtunnel::event::EventLog;
use windtunnel::executor::{CallContext, Executor, MemoryLedger, ToolCall};
use windtunnel::sim::script::{Failure, ScriptedTool, Step};
use windtunnel::sim::{World, WorldHandle};
use windtunnel::tool::{FunctionTool, Registry, ToolSpec};

const CALLS: u32 = 20_000;
const ROUNDS: usize = 15;
const WORLDS: u64 = 20;
const CALLS_IN_A_WORLD: u32 = 1_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(overhead());
    simulated("at once", |world, calls| sequential(world, calls, Step::answer()));
    simulated("after 40 ms", |world, calls| sequential(world, calls, Step::answer().after(Duration::from_millis(40))));
    simulated("failing once", retried);
}

/// The tool that everybody calls.
async fn tool(arguments: Arc<Value>) -> Result<Value, BoxError> {
    Ok(Value::Bool(arguments.is_object()))
}

/// The median time of one call with its arguments, in nanoseconds, of each contestant, measured in turns.
async fn overhead() {
    let arguments = || Arc::new(json!({"id": "INV-7"}));
    let plain = executor(None);
    let observed = executor(Some((EventLog::new(), MemoryLedger::new())));
    let in_a_run = plain.in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
    let mut calls = 0;
    let call = |executor: &Executor| {
        let call = ToolCall::new("tool", json!({"id": "INV-7"}));
        let executor = executor.clone();
        async move { executor.run_call(call).await.unwrap().into_value().map_err(BoxError::from) }
    };
    let layered = tower::retry::Retry::new(NeverAgain, service_fn(tool));
    let mut nanos: [Vec<f64>; 6] = Default::default();
    for _ in 0..ROUNDS {
        nanos[0].push(time(|| tool(arguments())).await);
        nanos[1].push(time(|| (|| tool(arguments())).retry(ExponentialBuilder::default())).await);
        nanos[2].push(time(|| layered.clone().oneshot(arguments())).await);
        nanos[3].push(time(|| call(&plain)).await);
        let in_runs_of_a_hundred = || {
            calls += 1;
            if calls % 100 == 0 {
                in_a_run.end_run("run");
            }
            call(&in_a_run)
        };
        nanos[4].push(time(in_runs_of_a_hundred).await);
        nanos[5].push(time(|| call(&observed)).await);
    }
    let names =
        ["bare tool", "backon", "tower retry", "executor", "executor, runs of 100", "executor, events and ledger"];
    let medians = nanos.map(median);
    println!("one call, median of {ROUNDS} rounds of {CALLS}:");
    for (name, median) in names.iter().zip(medians) {
        let over = median - medians[0];
        println!("  {name:28} {median:8.0} ns  bare + {over:6.0} ns  {:6.1} × bare", median / medians[0]);
    }
}

fn executor(ports: Option<(EventLog, MemoryLedger)>) -> Executor {
    let parameters = json!({
        "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false,
    });
    let mut registry = Registry::new();
    let tool = FunctionTool::json("tool", "", parameters, |arguments, _| tool(arguments)).retries(3);
    registry.register(tool).unwrap();
    let builder = Executor::builder(registry);
    match ports {
        Some((log, ledger)) => builder.sink(log).ledger(ledger).build(),
        None => builder.build(),
    }
}

async fn time<Fut: Future<Output = Result<Value, BoxError>>>(mut make: impl FnMut() -> Fut) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        std::hint::black_box(make().await.unwrap());
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A tower policy that never retries: it costs what asking costs.
#[derive(Clone)]
struct NeverAgain;

impl Policy<Arc<Value>, Value, BoxError> for NeverAgain {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut Arc<Value>, _: &mut Result<Value, BoxError>) -> Option<Self::Future> {
        None
    }

    fn clone_request(&mut self, arguments: &Arc<Value>) -> Option<Arc<Value>> {
        Some(Arc::clone(arguments))
    }
}

/// Calls and events a second on one core, in worlds with a trace.
fn simulated<F, Fut>(name: &str, scenario: F)
where
    F: Fn(WorldHandle, u32) -> Fut + Sync,
    Fut: Future<Output = ()>,
{
    let mut rates = Vec::new();
    let mut events = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for seed in 0..WORLDS {
            let run = World::new(seed).run(|world| scenario(world, CALLS_IN_A_WORLD));
            run.outcome.unwrap();
            events = run.trace.len();
        }
        rates.push(f64::from(CALLS_IN_A_WORLD) * WORLDS as f64 / start.elapsed().as_secs_f64());
    }
    let calls_per_s = median(rates);
    let events_per_s = calls_per_s * events as f64 / f64::from(CALLS_IN_A_WORLD);
    println!("simulated calls {name:14} {calls_per_s:10.0} calls/s {events_per_s:10.0} events/s");
}

async fn sequential(world: WorldHandle, calls: u32, step: Step) {
    let spec = ToolSpec::new("tool", "", json!({"type": "object"}));
    run_all(world, calls, ScriptedTool::new(spec, []).after_script(move |_| step.clone())).await;
}

async fn retried(world: WorldHandle, calls: u32) {
    let spec = ToolSpec { retries: 1, ..ToolSpec::new("tool", "", json!({"type": "object"})) };
    let script = (0..calls).flat_map(|_| [Step::fail(Failure::Foreign), Step::answer()]);
    run_all(world, calls, ScriptedTool::new(spec, script)).await;
}

async fn run_all(world: WorldHandle, calls: u32, tool: ScriptedTool) {
    let mut registry = Registry::new();
    registry.register(tool).unwrap();
    let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
    for number in 0..calls {
        executor.run_call(ToolCall::new("tool", json!({ "n": number }))).await.unwrap();
    }
}
