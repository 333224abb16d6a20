//! Programs as tools (V11), and the executor as their provider.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::evaluator::CompiledProgram;
use windtunnel_core::executor::Executor;
use windtunnel_core::tool::{FunctionTool, Registry};
use windtunnel_proptests::cases::{ProgramArgument, ProgramCase, ProgramTool, ProgramTree};
use windtunnel_proptests::models::ProgramEnd;
use windtunnel_proptests::strategies::{programs, slow_tools};
use windtunnel_sim::World;

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{Turns, evaluate, evaluator, predict, read, told};

/// Another value of the same type, so that its place can take it.
fn changed(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => json!(!truth),
        Value::Number(number) => json!(number.as_i64()? + 1),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(elements) => elements.iter().rev().cloned().collect::<Vec<_>>().into(),
        Value::Object(_) => json!({"b": 1}),
    })
}

/// Other values for those of the arguments that `is_given` says.
fn given(arguments: &[ProgramArgument], is_given: &[bool]) -> BTreeMap<String, Value> {
    let chosen = arguments.iter().zip(is_given.iter().cycle()).filter(|(_, is_given)| **is_given);
    chosen.filter_map(|(argument, _)| Some((argument.name.clone(), changed(&argument.default)?))).collect()
}

fn has_all_tools(program: &ProgramTree) -> bool {
    !program.to_json().to_string().contains("missing\"")
}

fn check_compiled(case: &ProgramCase, is_given: &[bool]) -> Result<(), TestCaseError> {
    if !has_all_tools(&case.program) {
        return Ok(());
    }
    let arguments = case.program.arguments();
    let values = given(&arguments, is_given);
    let written = case.program.with_arguments(&values);
    let expected = read(&written.to_json())?;
    let program = read(&case.program.to_named_json("compiled", "Made for a property test."))?;
    let run = World::new(0).time_limit(Duration::MAX).run(|world| async move {
        let (evaluator, provider) = evaluator(case, &world, Turns::Written);
        let compiled = CompiledProgram::compile(&program, &provider).await.unwrap();
        let given: Map<_, _> = values.into_iter().collect();
        let by_arguments = compiled.evaluate(&evaluator, &given.into()).await.unwrap();
        let by_writing = evaluator.evaluate(&expected).await;
        let by_default = compiled.evaluate(&evaluator, &json!({})).await.unwrap();
        let plain = evaluator.evaluate(&program).await;
        let ends =
            [by_arguments, by_writing, by_default, plain].map(|evaluation| (told(&evaluation), evaluation.consumption));
        (ends, compiled.spec().parameters.clone())
    });
    let ([by_arguments, by_writing, by_default, plain], parameters) =
        run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(by_arguments, by_writing, "arguments are as if they were written");
    prop_assert_eq!(by_default, plain, "defaults are what is written");
    let declared: Vec<_> = parameters["properties"].as_object().unwrap().iter().collect();
    prop_assert_eq!(declared.len(), arguments.len());
    for ((name, schema), argument) in declared.into_iter().zip(arguments) {
        prop_assert_eq!((name, &schema["default"]), (&argument.name, &argument.default));
    }
    Ok(())
}

/// An executor with the tools, and with more if they are given.
fn registry() -> Registry {
    let mut registry = Registry::new();
    for tool in ProgramTool::ALL {
        let schema = json!({
            "type": "object", "properties": tool.properties(), "required": tool.required(),
            "additionalProperties": tool.has_input_schema(),
        });
        let body = move |arguments: std::sync::Arc<Value>, _| async move { Ok::<_, BoxError>(tool.value(&arguments)) };
        registry.register(FunctionTool::json(tool.name(), "Made for a property test.", schema, body)).unwrap();
    }
    registry
}

fn check_executor(program: &ProgramTree) -> Result<(), TestCaseError> {
    let case = ProgramCase::plain(program.clone());
    let prediction = predict(&case)?;
    let ProgramEnd::Value(value) = &prediction.end else { return Ok(()) };
    let is_prefixed = evaluate(&case)?;
    let program = read(&case.program.to_named_json("compiled", "Made for a property test."))?;
    let run = World::new(0).time_limit(Duration::MAX).run(|world| async move {
        let executor = Executor::builder(registry()).env(world.env()).sink(world.trace()).build();
        let evaluation = executor.evaluator().evaluate(&program).await;
        let compiled = match CompiledProgram::compile(&program, &executor).await {
            Ok(compiled) => {
                let mut registry = registry();
                registry.register(compiled).unwrap();
                let executor = Executor::builder(registry).env(world.env()).build();
                Some(executor.run("compiled", json!({})).await.unwrap())
            }
            Err(_) => None,
        };
        (evaluation.consumption, evaluation.into_value().unwrap(), compiled)
    });
    let (consumption, evaluated, compiled) = run.outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&evaluated, value);
    prop_assert_eq!(consumption, is_prefixed.consumption);
    if has_all_tools(&case.program) {
        prop_assert_eq!(compiled.as_ref(), Some(value), "the program is a tool of its executor");
    }
    Ok(())
}

proptest! {
    #![proptest_config(family!("program-compiled"))]

    #[test]
    fn arguments_are_as_if_they_were_written(program in programs(), tools in slow_tools(), is_given in vec(any::<bool>(), 1..6)) {
        check_compiled(&ProgramCase { tools, ..ProgramCase::plain(program) }, &is_given)?;
    }

    #[test]
    fn an_executor_is_a_provider_as_any(program in programs()) {
        check_executor(&program)?;
    }
}
