//! How a tool may be called.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use windtunnel_core::tool::{Confirm, ToolSpec};

/// The policies of tools, by name.
pub type Policies = BTreeMap<String, ToolPolicy>;

/// The part of a tool's specification (E1) that models and invariants need to know.
///
/// ```
/// use windtunnel_proptests::cases::ToolPolicy;
///
/// let spec = ToolPolicy { retries: 2, ..ToolPolicy::default() }.spec("search");
/// assert_eq!(ToolPolicy::of(&spec).retries, 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// How many attempts may follow the first.
    pub retries: u32,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// The kind that caps count; the tool's name if there is none.
    pub kind: Option<String>,
    /// Whether a call must run alone in its run.
    pub is_exclusive: bool,
    /// Whether the tool may run only once in a run.
    pub once_per_run: bool,
    /// Whether every call needs approval.
    pub confirm: bool,
}

impl ToolPolicy {
    /// The policy that a specification states. A rule that asks for approval only sometimes counts as asking.
    pub fn of(spec: &ToolSpec) -> Self {
        Self {
            retries: spec.retries,
            timeout: spec.timeout,
            kind: Some(spec.kind.clone()),
            is_exclusive: !spec.parallel_safe,
            once_per_run: spec.once_per_run,
            confirm: !matches!(spec.confirm, Confirm::Never),
        }
    }

    /// A specification with this policy, for any object as arguments.
    pub fn spec(&self, name: &str) -> ToolSpec {
        ToolSpec {
            retries: self.retries,
            timeout: self.timeout,
            kind: self.kind(name).to_owned(),
            parallel_safe: !self.is_exclusive,
            once_per_run: self.once_per_run,
            confirm: if self.confirm { Confirm::Always } else { Confirm::Never },
            ..ToolSpec::new(name, "Made for a property test.", json!({"type": "object"}))
        }
    }

    /// The kind that caps count, for a tool of this name.
    pub fn kind<'a>(&'a self, name: &'a str) -> &'a str {
        self.kind.as_deref().unwrap_or(name)
    }
}
