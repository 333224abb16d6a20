//! A provider on a test stand: tools are closures, and every call that begins and ends is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use windtunnel_core::BoxFuture;
use windtunnel_core::evaluator::{
    Evaluation, Evaluator, ExecutionLimits, ExecutionPolicy, Program, ProviderCall, ProviderError, RetryPolicy,
    ToolDefinition, ToolFailure, ToolProvider,
};

use crate::rig::env;

type Body = Box<dyn Fn(&Value, u32) -> Result<Value, ToolFailure> + Send + Sync>;

struct Entry {
    definition: Arc<ToolDefinition>,
    delay: Duration,
    body: Body,
}

/// Tools by name. Clones share what was counted.
#[derive(Clone, Default)]
pub(crate) struct Toolbox {
    entries: Arc<Vec<Entry>>,
    calls: Arc<Mutex<Vec<String>>>,
    running: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
    lookups: Arc<AtomicUsize>,
}

/// Counts a call as running until it is dropped.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Toolbox {
    /// `add` and `at_most` of `a` and `b`, `echo` of `value`; all at once.
    pub(crate) fn arithmetic() -> Self {
        Self::default()
            .tool("add", &["a", "b"], Duration::ZERO, |arguments, _| {
                Ok(json!(number(arguments, "a") + number(arguments, "b")))
            })
            .tool("at_most", &["a", "b"], Duration::ZERO, |arguments, _| {
                Ok(json!(number(arguments, "a") <= number(arguments, "b")))
            })
            .tool("echo", &["value"], Duration::ZERO, |arguments, _| Ok(arguments["value"].clone()))
    }

    /// One more tool; `body` also gets the attempt.
    pub(crate) fn tool(
        self,
        name: &str,
        properties: &[&str],
        delay: Duration,
        body: impl Fn(&Value, u32) -> Result<Value, ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        let properties: Map<_, _> = properties.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        let definition = Arc::new(ToolDefinition::with_properties(name, "", properties).unwrap());
        self.with(definition, delay, body)
    }

    pub(crate) fn with(
        mut self,
        definition: Arc<ToolDefinition>,
        delay: Duration,
        body: impl Fn(&Value, u32) -> Result<Value, ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        let entry = Entry { definition, delay, body: Box::new(body) };
        Arc::get_mut(&mut self.entries).unwrap().push(entry);
        self
    }

    /// The calls that began: tool, arguments.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().clone()
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// The most that ran at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    pub(crate) fn lookups(&self) -> usize {
        self.lookups.load(Ordering::Relaxed)
    }

    pub(crate) fn evaluator(&self) -> Evaluator {
        Evaluator::new(self.clone()).env(env())
    }

    pub(crate) async fn evaluate(&self, program: Value) -> Evaluation {
        self.evaluator().evaluate(&parse(program)).await
    }

    pub(crate) async fn limited(&self, program: Value, limits: ExecutionLimits) -> Evaluation {
        self.evaluator().limits(limits).evaluate(&parse(program)).await
    }

    pub(crate) async fn under(&self, program: Value, policy: ExecutionPolicy) -> Evaluation {
        self.evaluator().policy(policy).evaluate(&parse(program)).await
    }
}

impl ToolProvider for Toolbox {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(self.entries.iter().map(|entry| Arc::clone(&entry.definition)).collect()) })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let entry = self.entries.iter().find(|entry| entry.definition.name() == call.tool);
            let entry = entry.ok_or_else(ToolFailure::not_found)?;
            self.calls.lock().push(format!("{} {}", call.tool, call.arguments));
            let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
            self.peak.fetch_max(running, Ordering::Relaxed);
            let _running = Running(Arc::clone(&self.running));
            if !entry.delay.is_zero() {
                env().sleep(entry.delay).await;
            }
            Ok((entry.body)(&call.arguments, call.attempt)?)
        })
    }
}

pub(crate) fn number(arguments: &Value, name: &str) -> i64 {
    arguments[name].as_i64().unwrap_or_default()
}

pub(crate) fn parse(program: Value) -> Program {
    Program::from_value(&program).unwrap()
}

/// A version 1 program.
pub(crate) fn single(body: Value) -> Value {
    json!({"type": "program", "mode": "single", "body": [body]})
}

pub(crate) fn parallel(body: &[Value]) -> Value {
    json!({"type": "program", "mode": "parallel", "body": body})
}

pub(crate) fn value(value: Value) -> Value {
    named("v", value)
}

pub(crate) fn named(name: &str, value: Value) -> Value {
    json!({"type": "value", "name": name, "value": value})
}

pub(crate) fn function(name: &str, params: &[Value]) -> Value {
    json!({"type": "function", "name": name, "params": params})
}

pub(crate) fn map(param: &str, body: Value, iterable: Value) -> Value {
    json!({"type": "map", "function": {"type": "lambda", "params": [param], "body": body}, "iterable": iterable})
}

/// A version 2 program.
pub(crate) fn recursive(definitions: Value, body: Value) -> Value {
    json!({"type": "program", "schema_version": "2.0", "definitions": definitions, "body": [body]})
}

pub(crate) fn literal(value: Value) -> Value {
    json!({"type": "literal", "value": value})
}

pub(crate) fn call(function: &str, arguments: &[Value]) -> Value {
    json!({"type": "call", "function": function, "arguments": arguments})
}

pub(crate) fn retrying(tool: &str, attempts: u32, delay: Duration) -> RetryPolicy {
    RetryPolicy {
        max_attempts: attempts.try_into().unwrap(),
        delay,
        idempotent_tools: [tool.to_owned()].into(),
        ..RetryPolicy::default()
    }
}
