//! What evaluating a program costs: a naive recursion of version 2 and a chain of additions of version 1.
//!
//! These machines are noisy, so everything is measured in turns within one run, and each median is given by node and by
//! call of a tool too.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports and stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock")]

use std::hint::black_box;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use windtunnel::BoxFuture;
use windtunnel::evaluator::{
    Evaluator, ExecutionLimits, Program, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider,
};
use windtunnel::executor::Executor;
use windtunnel::tool::{FunctionTool, Registry};

const ROUNDS: usize = 31;
const ADDITIONS: u32 = 60;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (fibonacci, chain) = (fibonacci(15), chain(ADDITIONS));
    let direct = Evaluator::new(Arithmetic::new());
    let executed = executor().evaluator();
    let contestants = [
        ("fib(15), version 2", &fibonacci, &direct),
        ("60 additions, version 1", &chain, &direct),
        ("fib(15), by an executor", &fibonacci, &executed),
        ("60 additions, by an executor", &chain, &executed),
    ];
    let mut micros: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        for (index, (_, program, evaluator)) in contestants.iter().enumerate() {
            micros[index].push(runtime.block_on(time(program, evaluator)));
        }
    }
    println!("one evaluation, median of {ROUNDS} rounds:");
    for (index, (name, program, evaluator)) in contestants.iter().enumerate() {
        let median = median(&mut micros[index]);
        let used = runtime.block_on(evaluator.evaluate(program)).consumption;
        let (nodes, tool_calls) = (used.nodes as f64, used.tool_calls as f64);
        println!(
            "  {name:30} {median:9.1} µs  {:8.0} a second  {:5.0} ns a node  {:5.0} ns a call of a tool",
            1e6 / median,
            median * 1e3 / nodes,
            median * 1e3 / tool_calls,
        );
    }
    reading();
    #[cfg(target_os = "linux")]
    pending(&runtime, &direct);
}

/// What a pending frame takes: the greatest resident size grows by it. The recursion is `f(n) = add(n, f(n))`, in which
/// each level waits for one call; it ends by its limit.
#[cfg(target_os = "linux")]
fn pending(runtime: &tokio::runtime::Runtime, evaluator: &Evaluator) {
    const LEVELS: u32 = 1_000_000;
    let call = |argument: Value| json!({"type": "call", "function": "f", "arguments": [argument]});
    let variable = json!({"type": "variable", "name": "n"});
    let body = json!({"type": "tool_call", "tool": "add", "arguments": {"a": variable, "b": call(variable.clone())}});
    let recursion = Program::from_value(&json!({
        "schema_version": "2.0",
        "definitions": [{"name": "f", "params": ["n"], "body": body}],
        "body": [call(json!({"type": "literal", "value": 1}))],
    }))
    .unwrap();
    let limits = ExecutionLimits { max_call_depth: NonZeroU64::new(LEVELS.into()), ..ExecutionLimits::default() };
    let before = peak_bytes();
    black_box(runtime.block_on(evaluator.clone().limits(limits).evaluate(&recursion)));
    let bytes = (peak_bytes() - before) as f64 / f64::from(LEVELS);
    println!("a recursion of {LEVELS} levels: {bytes:.0} bytes a pending frame");
}

/// The greatest resident size of this process so far.
#[cfg(target_os = "linux")]
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// How fast programs are read and written.
fn reading() {
    let text = chain(20_000).to_json();
    let started = Instant::now();
    let program = black_box(Program::parse(&text, Program::BOUNDS).unwrap());
    let read_s = started.elapsed().as_secs_f64();
    let started = Instant::now();
    black_box(program.to_json());
    let written_s = started.elapsed().as_secs_f64();
    let megabytes = text.len() as f64 / 1e6;
    println!("reading {:.0} MB/s, writing {:.0} MB/s", megabytes / read_s, megabytes / written_s);
}

async fn time(program: &Program, evaluator: &Evaluator) -> f64 {
    let repeats = 20;
    let started = Instant::now();
    for _ in 0..repeats {
        black_box(evaluator.evaluate(program).await.into_value().unwrap());
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(repeats)
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn fibonacci(n: u32) -> Program {
    let tool =
        |name: &str, a: Value, b: Value| json!({"type": "tool_call", "tool": name, "arguments": {"a": a, "b": b}});
    let literal = |value: u32| json!({"type": "literal", "value": value});
    let variable = || json!({"type": "variable", "name": "n"});
    let smaller = |by: u32| {
        let argument = tool("subtract", variable(), literal(by));
        json!({"type": "call", "function": "fib", "arguments": [argument]})
    };
    Program::from_value(&json!({
        "schema_version": "2.0",
        "definitions": [{"name": "fib", "params": ["n"], "body": {
            "type": "conditional",
            "condition": tool("less_than_or_equal", variable(), literal(1)),
            "true_branch": variable(),
            "false_branch": tool("add", smaller(1), smaller(2)),
        }}],
        "body": [{"type": "call", "function": "fib", "arguments": [literal(n)]}],
    }))
    .unwrap()
}

fn chain(additions: u32) -> Program {
    let value = r#"{"type":"value","name":"b","value":1}"#;
    let open = r#"{"type":"function","name":"add","params":["#.repeat(additions as usize);
    let close = format!(",{value}]}}").repeat(additions as usize);
    let text = format!(r#"{{"type":"program","mode":"single","body":[{open}{value}{close}]}}"#);
    Program::parse(&text, Program::BOUNDS).unwrap()
}

/// Addition, subtraction and comparison, called directly.
struct Arithmetic {
    definitions: Vec<Arc<ToolDefinition>>,
}

const FUNCTIONS: [&str; 3] = ["add", "subtract", "less_than_or_equal"];

fn properties() -> Map<String, Value> {
    ["a", "b"].map(|name| (name.to_owned(), json!({"type": "integer"}))).into_iter().collect()
}

fn compute(tool: &str, arguments: &Value) -> Option<Value> {
    let (a, b) = (arguments["a"].as_i64()?, arguments["b"].as_i64()?);
    Some(match tool {
        "add" => (a + b).into(),
        "subtract" => (a - b).into(),
        _ => (a <= b).into(),
    })
}

impl Arithmetic {
    fn new() -> Self {
        let define = |name| Arc::new(ToolDefinition::with_properties(name, "", properties()).unwrap());
        Self { definitions: FUNCTIONS.map(define).into() }
    }
}

impl ToolProvider for Arithmetic {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { Ok(self.definitions.clone()) })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let answer = compute(call.tool, &call.arguments);
        Box::pin(async move { answer.ok_or_else(|| ToolFailure::execution("these are no integers").into()) })
    }
}

fn executor() -> Executor {
    let mut registry = Registry::new();
    let schema = json!({"type": "object", "properties": properties(), "required": ["a", "b"]});
    for name in FUNCTIONS {
        let tool = FunctionTool::json(name, "", schema.clone(), move |arguments, _| async move {
            compute(name, &arguments).ok_or("these are no integers")
        });
        registry.register(tool).unwrap();
    }
    Executor::new(registry)
}
