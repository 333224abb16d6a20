//! A program as a tool (V11).

use std::num::NonZeroU64;

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::evaluator::{CompileError, CompiledProgram, ExecutionLimits};
use windtunnel_core::executor::Executor;
use windtunnel_core::tool::{FunctionTool, Registry};

use super::toolbox::{Toolbox, call, function, literal, map, named, number, parse, single};
use crate::rig::{Rig, call as tool_call, verdict};

fn titled(mut program: Value) -> Value {
    program["name"] = json!("sum");
    program["description"] = json!("Adds.");
    program
}

fn add() -> FunctionTool {
    let integer = json!({"type": "integer"});
    let schema = json!({"type": "object", "properties": {"a": integer, "b": integer}, "required": ["a", "b"]});
    FunctionTool::json("add", "Adds.", schema, |arguments, _| async move {
        Ok::<_, BoxError>(json!(number(&arguments, "a") + number(&arguments, "b")))
    })
}

async fn registered(program: Value, limits: ExecutionLimits) -> Executor {
    let mut registry = Registry::new();
    registry.register(add()).unwrap();
    let compiled = CompiledProgram::compile(&parse(titled(program)), &Executor::new(registry.clone())).await.unwrap();
    registry.register(compiled.limits(limits)).unwrap();
    Executor::new(registry)
}

#[tokio::test]
async fn named_values_are_optional_arguments() {
    let program = single(function(
        "add",
        &[named("x", json!(1)), function("add", &[named("x", json!(2)), named("y", json!(3))])],
    ));
    let executor = registered(program, ExecutionLimits::default()).await;
    let parameters = &executor.registry().get("sum").unwrap().spec().parameters;
    assert_eq!(
        *parameters,
        json!({
            "type": "object",
            "properties": {
                "x": {"type": "integer", "default": 1},
                "x_2": {"type": "integer", "default": 2},
                "y": {"type": "integer", "default": 3},
            },
            "additionalProperties": false,
        })
    );
    assert_eq!(executor.run("sum", json!({})).await.unwrap(), json!(6));
    assert_eq!(executor.run("sum", json!({"x_2": 20, "y": 30})).await.unwrap(), json!(51));
    let wrong = executor.run("sum", json!({"x": "one"})).await.unwrap_err();
    assert!(wrong.to_string().starts_with("tool-args-invalid"), "{wrong}");
}

#[tokio::test]
async fn parameters_of_lambdas_are_no_arguments() {
    let body = function("add", &[named("n", json!(null)), named("by", json!(10))]);
    let executor = registered(single(map("n", body, named("items", json!([1, 2])))), ExecutionLimits::default()).await;
    let properties = &executor.registry().get("sum").unwrap().spec().parameters["properties"];
    assert_eq!(properties.as_object().unwrap().keys().collect::<Vec<_>>(), ["by", "items"]);
    assert_eq!(executor.run("sum", json!({"items": [5], "by": 1})).await.unwrap(), json!([6]));
}

#[tokio::test]
async fn literals_that_are_arguments_can_be_replaced() {
    let sum = |a: Value, b: Value| json!({"type": "tool_call", "tool": "add", "arguments": {"a": a, "b": b}});
    let program = json!({
        "schema_version": "2.0",
        "definitions": [{"name": "f", "params": ["n"], "body": sum(json!({"type": "variable", "name": "n"}), literal(json!(100)))}],
        "body": [call("f", &[literal(json!(1))])],
    });
    let executor = registered(program, ExecutionLimits::default()).await;
    let properties = executor.registry().get("sum").unwrap().spec().parameters["properties"].clone();
    assert_eq!(properties, json!({"n": {"default": 1}, "b": {"type": "integer", "default": 100}}));
    assert_eq!(executor.run("sum", json!({"n": 5})).await.unwrap(), json!(105));
    assert_eq!(executor.run("sum", json!({"n": 5, "b": 6})).await.unwrap(), json!(11));
}

