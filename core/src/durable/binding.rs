//! What a request is, frozen before work starts (D1).

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::DurableError;
use super::frozen::{JsonFlaw, check_levels, check_size};
use super::limits::{DEPTH_MAX, RECORD_BYTES_MAX};
use super::text::{check_callable, check_name, check_operation_key};
use crate::json::{canonical, dismantle};

/// What an operation asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationKind {
    /// A model.
    Model,
    /// A tool.
    Tool,
}

impl OperationKind {
    /// `model` or `tool`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }

    /// The kind of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Model, Self::Tool].into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The key of an operation, and what it is bound to: kind, callable, version and effective arguments. Two are equal if
/// their canonical forms are: `1` and `1.0` are different arguments, another order of members is not a difference.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::durable::{Binding, OperationKind};
///
/// let bind = |arguments| Binding::new("tool:turn:0:call-1", OperationKind::Tool, "agent:lookup", "1", arguments);
/// assert_eq!(bind(json!({"id": 1, "all": true}))?, bind(json!({"all": true, "id": 1}))?);
/// assert_ne!(bind(json!({"id": 1}))?, bind(json!({"id": 1.0}))?);
/// # Ok::<(), windtunnel_core::durable::DurableError>(())
/// ```
#[derive(Clone)]
pub struct Binding {
    key: Arc<str>,
    kind: OperationKind,
    callable: Arc<str>,
    version: Arc<str>,
    arguments: Arc<Value>,
    canonical: Arc<str>,
}

impl Binding {
    /// Freezes a request.
    ///
    /// # Errors
    /// [`DurableError::InvalidKey`], [`DurableError::InvalidVersion`] and [`DurableError::InvalidCallable`] for a name
    /// that cannot be stored, [`DurableError::InvalidJson`] for arguments that are no object, hold an integer past 64 bits
    /// signed or have more than 63 levels, [`DurableError::TooLarge`] where no record could hold the request.
    pub fn new(
        key: &str,
        kind: OperationKind,
        callable: &str,
        version: &str,
        arguments: Value,
    ) -> Result<Self, DurableError> {
        match check(key, kind, callable, version, &arguments) {
            Ok(()) => {}
            Err(error) => {
                dismantle(arguments);
                return Err(error);
            }
        }
        let encoded = encode(key, kind, callable, version, &arguments);
        Ok(Self {
            key: key.into(),
            kind,
            callable: callable.into(),
            version: version.into(),
            canonical: check_size("the request of the operation", encoded, RECORD_BYTES_MAX)?.into(),
            arguments: Arc::new(arguments),
        })
    }

    /// The key.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// The kind.
    pub fn kind(&self) -> OperationKind {
        self.kind
    }

    /// The callable's name.
    pub fn callable(&self) -> &Arc<str> {
        &self.callable
    }

    /// The version.
    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    /// The arguments.
    pub fn arguments(&self) -> &Arc<Value> {
        &self.arguments
    }

    /// The canonical encoding of all of it, as it stands in a record before `output`.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }
}

fn check(key: &str, kind: OperationKind, callable: &str, version: &str, arguments: &Value) -> Result<(), DurableError> {
    check_operation_key(key).map_err(|flaw| DurableError::InvalidKey { what: "the key of the operation", flaw })?;
    check_name(version).map_err(|flaw| DurableError::InvalidVersion { flaw })?;
    if !arguments.is_object() {
        let (what, flaw) = (ARGUMENTS, JsonFlaw::NotAnObject);
        return Err(DurableError::InvalidJson { what, flaw, source: None });
    }
    // The name alone must be one too: with the kind in front it would never be empty.
    check_callable(callable)
        .and_then(|()| check_callable(&prefixed(kind, callable)))
        .map_err(|flaw| DurableError::InvalidCallable { flaw })?;
    // The input of a record holds the arguments one level down.
    check_levels(ARGUMENTS, arguments, DEPTH_MAX - 1)
}

const ARGUMENTS: &str = "the arguments of the operation";

/// The callable as it is stored.
fn prefixed(kind: OperationKind, callable: &str) -> String {
    format!("{kind}:{callable}")
}

fn encode(key: &str, kind: OperationKind, callable: &str, version: &str, arguments: &Value) -> String {
    let named = json!({"callable": prefixed(kind, callable), "key": key, "kind": kind.as_str(), "version": version});
    let text = |name: &str| canonical(&named[name]);
    format!(
        r#"{{"callable":{},"input":{{"arguments":{},"kind":{},"v":1,"version":{}}},"key":{}}}"#,
        text("callable"),
        canonical(arguments),
        text("kind"),
        text("version"),
        text("key"),
    )
}

impl PartialEq for Binding {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Binding {}

/// Without the arguments, which may be secret.
impl fmt::Debug for Binding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Binding")
            .field("key", &self.key)
            .field("kind", &self.kind)
            .field("callable", &self.callable)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::ErrorKind;
    use super::*;

    fn bind(key: &str, callable: &str, version: &str, arguments: Value) -> Result<Binding, DurableError> {
        Binding::new(key, OperationKind::Tool, callable, version, arguments)
    }

    #[test]
    fn the_canonical_form_is_that_of_the_whole() {
        let binding = bind("k\"é", "a:b", "1", json!({"z": [1, 2.0], "a": null})).unwrap();
        let whole: Value = serde_json::from_str(binding.canonical()).unwrap();
        assert_eq!(canonical(&whole), binding.canonical());
        assert_eq!(
            binding.canonical(),
            r#"{"callable":"tool:a:b","input":{"arguments":{"a":null,"z":[1,2.0]},"kind":"tool","v":1,"version":"1"},"key":"k\"é"}"#
        );
    }

    #[track_caller]
    fn check_kind(binding: Result<Binding, DurableError>, expected: Option<ErrorKind>) {
        assert_eq!(binding.err().map(|error| error.kind()), expected);
    }

    #[test]
    fn each_part_is_refused_for_its_own_reason() {
        check_kind(bind("", "c", "1", json!({})), Some(ErrorKind::InvalidKey));
        check_kind(bind("_approval:x", "c", "1", json!({})), Some(ErrorKind::InvalidKey));
        check_kind(bind("k", "c", "\u{7}", json!({})), Some(ErrorKind::InvalidVersion));
        check_kind(bind("k", "", "1", json!({})), Some(ErrorKind::InvalidCallable));
        check_kind(bind("k", &"c".repeat(507), "1", json!({})), None);
        check_kind(bind("k", &"c".repeat(508), "1", json!({})), Some(ErrorKind::InvalidCallable));
        check_kind(bind("k", "c", "1", json!([])), Some(ErrorKind::InvalidJson));
        check_kind(bind("k", "c", "1", json!({"n": u64::MAX})), Some(ErrorKind::InvalidJson));
    }

    #[test]
    fn the_request_alone_must_fit_in_a_record() {
        let overhead = bind("k", "c", "1", json!({"t": ""})).unwrap().canonical().len();
        let with = |bytes: usize| bind("k", "c", "1", json!({"t": "x".repeat(bytes)}));
        check_kind(with(RECORD_BYTES_MAX - overhead), None);
        check_kind(with(RECORD_BYTES_MAX - overhead + 1), Some(ErrorKind::TooLarge));
    }

    #[test]
    fn arguments_may_have_one_level_less_than_the_input_that_holds_them() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |value, _| json!({"a": value}));
        check_kind(bind("k", "c", "1", nested(63)), None);
        check_kind(bind("k", "c", "1", nested(64)), Some(ErrorKind::InvalidJson));
    }
}
