//! A case's tool that is answered from a cassette.

use std::sync::Arc;

use serde_json::Value;
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{Tool, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_fixtures::replay::ReplayTool;

use crate::script::{Invocation, Invocations};

/// Logs the attempts that reach it, as a scripted tool does.
#[derive(Debug)]
pub(super) struct RecordedTool {
    tool: ReplayTool,
    name: Arc<str>,
    invocations: Invocations,
}

impl RecordedTool {
    pub(super) fn new(tool: ReplayTool, invocations: Invocations) -> Self {
        let name = tool.spec().name.into();
        Self { tool, name, invocations }
    }
}

impl Tool for RecordedTool {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        self.invocations.push(Invocation {
            tool: Arc::clone(&self.name),
            arguments: Arc::clone(&arguments),
            call_id: context.call_id().into(),
            attempt: context.attempt(),
        });
        self.tool.call(arguments, context)
    }
}
