//! What programs come to.

use serde_json::{Value, json};
use windtunnel_core::evaluator::Consumption;

use super::toolbox::{Toolbox, call, function, literal, map, named, parallel, recursive, single, value};

async fn check(program: Value, expected: Value, nodes: u64) {
    let evaluation = Toolbox::arithmetic().evaluate(program.clone()).await;
    assert_eq!(evaluation.consumption.nodes, nodes, "{program}");
    assert_eq!(evaluation.into_value().unwrap(), expected, "{program}");
}

fn add(a: Value, b: Value) -> Value {
    function("add", &[a, b])
}

fn variable(name: &str) -> Value {
    json!({"type": "variable", "name": name})
}

fn sum(a: Value, b: Value) -> Value {
    json!({"type": "tool_call", "tool": "add", "arguments": {"a": a, "b": b}})
}

#[tokio::test]
async fn every_evaluation_of_a_node_counts() {
    // V6
    check(single(add(value(json!(1)), value(json!(2)))), json!(3), 4).await;
    check(parallel(&[value(json!(1)), value(json!("x"))]), json!([1, "x"]), 3).await;
    check(parallel(&[]), json!([]), 1).await;
    // The map, its iterable, its lambda, and three nodes for each item.
    let incremented = map("n", add(named("n", json!(null)), value(json!(1))), value(json!([1, 2])));
    check(single(incremented), json!([2, 3]), 1 + 3 + 6).await;
}

#[tokio::test]
async fn a_conditional_takes_one_branch_or_none() {
    // V4
    let conditional = |condition: Value| {
        json!({
            "type": "conditional", "condition": value(condition), "true_branch": value(json!("yes")),
        })
    };
    check(single(conditional(json!([0]))), json!("yes"), 4).await;
    check(single(conditional(json!(0.0))), json!(null), 3).await;
}

#[tokio::test]
async fn filter_keeps_what_its_lambda_finds_true() {
    // V4: the item is kept, not what the lambda made of it.
    let filter = |items: Value| {
        let body = function("at_most", &[named("n", json!(null)), value(json!(2))]);
        json!({"type": "filter", "function": {"type": "lambda", "params": ["n"], "body": body}, "iterable": value(items)})
    };
    check(single(filter(json!([1, 3, 2, 4]))), json!([1, 2]), 1 + 3 + 4 * 3).await;
    check(single(filter(json!([]))), json!([]), 1 + 3).await;
}

#[tokio::test]
async fn reduce_begins_with_the_initializer_or_the_first_item() {
    // V4
    let reduce = |initializer: Value, items: Value| {
        let body = add(named("sum", initializer), named("n", json!(null)));
        json!({"type": "reduce", "function": {"type": "lambda", "params": ["sum", "n"], "body": body}, "iterable": value(items)})
    };
    check(single(reduce(json!(10), json!([1, 2]))), json!(13), 1 + 3 + 6).await;
    check(single(reduce(json!(null), json!([1, 2, 3]))), json!(6), 1 + 3 + 6).await;
    check(single(reduce(json!(null), json!([7]))), json!(7), 1 + 3).await;
    check(single(reduce(json!(10), json!([]))), json!(null), 1 + 2).await;
}

#[tokio::test]
async fn the_innermost_lambda_gives_a_name_its_value() {
    let inner = map("n", add(named("n", json!(null)), named("m", json!(0))), value(json!([10, 20])));
    let outer = map("m", function("echo", &[function("echo", &[named("m", json!(null))])]), value(json!([1, 2])));
    check(single(outer), json!([1, 2]), 1 + 3 + 2 * 3).await;
    let pairs = map("m", function("pair", &[named("m", json!(null)), inner]), value(json!([1])));
    let toolbox = Toolbox::arithmetic()
        .tool("pair", &["left", "right"], std::time::Duration::ZERO, |arguments, _| Ok(arguments.clone()));
    let evaluation = toolbox.evaluate(single(pairs)).await;
    // The inner lambda's other name is the outer one's parameter.
    assert_eq!(evaluation.into_value().unwrap(), json!([{"left": 1, "right": [11, 21]}]));
}

#[tokio::test]
async fn a_prefix_before_a_tools_name_is_dropped() {
    // V5
    check(single(function("functions.add", &[value(json!(1)), value(json!(2))])), json!(3), 4).await;
}

#[tokio::test]
async fn user_functions_see_their_own_parameters_only() {
    let definitions = json!([
        {"name": "twice", "params": ["n"], "body": sum(variable("n"), variable("n"))},
        {"name": "four_times", "params": ["m"], "body": call("twice", &[call("twice", &[variable("m")])])},
    ]);
    check(recursive(definitions, call("four_times", &[literal(json!(3))])), json!(12), 12).await;
}

#[tokio::test]
async fn what_was_used_can_be_read_afterwards() {
    let program = single(add(add(value(json!(1)), value(json!(2))), add(value(json!(3)), value(json!(4)))));
    let evaluation = Toolbox::arithmetic().evaluate(program).await;
    let bytes = evaluation.consumption.bytes;
    let expected =
        Consumption { nodes: 8, tool_calls: 3, bytes, peak_depth: 4, peak_call_depth: 0, peak_concurrency: 2 };
    assert_eq!(evaluation.consumption, expected);
}

#[tokio::test]
async fn an_evaluation_leaves_its_program_as_it_was() {
    // V3
    let program = super::toolbox::parse(single(add(value(json!(1)), value(json!(2)))));
    let text = program.to_json();
    let evaluator = Toolbox::arithmetic().evaluator();
    let (first, second) = futures_util::future::join(evaluator.evaluate(&program), evaluator.evaluate(&program)).await;
    assert_eq!((first.consumption, second.consumption.nodes), (second.consumption, 4));
    assert_eq!(program.to_json(), text);
}
