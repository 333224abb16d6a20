//! The tools of a program, each scripted or answered from a cassette.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolDefinition, ToolProvider};
use windtunnel_fixtures::replay::ToolReplayProvider;

use super::tools::CaseTool;
use crate::case::cassettes::Playing;
use crate::script::{Invocation, Invocations, ScriptedProvider};

/// The tools of a program. Of those that a cassette answers for, the script is only their definition.
pub(super) struct CaseProvider {
    scripted: ScriptedProvider,
    recorded: BTreeMap<String, ToolReplayProvider>,
    invocations: Invocations,
    /// Held until nothing is answered any more.
    _playing: Arc<Playing>,
}

impl CaseProvider {
    pub(super) fn new(tools: &[CaseTool], playing: Arc<Playing>, env: Env, invocations: Invocations) -> Self {
        let functions = tools.iter().map(|tool| tool.function(&env).log_to(invocations.clone()));
        let recorded = tools
            .iter()
            .filter_map(|tool| Some((tool.definition.name().to_owned(), playing.tool_provider(tool.cassette?))));
        let (scripted, recorded) = (ScriptedProvider::new(env.clone(), functions), recorded.collect());
        Self { scripted, recorded, invocations, _playing: playing }
    }
}

impl ToolProvider for CaseProvider {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.scripted.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.scripted.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        let Some(recorded) = self.recorded.get(call.tool) else { return self.scripted.call(call) };
        self.invocations.push(Invocation {
            tool: call.tool.into(),
            arguments: Arc::new(call.arguments.clone()),
            call_id: call.call_id().into(),
            attempt: call.attempt,
        });
        recorded.call(call)
    }

    /// Parallel branches have lanes of their own in a cassette.
    fn needs_places(&self) -> bool {
        !self.recorded.is_empty()
    }
}
