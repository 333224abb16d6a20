//! What is called, and in what context.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::approval::{ApprovalPort, Decision};
use super::cache::Cache;
use super::ledger::Ledger;
use crate::event::Sink;

/// One call of a tool.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::executor::ToolCall;
///
/// let call = ToolCall::new("fetch_invoice", json!({"number": "INV-7"})).with_id("call-123");
/// assert_eq!(call.name, "fetch_invoice");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id; the executor gives one if it is empty. A repeat of the same id, tool and arguments in one run is
    /// the same call (E7): it passes the run's guards and is not counted again. Its body does run again.
    #[serde(default)]
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, an object.
    pub arguments: Value,
}

impl ToolCall {
    /// A call without an id.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { id: String::new(), name: name.into(), arguments }
    }

    /// The same call with an id.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: id.into(), ..self }
    }
}

/// The context that calls are made in. The default is a fresh run for each call or batch (E9).
///
/// ```
/// use windtunnel_core::executor::CallContext;
///
/// let context = CallContext { run_id: "run-42".to_owned(), ..CallContext::default() };
/// assert!(context.approval.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallContext {
    /// The run; empty for a fresh one.
    pub run_id: String,
    /// The id of a call that has none of its own; empty for a fresh one. Batches ignore it.
    pub call_id: String,
    /// The conversation, for rules and hooks to see.
    pub thread_id: Option<String>,
    /// A decision made beforehand: it covers one call of `run`, `run_spec` or `run_call`, the first made through the
    /// handle that has this context, if `call_id` is empty or that call's (E8). A run scope takes none.
    pub approval: Option<Decision>,
    /// Ports that win over the executor's.
    pub ports: Ports,
}

/// The ports of an executor, or of one context.
#[derive(Clone, Default)]
pub struct Ports {
    /// Who approves.
    pub approval: Option<Arc<dyn ApprovalPort>>,
    /// Where values are cached.
    pub cache: Option<Arc<dyn Cache>>,
    /// Where finished calls are recorded.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// Where events go.
    pub sink: Option<Arc<dyn Sink>>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ports")
            .field("approval", &self.approval.is_some())
            .field("cache", &self.cache.is_some())
            .field("ledger", &self.ledger.is_some())
            .field("sink", &self.sink.is_some())
            .finish()
    }
}
