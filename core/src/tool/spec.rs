//! What a tool is and how it may be called (E1).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::executor::{CallContext, ToolCall};

/// A tool's name, schema and policy.
///
/// ```
/// use std::time::Duration;
/// use serde_json::json;
/// use windtunnel_core::tool::ToolSpec;
///
/// let spec = ToolSpec {
///     retries: 3,
///     timeout: Some(Duration::from_secs(2)),
///     ..ToolSpec::new("fetch_invoice", "Fetches an invoice.", json!({"type": "object"}))
/// };
/// assert_eq!(spec.kind, "fetch_invoice");
/// ```
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The name that calls use.
    pub name: String,
    /// What the model reads.
    pub description: String,
    /// The JSON Schema (2020-12) of the arguments.
    pub parameters: Value,
    /// How many attempts may follow the first. Default 0.
    pub retries: u32,
    /// How long one attempt may take. Default: no limit.
    pub timeout: Option<Duration>,
    /// The kind that `per_kind` caps count. Default: the name.
    pub kind: String,
    /// Whether other calls of the run may run beside it (E10). Default true. If false it takes the run's lock, except in
    /// a nested call: that takes no lock of its own.
    pub parallel_safe: bool,
    /// Whether it may be called only once in a run, repeats of the same call apart. Default false.
    pub once_per_run: bool,
    /// Whether a call needs approval (E8). Default never.
    pub confirm: Confirm,
    /// How long a value may be served from the cache (E11). Default: not cached.
    pub cache_ttl: Option<Duration>,
    /// Who shares cached values. Default: the run.
    pub cache_scope: CacheScope,
}

impl ToolSpec {
    /// A tool with the default policy.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        let name = name.into();
        Self {
            kind: name.clone(),
            name,
            description: description.into(),
            parameters,
            retries: 0,
            timeout: None,
            parallel_safe: true,
            once_per_run: false,
            confirm: Confirm::Never,
            cache_ttl: None,
            cache_scope: CacheScope::Run,
        }
    }
}

/// A rule over one call and the context it is made in.
pub type ConfirmRule = Arc<dyn Fn(&ToolCall, &CallContext) -> bool + Send + Sync>;

/// When a call needs approval.
#[derive(Clone, Default)]
pub enum Confirm {
    /// Never.
    #[default]
    Never,
    /// Always.
    Always,
    /// When the rule returns true. A rule that panics counts as true.
    When(ConfirmRule),
}

impl fmt::Debug for Confirm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Never => "Never",
            Self::Always => "Always",
            Self::When(_) => "When(..)",
        })
    }
}

/// Who shares a tool's cached values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheScope {
    /// The calls of one run.
    #[default]
    Run,
    /// All calls that use the same cache, while the tool's schema stays the same.
    Global,
}
