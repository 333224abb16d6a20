//! Tools, and calls of them.

use serde_json::{Map, Value, json};

/// Some tools, and calls of them that all differ: each has its number among its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSession {
    /// The tools, of different names.
    pub tools: Vec<SessionTool>,
    /// The calls, in no order: any of them may be made at any time, and again.
    pub calls: Vec<SessionCall>,
}

/// One tool. Its arguments are `call`, the number of the call, which is required, and one more of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTool {
    /// The name.
    pub name: String,
    /// What a model reads.
    pub description: String,
    /// The name of its own argument.
    pub own: String,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCall {
    /// Of which tool, in a circle.
    pub tool: usize,
    /// The tool's own argument, if it is given.
    pub own: Option<Value>,
    /// What comes of it, in every attempt.
    pub ending: SessionEnding,
    /// How many turns of others it takes.
    pub pauses: u8,
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEnding {
    /// It returns.
    Value(Value),
    /// The tool fails, and says why; another attempt may succeed.
    Fails {
        /// What anybody may read.
        message: String,
    },
    /// It takes too long; another attempt may succeed.
    TimesOut,
    /// It is refused, as by a budget or a reviewer.
    Refused {
        /// What anybody may read.
        message: String,
    },
    /// The tool does not take these arguments, though its schema does.
    RejectsArguments {
        /// What anybody may read.
        message: String,
    },
    /// Control flow ends it.
    Interrupted,
}

impl ToolSession {
    /// The tool and the arguments of the call at `number`.
    pub fn call(&self, number: usize) -> Option<(&SessionTool, Value)> {
        let call = self.calls.get(number)?;
        let tool = self.tools.get(call.tool.checked_rem(self.tools.len())?)?;
        let mut arguments = Map::from_iter([("call".to_owned(), json!(number))]);
        arguments.extend(call.own.clone().map(|own| (tool.own.clone(), own)));
        Some((tool, Value::Object(arguments)))
    }
}

impl SessionTool {
    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"call": {"type": "integer", "minimum": 0}, self.own.as_str(): {}},
            "required": ["call"],
            "additionalProperties": false,
        })
    }

    /// Arguments that the schema does not take.
    pub fn bad_arguments(&self) -> Vec<Value> {
        vec![
            json!({}),
            json!({"call": "0"}),
            json!({"call": -1}),
            json!({"call": null}),
            json!({"call": 0, "other": 1}),
        ]
    }
}
