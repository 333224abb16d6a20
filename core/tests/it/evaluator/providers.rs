//! What a provider may do.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::BoxFuture;
use windtunnel_core::evaluator::{ErrorKind, Evaluator, ProviderCall, ProviderError, ToolDefinition, ToolProvider};

use super::toolbox::{Toolbox, function, parallel, parse, single, value};
use crate::rig::env;

#[tokio::test]
async fn a_tool_is_looked_up_once_in_an_evaluation() {
    let toolbox = Toolbox::arithmetic();
    let echo = || function("echo", &[value(json!(1))]);
    toolbox.evaluate(single(function("add", &[echo(), function("echo", &[echo()])]))).await.into_value().unwrap();
    assert_eq!(toolbox.lookups(), 2);
    // V6: it costs nothing.
    assert_eq!(toolbox.evaluate(parallel(&[])).await.consumption.tool_calls, 0);
}

#[tokio::test]
async fn version_1_asks_for_a_tool_before_its_parameters_and_version_2_after() {
    let toolbox = Toolbox::arithmetic();
    let first = single(function("none", &[function("echo", &[value(json!(1))])]));
    assert_eq!(toolbox.evaluate(first).await.consumption.nodes, 2);
    let echo = json!({"type": "tool_call", "tool": "echo", "arguments": {"value": {"type": "literal", "value": 1}}});
    let second =
        json!({"schema_version": "2.0", "body": [{"type": "tool_call", "tool": "none", "arguments": {"a": echo}}]});
    let evaluation = toolbox.evaluate(second).await;
    assert_eq!((evaluation.consumption.nodes, evaluation.consumption.tool_calls), (4, 1));
    assert_eq!(evaluation.into_value().unwrap_err().kind(), Some(ErrorKind::ToolNotFound));
}

/// Gives one tool's definition for every name, or panics.
struct Confused;

impl ToolProvider for Confused {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        Box::pin(async move {
            assert_ne!(name, "panic", "password=hunter2");
            let schema = if name == "bad" { json!({"type": 7}) } else { json!({}) };
            Ok(Arc::new(ToolDefinition::with_input_schema("other", "", &schema)?))
        })
    }

    fn call<'a>(&'a self, _call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        panic!("password=hunter2")
    }
}

#[tokio::test]
async fn what_a_provider_should_not_do_is_an_error() {
    for (tool, kind, message) in [
        ("some", ErrorKind::ProviderResponse, "tool \"some\": the provider gave the definition of \"other\" for it"),
        ("bad", ErrorKind::ProviderResponse, "tool \"bad\": the input schema of tool \"other\" does not serve: "),
        ("panic", ErrorKind::Unclassified, "tool \"panic\": it failed with an error that nothing classifies"),
        ("other", ErrorKind::Unclassified, "tool \"other\": it failed with an error that nothing classifies"),
    ] {
        let evaluator = Evaluator::new(Confused).env(env());
        let error = evaluator.evaluate(&parse(single(function(tool, &[])))).await.into_value().unwrap_err();
        assert_eq!(error.kind(), Some(kind), "{error}");
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

/// Gives a tool two properties, and later none.
struct Changing(std::sync::atomic::AtomicU32);

impl ToolProvider for Changing {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        Box::pin(async move {
            let time = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            crate::rig::yield_once().await;
            let properties = json!({"a": {}, "b": {}}).as_object().unwrap().clone();
            let properties = if time == 0 { properties } else { serde_json::Map::new() };
            Ok(Arc::new(ToolDefinition::with_properties(name, "", properties)?))
        })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move { Ok(call.arguments) })
    }
}

#[tokio::test]
async fn the_first_definition_holds_for_the_whole_evaluation() {
    let branch = || function("t", &[value(json!(1)), value(json!(2))]);
    let evaluator = Evaluator::new(Changing(std::sync::atomic::AtomicU32::new(0))).env(env());
    let answers = evaluator.evaluate(&parse(parallel(&[branch(), branch()]))).await.into_value().unwrap();
    assert_eq!(answers, json!([{"a": 1, "b": 2}, {"a": 1, "b": 2}]));
}

#[tokio::test]
async fn calls_have_ids_that_their_attempts_share() {
    let toolbox = Toolbox::default().tool("t", &[], Duration::ZERO, |_, _| Ok(json!(1)));
    let log = windtunnel_core::event::EventLog::new();
    let program = parse(parallel(&[function("t", &[]), function("t", &[])]));
    toolbox.evaluator().sink(log.clone()).evaluate(&program).await.into_value().unwrap();
    let mut ids: Vec<_> = log
        .events()
        .iter()
        .filter(|event| event.kind.name() == "program.call")
        .map(|event| event.call_id.clone())
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 2);
}
