//! A workflow: a name, and the places where its activations begin.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::context::{WorkflowContext, unknown_entry};
use super::decision::Decision;
use super::encoding::decode;
use super::error::DurableError;
use crate::BoxError;

/// What an entry comes to.
pub(super) type Entered = BoxFuture<'static, Result<Decision, BoxError>>;

type Entry = Arc<dyn Fn(WorkflowContext, &Value) -> Result<Entered, DurableError> + Send + Sync>;

/// A workflow with named entries. Each takes the state of a checkpoint and comes to a decision.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::BoxError;
/// use windtunnel_core::durable::{OperationKind, Workflow, WorkflowContext};
///
/// let refund = Workflow::new("refund")
///     .entry("start", |context: WorkflowContext, order: u64| async move {
///         let paid: u64 = context
///             .operation("tool:look-up", OperationKind::Tool, "orders:look_up", "1", json!({"id": order}), |_, _| async {
///                 Ok::<_, BoxError>(100)
///             })
///             .await?;
///         Ok::<_, BoxError>(context.continue_("pay", &paid)?)
///     })
///     .entry("pay", |context: WorkflowContext, amount: u64| async move {
///         context.complete(&json!({"paid": amount}))
///     });
/// assert_eq!(refund.entries().len(), 2);
/// ```
#[derive(Clone)]
pub struct Workflow {
    name: Arc<str>,
    entries: BTreeMap<Arc<str>, Entry>,
}

impl Workflow {
    /// A workflow without entries.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), entries: BTreeMap::new() }
    }

    /// Adds an entry, or replaces the one of that name. An attempt that ends with an error is made again, as the worker's
    /// policy says.
    #[must_use]
    pub fn entry<S, F, Fut, E>(mut self, name: impl Into<Arc<str>>, entry: F) -> Self
    where
        S: DeserializeOwned,
        F: Fn(WorkflowContext, S) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Decision, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let entry: Entry = Arc::new(move |context, state| {
            let entered = entry(context, decode("the state of the checkpoint", state)?);
            Ok(Box::pin(async move { entered.await.map_err(Into::into) }))
        });
        self.entries.insert(name.into(), entry);
        self
    }

    /// The name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The names of its entries.
    pub fn entries(&self) -> Vec<Arc<str>> {
        self.entries.keys().cloned().collect()
    }

    /// Whether there is such an entry.
    pub(super) fn check_entry(&self, entry: &str) -> Result<(), DurableError> {
        if self.entries.contains_key(entry) {
            return Ok(());
        }
        Err(unknown_entry(&self.name, entry, &self.entries()))
    }

    /// Begins an activation. What the entry does before it first waits happens here.
    pub(super) fn enter(&self, entry: &str, context: WorkflowContext, state: &Value) -> Result<Entered, DurableError> {
        match self.entries.get(entry) {
            Some(entry) => entry(context, state),
            None => Err(unknown_entry(&self.name, entry, &self.entries())),
        }
    }
}

impl fmt::Debug for Workflow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Workflow")
            .field("name", &self.name)
            .field("entries", &self.entries())
            .finish_non_exhaustive()
    }
}
