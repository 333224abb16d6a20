//! From sketches to lambdas in lambdas, over lists that are not empty, so that all of them are applied.

use serde_json::{Value, json};
use windtunnel_core::evaluator::Mode;

use super::builder1::{Kind, Scope, inside, node};
use super::sketch::Sketch;
use crate::cases::{FunctionNode, HigherOrderNode, ListOperation, ProgramTool, Version1Node, Version1Program};

/// How many lambdas are in each other.
const LEVELS: usize = 3;

pub(super) fn program(sketch: &Sketch, mode: Mode) -> Version1Program {
    let scope = Scope::default();
    let body = match sketch.choice % 4 {
        0 => applied(ListOperation::Filter, LEVELS, sketch, &scope),
        1 => reduced(LEVELS, sketch, &scope),
        _ => applied(ListOperation::Map, LEVELS, sketch, &scope),
    };
    Version1Program { body: vec![body], mode }
}

fn call(tool: ProgramTool, params: Vec<Version1Node>) -> FunctionNode {
    FunctionNode { tool: tool.name().to_owned(), is_prefixed: false, params }
}

fn list(sketch: &Sketch) -> Version1Node {
    let lists = [json!([1, 2]), json!([3]), json!([2, 0, 5]), json!([-1, 4])];
    Version1Node::Value { name: "items".to_owned(), value: sketch.pick(&lists).clone() }
}

/// A number: what a reduce comes to, or at the last level a plain one, which may be a parameter of any lambda around.
fn number(levels: usize, sketch: &Sketch, scope: &Scope) -> Version1Node {
    if levels > 0 && sketch.choice % 5 < 4 {
        return reduced(levels, sketch, scope);
    }
    let leaf = Sketch { parts: Vec::new(), ..sketch.clone() };
    node(Kind::Number, &leaf, scope, "v")
}

fn applied(operation: ListOperation, levels: usize, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let name = *sketch.pick(&["x", "y", "x", "acc"]);
    let placeholder = if sketch.choice.is_multiple_of(2) { Value::Null } else { json!(3) };
    let inner = inside(scope, &[(name, Kind::Number, placeholder.clone())]);
    let item = Version1Node::Value { name: name.to_owned(), value: placeholder };
    let tool = match operation {
        ListOperation::Filter => ProgramTool::GreaterThan,
        _ => *sketch.part(0).pick(&[ProgramTool::Subtract, ProgramTool::Multiply, ProgramTool::Pair]),
    };
    let other = number(levels - 1, sketch.part(1), &inner);
    Version1Node::HigherOrder(Box::new(HigherOrderNode {
        operation,
        params: vec![name.to_owned()],
        body: call(tool, vec![item, other]),
        iterable: list(sketch.part(0)),
    }))
}

/// A reduce over a list, or over what a map makes of one.
fn reduced(levels: usize, sketch: &Sketch, scope: &Scope) -> Version1Node {
    let names = [("acc", "item"), ("x", "item"), ("acc", "x"), ("y", "x"), ("item", "acc")];
    let (accumulator, item) = *sketch.pick(&names);
    let initializer = if sketch.choice.is_multiple_of(2) { Value::Null } else { json!(10) };
    let inner = inside(scope, &[(accumulator, Kind::Number, initializer.clone()), (item, Kind::Number, json!(5))]);
    let other = number(levels - 1, sketch.part(1), &inner);
    let accumulated = Version1Node::Value { name: accumulator.to_owned(), value: initializer };
    // Whichever comes first with the accumulator's name says where it starts.
    let is_first = sketch.part(0).choice.is_multiple_of(2);
    let sum = if is_first { vec![accumulated, other] } else { vec![other, accumulated] };
    let sum = Version1Node::Function(call(*sketch.part(0).pick(&[ProgramTool::Subtract, ProgramTool::Add]), sum));
    let item_node = Version1Node::Value { name: item.to_owned(), value: json!(5) };
    let iterable = match levels > 1 && sketch.part(2).choice.is_multiple_of(3) {
        true => applied(ListOperation::Map, levels - 1, sketch.part(2), scope),
        false => list(sketch.part(0)),
    };
    Version1Node::HigherOrder(Box::new(HigherOrderNode {
        operation: ListOperation::Reduce,
        params: vec![accumulator.to_owned(), item.to_owned()],
        body: call(ProgramTool::Subtract, vec![sum, item_node]),
        iterable,
    }))
}
