//! Our own providers.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolDefinition, ToolProvider};
use windtunnel_core::executor::Executor;
use windtunnel_core::tool::{CallError, Cancelled, ErrorKind, FunctionTool, Registry, ToolError};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_fixtures::record::{RecordedProvider, Recorder};
use windtunnel_proptests::cases::SessionEnding;
use windtunnel_proptests::suites::{ToolService, tool_provider_suite};

use crate::journals::store::folder;
use crate::suites::checked::settings;

/// An executor, whose tools are functions.
fn executor(service: ToolService, env: Env) -> Executor {
    let mut registry = Registry::new();
    for tool in service.tools() {
        let (played, name) = (service.clone(), tool.name.clone());
        let body = move |arguments: Arc<Value>, _| {
            let (played, name) = (played.clone(), name.clone());
            async move { result(played.play(&name, &arguments).await, played.cause()).await }
        };
        let function = FunctionTool::json(tool.name.as_str(), tool.description.as_str(), tool.input_schema(), body);
        registry.register(function.timeout(Duration::from_secs(5))).unwrap();
    }
    Executor::builder(registry).env(env).build()
}

async fn result(ending: SessionEnding, cause: &'static str) -> Result<Value, BoxError> {
    Err(match ending {
        SessionEnding::Value(value) => return Ok(value),
        SessionEnding::Fails { message } => ToolError::new(message).with_source(cause).into(),
        SessionEnding::TimesOut => return pending().await,
        SessionEnding::Refused { message } => CallError::new(ErrorKind::ApprovalDenied, message).into(),
        SessionEnding::RejectsArguments { message } => CallError::new(ErrorKind::ToolArgsInvalid, message).into(),
        SessionEnding::Interrupted => Cancelled.into(),
    })
}

/// Tools that are recorded, into a folder that goes with them.
struct Recorded {
    provider: RecordedProvider<ToolService>,
    _folder: TempDir,
}

impl Recorded {
    fn new(service: ToolService, env: Env) -> Self {
        let folder = folder();
        let recorder = Recorder::create(folder.path().join("c.json"), env).unwrap();
        Self { provider: recorder.tool_provider(service), _folder: folder }
    }
}

impl ToolProvider for Recorded {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        self.provider.list()
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        self.provider.definition(name)
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        self.provider.call(call)
    }
}

#[test]
fn an_executor_keeps_every_point() {
    let report = tool_provider_suite().run("the executor", &executor, &settings(64));
    report.assert_kept();
}

#[test]
fn tools_that_are_recorded_keep_every_point() {
    tool_provider_suite().run("recorded", &Recorded::new, &settings(12)).assert_kept();
}