#[tokio::test]
async fn a_memo_that_stands_twice_has_no_arguments() {
    let sum = |a: Value, b: Value| json!({"type": "tool_call", "tool": "add", "arguments": {"a": a, "b": b}});
    let memo = |key: &str| json!({"type": "memo", "key": key, "expression": sum(literal(json!(1)), literal(json!(2)))});
    let properties = async |body: Value| {
        let executor = registered(json!({"schema_version": "2.0", "body": [body]}), ExecutionLimits::default()).await;
        let properties = executor.registry().get("sum").unwrap().spec().parameters["properties"].clone();
        properties.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(properties(sum(memo("k"), literal(json!(3)))).await, ["a", "b", "b_2"]);
    assert!(properties(sum(memo("k"), memo("k"))).await.is_empty());
}

#[tokio::test]
async fn each_call_has_a_budget_of_its_own() {
    let limits = ExecutionLimits { max_tool_calls: NonZeroU64::new(1), ..ExecutionLimits::default() };
    let program = single(function("add", &[named("x", json!(1)), named("y", json!(2))]));
    let executor = registered(program.clone(), limits).await;
    for _ in 0..3 {
        assert_eq!(executor.run("sum", json!({})).await.unwrap(), json!(3));
    }
    let nested = single(function(
        "add",
        &[named("x", json!(1)), function("add", &[named("x", json!(1)), named("y", json!(2))])],
    ));
    let error = registered(nested, limits).await.run("sum", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "tool-error: the limit of 1 tool_calls is crossed");
}

#[tokio::test]
async fn a_compiled_program_is_a_tool_of_another() {
    let inner = single(function("add", &[named("x", json!(1)), named("y", json!(2))]));
    let executor = registered(inner, ExecutionLimits::default()).await;
    let outer = parse(single(function("add", &[function("sum", &[named("v", json!(10))]), function("sum", &[])])));
    assert_eq!(executor.evaluator().evaluate(&outer).await.into_value().unwrap(), json!(15));
}

#[tokio::test]
async fn a_program_that_calls_itself_is_refused_in_time() {
    // V9, V11
    let calls_itself = titled(json!({"schema_version": "2.0", "body": [{"type": "tool_call", "tool": "sum"}]}));
    let mut registry = Registry::new();
    registry
        .register(FunctionTool::json("sum", "Stands in.", json!({}), |_, _| async { Ok::<_, BoxError>(()) }))
        .unwrap();
    let compiled = CompiledProgram::compile(&parse(calls_itself), &Executor::new(registry)).await.unwrap();
    let mut registry = Registry::new();
    registry.register(compiled).unwrap();
    let error = Executor::new(registry).run("sum", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "tool-error: it is nested in 16 calls: programs seem to call each other");
}

#[tokio::test]
async fn its_calls_are_nested_in_the_call_of_it() {
    let rig = Rig::new([add()]);
    let program = parse(titled(single(function("add", &[named("x", json!(1)), named("y", json!(2))]))));
    let compiled = CompiledProgram::compile(&program, &rig.executor).await.unwrap();
    let prepared = windtunnel_core::tool::PreparedTool::new(compiled).unwrap();
    assert_eq!(verdict(&rig.executor.run_spec(&prepared, json!({})).await.unwrap()), "ok");
    let events = rig.log.events();
    let outer = events[0].call_id.clone();
    let started: Vec<_> = events.iter().filter(|event| event.kind.name() == "tool.started").collect();
    assert_eq!((started.len(), &started[1].parent_id), (2, &outer));
    assert!(events.iter().any(|event| event.kind.name() == "program.started" && event.parent_id == outer));
    assert!(events.iter().all(|event| event.run_id == events[0].run_id));
    let _unused = tool_call("x", "add");
}

#[tokio::test]
async fn what_cannot_be_compiled_says_why() {
    let toolbox = Toolbox::arithmetic();
    let compile =
        async |program: Value| CompiledProgram::compile(&parse(program), &toolbox).await.map(|_| ()).unwrap_err();
    let plain = single(function("add", &[named("x", json!(1)), named("y", json!(2))]));
    assert!(matches!(compile(plain.clone()).await, CompileError::MissingName));
    let mut named_only = plain;
    named_only["name"] = json!("sum");
    assert!(matches!(compile(named_only).await, CompileError::MissingDescription { .. }));
    let error = compile(titled(single(function("none", &[])))).await;
    assert_eq!(error.to_string(), "the program calls tool \"none\": there is no such tool");
}
