//! No depth overflows the stack (V9): on a small one, a million levels are evaluated, cancelled and dropped.

use std::num::NonZeroU64;

use serde_json::json;
use tokio_test::task::spawn;
use windtunnel_core::evaluator::{Evaluation, ExecutionLimits, Program};

use super::toolbox::Toolbox;
use crate::rig::ms;

const LEVELS: usize = 1_000_000;
const STACK_BYTES: usize = 256 * 1024;

fn on_a_small_stack(test: impl FnOnce(tokio::runtime::Runtime) + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || test(runtime)).unwrap().join().unwrap();
}

/// `echo(echo(…))` of version 1, with a sibling at each level if `pairs`.
fn nested(levels: usize, pairs: bool) -> Program {
    let (tool, sibling) =
        if pairs { ("add", r#",{"type":"function","name":"one","params":[]}"#) } else { ("echo", "") };
    let open = format!(r#"{{"type":"function","name":"{tool}","params":["#).repeat(levels);
    let leaf = r#"{"type":"value","name":"v","value":1}"#;
    let close = format!("{sibling}]}}").repeat(levels);
    let text = format!(r#"{{"type":"program","mode":"single","body":[{open}{leaf}{close}]}}"#);
    Program::parse(&text, Program::BOUNDS).unwrap()
}

/// `f() = add(1, f())`.
fn recursion() -> Program {
    let f = json!({"type": "call", "function": "f"});
    let body = json!({"type": "tool_call", "tool": "add", "arguments": {"a": {"type": "literal", "value": 1}, "b": f}});
    Program::from_value(&json!({"schema_version": "2.0", "definitions": [{"name": "f", "body": body}], "body": [f]}))
        .unwrap()
}

fn toolbox() -> Toolbox {
    Toolbox::arithmetic().tool("one", &[], std::time::Duration::ZERO, |_, _| Ok(json!(1))).tool(
        "slow",
        &[],
        ms(1_000_000),
        |_, _| Ok(json!(1)),
    )
}

fn crosses(evaluation: &Evaluation, resource: &str) -> bool {
    evaluation.result.as_ref().is_err_and(|error| error.limit().unwrap().resource.as_str() == resource)
}

#[test]
fn a_deep_tree_is_evaluated() {
    on_a_small_stack(|runtime| {
        let evaluation = runtime.block_on(toolbox().evaluator().evaluate(&nested(LEVELS, false)));
        assert_eq!(evaluation.consumption.peak_depth as usize, LEVELS + 2);
        assert_eq!(evaluation.into_value().unwrap(), json!(1));
    });
}

#[test]
fn a_deep_tree_of_siblings_fails_and_is_dropped() {
    on_a_small_stack(|runtime| {
        let levels = LEVELS / 10;
        let limits = ExecutionLimits { max_depth: NonZeroU64::new(levels as u64 + 1), ..ExecutionLimits::default() };
        let evaluation = runtime.block_on(toolbox().evaluator().limits(limits).evaluate(&nested(levels, true)));
        assert!(crosses(&evaluation, "depth"));
    });
}

#[test]
fn a_deep_recursion_fails_and_is_dropped() {
    on_a_small_stack(|runtime| {
        let limits = ExecutionLimits { max_call_depth: NonZeroU64::new(LEVELS as u64), ..ExecutionLimits::default() };
        let evaluation = runtime.block_on(toolbox().evaluator().limits(limits).evaluate(&recursion()));
        assert!(crosses(&evaluation, "call_depth"));
    });
}

#[test]
fn a_deep_recursion_is_cancelled() {
    on_a_small_stack(|runtime| {
        let (toolbox, program) = (toolbox(), recursion());
        let evaluator = toolbox.evaluator();
        let _entered = runtime.enter();
        let mut evaluation = spawn(evaluator.evaluate(&program));
        for _ in 0..LEVELS / 200 {
            assert!(evaluation.poll().is_pending());
        }
        drop(evaluation);
        assert_eq!(toolbox.running(), 0);
    });
}

/// Programs in programs, each a list of two.
fn nested_lists(levels: usize) -> Program {
    let open = r#"{"type":"program","mode":"parallel","body":[{"type":"value","name":"v","value":1},"#.repeat(levels);
    let close = "]}".repeat(levels);
    let leaf = r#"{"type":"value","name":"v","value":1}"#;
    Program::parse(&format!("{open}{leaf}{close}"), Program::BOUNDS).unwrap()
}

#[test]
fn values_are_as_deep_as_they_can_be_dropped() {
    on_a_small_stack(|runtime| {
        let evaluate = |levels| runtime.block_on(toolbox().evaluator().evaluate(&nested_lists(levels))).into_value();
        assert!(evaluate(128).is_ok());
        let message = "the value has more than 128 levels of lists and objects";
        assert!(evaluate(129).unwrap_err().to_string().ends_with(message));
        assert!(evaluate(100_000).unwrap_err().to_string().ends_with(message));
    });
}

#[test]
fn an_answer_that_is_too_deep_is_refused() {
    on_a_small_stack(|runtime| {
        let toolbox = Toolbox::default().tool("deep", &[], std::time::Duration::ZERO, |_, _| {
            Ok((0..100_000).fold(json!(1), |inner, _| serde_json::Value::Array(vec![inner])))
        });
        let program = super::toolbox::parse(super::toolbox::single(super::toolbox::function("deep", &[])));
        let error = runtime.block_on(toolbox.evaluator().evaluate(&program)).into_value().unwrap_err();
        assert_eq!(error.to_string(), "tool \"deep\": its answer has more than 128 levels");
    });
}
