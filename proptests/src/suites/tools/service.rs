//! The tools at the far end.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use windtunnel_core::BoxFuture;
use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider};
use windtunnel_core::tool::{Cancelled, Interrupted};

use crate::cases::{SessionEnding, SessionTool, ToolSession};
use crate::suites::turns::pauses;

/// The tools that a provider under test offers: they do as a [`ToolSession`] says, and note how they are called. Clones
/// share the notes.
///
/// A provider that goes over another one is put over this, which is a provider. One that has tools of its own kind is given
/// the [tools](Self::tools), each of which [plays](Self::play) its calls.
///
/// ```
/// use windtunnel_core::evaluator::ToolProvider;
/// use windtunnel_proptests::suites::ToolService;
///
/// let service = ToolService::new(Default::default());
/// let _provider: &dyn ToolProvider = &service;
/// assert!(service.tools().is_empty() && service.calls().is_empty());
/// ```
#[derive(Clone)]
pub struct ToolService {
    session: Arc<ToolSession>,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Default)]
struct Notes {
    calls: Vec<(String, Value)>,
    running: usize,
}

/// The secret cause of every failure, which no message may have.
pub(super) const SECRET: &str = "password of the database";

impl ToolService {
    /// Tools that do so.
    pub fn new(session: ToolSession) -> Self {
        Self { session: Arc::new(session), notes: Arc::default() }
    }

    /// The tools.
    pub fn tools(&self) -> &[SessionTool] {
        &self.session.tools
    }

    /// The calls that arrived so far, in order: the tool and its arguments.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.notes.lock().calls.clone()
    }

    /// How many calls are running.
    pub fn running(&self) -> usize {
        self.notes.lock().running
    }

    /// The cause of failures. It must stay reachable in code only: no message may have its text.
    pub fn cause(&self) -> &'static str {
        SECRET
    }

    /// Plays one call of the tool `tool`, and says what comes of it. A call that is not in the session returns null.
    pub async fn play(&self, tool: &str, arguments: &Value) -> SessionEnding {
        let _running = Running::begin(self, tool, arguments);
        let number = arguments["call"].as_u64().and_then(|number| usize::try_from(number).ok());
        let Some(call) = number.and_then(|number| self.session.calls.get(number)) else {
            return SessionEnding::Value(Value::Null);
        };
        pauses(call.pauses).await;
        call.ending.clone()
    }

    fn definition_of(tool: &SessionTool) -> Result<Arc<ToolDefinition>, ProviderError> {
        let schema = tool.input_schema();
        let defined = ToolDefinition::with_input_schema(tool.name.as_str(), tool.description.as_str(), &schema);
        Ok(Arc::new(defined?))
    }

    fn tool(&self, name: &str) -> Result<&SessionTool, ProviderError> {
        let found = self.tools().iter().find(|tool| tool.name == name);
        found.ok_or_else(|| ToolFailure::not_found().into())
    }
}

impl ToolProvider for ToolService {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { self.tools().iter().map(Self::definition_of).collect() })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let tool = self.tool(call.tool)?;
            let checked = Self::definition_of(tool)?.check(&call.arguments);
            checked.map_err(|error| ToolFailure::arguments(error.to_string()))?;
            let failure = match self.play(call.tool, &call.arguments).await {
                SessionEnding::Value(value) => return Ok(value),
                SessionEnding::Interrupted => return Err(Interrupted::new(Cancelled).into()),
                SessionEnding::Fails { message } => ToolFailure::execution(message),
                SessionEnding::TimesOut => ToolFailure::timeout(),
                SessionEnding::Refused { message } => ToolFailure::refused(message),
                SessionEnding::RejectsArguments { message } => ToolFailure::arguments(message),
            };
            Err(failure.with_source(SECRET).into())
        })
    }
}

/// Counts a call as running until it is dropped.
struct Running(Arc<Mutex<Notes>>);

impl Running {
    fn begin(service: &ToolService, tool: &str, arguments: &Value) -> Self {
        let mut notes = service.notes.lock();
        notes.calls.push((tool.to_owned(), arguments.clone()));
        notes.running += 1;
        Self(Arc::clone(&service.notes))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}

impl fmt::Debug for ToolService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ToolService").field("tools", &self.session.tools.len()).finish_non_exhaustive()
    }
}
