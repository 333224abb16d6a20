//! A tool that takes faults.

use std::sync::Arc;

use serde_json::Value;
use windtunnel_core::event::Subject;
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{ArgumentsError, Tool, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};

use super::Faults;

/// A tool that takes faults ([`Faults::tool`]).
#[derive(Debug)]
pub struct FaultyTool<T> {
    tool: T,
    faults: Faults,
    name: Arc<str>,
}

impl<T: Tool> FaultyTool<T> {
    pub(super) fn new(tool: T, faults: Faults) -> Self {
        let name = tool.spec().name.into();
        Self { tool, faults, name }
    }
}

impl<T: Tool> Tool for FaultyTool<T> {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            let subject =
                Subject { run_id: context.run_id().into(), call_id: Some(context.call_id().into()), parent_id: None };
            let body = || self.tool.call(Arc::clone(&arguments), context.clone());
            self.faults.call_of(&self.name, &subject, body, |value| Ok(broken_off(&value))).await
        })
    }

    fn check(&self, arguments: &Value) -> Result<(), ArgumentsError> {
        self.tool.check(arguments)
    }
}

/// The first half of the value's JSON text: what is left of an answer that was cut.
fn broken_off(value: &Value) -> Value {
    let text = value.to_string();
    let half = text.floor_char_boundary(text.len() / 2);
    Value::String(text[..half].to_owned())
}
