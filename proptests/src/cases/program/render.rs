//! Typed programs as JSON.

use serde_json::{Map, Value, json};

use super::{
    DefinitionTree, Expression, FunctionNode, HigherOrderNode, ListOperation, ProgramTree, Version1Node,
    Version1Program, Version2Program,
};

impl ProgramTree {
    /// The program's JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Version1(program) => program.to_json(),
            Self::Version2(program) => program.to_json(),
        }
    }

    /// The program's JSON, with the name and the description that a tool needs.
    pub fn to_named_json(&self, name: &str, description: &str) -> Value {
        let mut json = self.to_json();
        json["name"] = name.into();
        json["description"] = description.into();
        json
    }
}

impl Version1Program {
    fn to_json(&self) -> Value {
        let body: Vec<_> = self.body.iter().map(Version1Node::to_json).collect();
        json!({"type": "program", "mode": self.mode.as_str(), "body": body})
    }
}

impl Version1Node {
    fn to_json(&self) -> Value {
        match self {
            Self::Value { name, value } => json!({"type": "value", "name": name, "value": value}),
            Self::Function(function) => function.to_json(),
            Self::Conditional { condition, true_branch, false_branch } => {
                let mut json = json!({
                    "type": "conditional", "condition": condition.to_json(), "true_branch": true_branch.to_json(),
                });
                if let Some(branch) = false_branch {
                    json["false_branch"] = branch.to_json();
                }
                json
            }
            Self::HigherOrder(node) => node.to_json(),
            Self::Program(program) => program.to_json(),
        }
    }
}

impl FunctionNode {
    fn to_json(&self) -> Value {
        let prefix = if self.is_prefixed { "functions." } else { "" };
        let params: Vec<_> = self.params.iter().map(Version1Node::to_json).collect();
        json!({"type": "function", "name": format!("{prefix}{}", self.tool), "params": params})
    }
}

impl HigherOrderNode {
    fn to_json(&self) -> Value {
        let kind = match self.operation {
            ListOperation::Map => "map",
            ListOperation::Filter => "filter",
            ListOperation::Reduce => "reduce",
        };
        let lambda = json!({"type": "lambda", "params": self.params, "body": self.body.to_json()});
        json!({"type": kind, "function": lambda, "iterable": self.iterable.to_json()})
    }
}

impl Version2Program {
    fn to_json(&self) -> Value {
        let definitions: Vec<_> = self.definitions.iter().map(DefinitionTree::to_json).collect();
        let body: Vec<_> = self.body.iter().map(Expression::to_json).collect();
        json!({
            "type": "program", "schema_version": "2.0", "mode": self.mode.as_str(), "definitions": definitions,
            "body": body,
        })
    }
}

impl DefinitionTree {
    fn to_json(&self) -> Value {
        json!({"type": "function_definition", "name": self.name, "params": self.params, "body": self.body.to_json()})
    }
}

impl Expression {
    fn to_json(&self) -> Value {
        match self {
            Self::Literal(value) => json!({"type": "literal", "value": value}),
            Self::Variable(name) => json!({"type": "variable", "name": name}),
            Self::Call { function, arguments } => {
                let arguments: Vec<_> = arguments.iter().map(Self::to_json).collect();
                json!({"type": "call", "function": function, "arguments": arguments})
            }
            Self::ToolCall { tool, arguments } => {
                let arguments: Map<_, _> =
                    arguments.iter().map(|(name, argument)| (name.clone(), argument.to_json())).collect();
                json!({"type": "tool_call", "tool": tool, "arguments": arguments})
            }
            Self::Conditional { condition, true_branch, false_branch } => json!({
                "type": "conditional", "condition": condition.to_json(), "true_branch": true_branch.to_json(),
                "false_branch": false_branch.to_json(),
            }),
            Self::Memo { key, expression } => json!({"type": "memo", "key": key, "expression": expression.to_json()}),
        }
    }
}
