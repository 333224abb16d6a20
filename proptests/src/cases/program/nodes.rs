//! Which kinds of node a program is written with.

use std::collections::BTreeMap;

use super::{Expression, FunctionNode, ListOperation, ProgramTree, Version1Node};

/// A kind of node of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// Version 1: a program inside a program.
    Program,
    /// Version 1.
    Value,
    /// Version 1.
    Function,
    /// Both versions.
    Conditional,
    /// Version 1: without a false branch.
    HalfConditional,
    /// Version 1.
    Map,
    /// Version 1.
    Filter,
    /// Version 1.
    Reduce,
    /// Version 2.
    Literal,
    /// Version 2.
    Variable,
    /// Version 2.
    Call,
    /// Version 2.
    ToolCall,
    /// Version 2.
    Memo,
    /// Version 2.
    Definition,
}

impl NodeKind {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::Program,
        Self::Value,
        Self::Function,
        Self::Conditional,
        Self::HalfConditional,
        Self::Map,
        Self::Filter,
        Self::Reduce,
        Self::Literal,
        Self::Variable,
        Self::Call,
        Self::ToolCall,
        Self::Memo,
        Self::Definition,
    ];
}

impl ProgramTree {
    /// How many nodes of each kind the program is written with, without the outermost.
    pub fn node_kinds(&self) -> BTreeMap<NodeKind, usize> {
        let mut kinds = BTreeMap::new();
        match self {
            Self::Version1(program) => program.body.iter().for_each(|node| count_node(node, &mut kinds)),
            Self::Version2(program) => {
                for definition in &program.definitions {
                    add(NodeKind::Definition, &mut kinds);
                    count_expression(&definition.body, &mut kinds);
                }
                program.body.iter().for_each(|expression| count_expression(expression, &mut kinds));
            }
        }
        kinds
    }
}

fn add(kind: NodeKind, kinds: &mut BTreeMap<NodeKind, usize>) {
    *kinds.entry(kind).or_default() += 1;
}

fn count_function(function: &FunctionNode, kinds: &mut BTreeMap<NodeKind, usize>) {
    add(NodeKind::Function, kinds);
    function.params.iter().for_each(|param| count_node(param, kinds));
}

fn count_node(node: &Version1Node, kinds: &mut BTreeMap<NodeKind, usize>) {
    match node {
        Version1Node::Value { .. } => add(NodeKind::Value, kinds),
        Version1Node::Function(function) => count_function(function, kinds),
        Version1Node::Conditional { condition, true_branch, false_branch } => {
            let kind = if false_branch.is_some() { NodeKind::Conditional } else { NodeKind::HalfConditional };
            add(kind, kinds);
            [Some(condition), Some(true_branch), false_branch.as_ref()]
                .into_iter()
                .flatten()
                .for_each(|part| count_node(part, kinds));
        }
        Version1Node::HigherOrder(node) => {
            add(
                match node.operation {
                    ListOperation::Map => NodeKind::Map,
                    ListOperation::Filter => NodeKind::Filter,
                    ListOperation::Reduce => NodeKind::Reduce,
                },
                kinds,
            );
            count_function(&node.body, kinds);
            count_node(&node.iterable, kinds);
        }
        Version1Node::Program(program) => {
            add(NodeKind::Program, kinds);
            program.body.iter().for_each(|node| count_node(node, kinds));
        }
    }
}

fn count_expression(expression: &Expression, kinds: &mut BTreeMap<NodeKind, usize>) {
    match expression {
        Expression::Literal(_) => add(NodeKind::Literal, kinds),
        Expression::Variable(_) => add(NodeKind::Variable, kinds),
        Expression::Call { arguments, .. } => {
            add(NodeKind::Call, kinds);
            arguments.iter().for_each(|argument| count_expression(argument, kinds));
        }
        Expression::ToolCall { arguments, .. } => {
            add(NodeKind::ToolCall, kinds);
            arguments.iter().for_each(|(_, argument)| count_expression(argument, kinds));
        }
        Expression::Conditional { condition, true_branch, false_branch } => {
            add(NodeKind::Conditional, kinds);
            [condition, true_branch, false_branch].into_iter().for_each(|part| count_expression(part, kinds));
        }
        Expression::Memo { expression, .. } => {
            add(NodeKind::Memo, kinds);
            count_expression(expression, kinds);
        }
    }
}
