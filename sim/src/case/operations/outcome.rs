//! What came of durable operations.

use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::durable::{DurableError, Record};

/// What came of the operations of a case.
///
/// ```
/// use windtunnel_sim::case::{Case, CaseOutcome, Format};
///
/// let text = r#"{
///     "steps": [{
///         "key": "tool:turn:0", "kind": "tool", "callable": "agent:pay", "version": "1", "arguments": {"amount": 5},
///         "returns": "paid"
///     }],
///     "acks": ["lost"],
///     "expect": {"results": [{"error": "commit-unacknowledged", "executed": true}], "decided": false}
/// }"#;
/// let cases = Case::parse("lost.json", Format::Json, text)?;
/// let run = cases[0].run(0);
/// assert!(cases[0].judge(&run).passed());
/// let CaseOutcome::Operations(outcome) = &run.outcome else { panic!("steps are operations") };
/// assert_eq!(outcome.journal[0].to_json()["output"], "paid");
/// # Ok::<(), windtunnel_sim::case::LoadError>(())
/// ```
#[derive(Debug, Default)]
pub struct OperationsOutcome {
    /// The operations in the order of the file; `None` for one that did not finish.
    pub operations: Vec<Option<FinishedOperation>>,
    /// What the store then holds.
    pub journal: Vec<Arc<Record>>,
    /// Whether the activation could come to a decision.
    pub decided: bool,
}

/// An operation with its result.
#[derive(Clone, Debug)]
pub struct FinishedOperation {
    /// The key.
    pub key: Arc<str>,
    /// The result.
    pub result: Result<Value, DurableError>,
    /// Whether its callable ran.
    pub executed: bool,
}

impl FinishedOperation {
    /// The operation as JSON, with the names that case files use; what is absent is `null`.
    pub fn to_json(&self) -> Value {
        let (value, error) = (self.result.as_ref().ok(), self.result.as_ref().err());
        json!({
            "key": &*self.key,
            "status": if error.is_none() { "ok" } else { "error" },
            "value": value,
            "error": error.map(|error| error.kind().as_str()),
            "message": error.map(ToString::to_string),
            "executed": self.executed,
        })
    }
}
