//! A completed operation, as it is stored.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::binding::{Binding, OperationKind};
use super::error::DurableError;
use super::frozen::{check_size, freeze_owned};
use super::limits::RECORD_BYTES_MAX;
use crate::json::Path;

/// What was asked, and the result.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::durable::{Binding, OperationKind, Record};
///
/// let binding = Binding::new("model:turn:0", OperationKind::Model, "agent:ask", "1", json!({"temperature": 0}))?;
/// let record = Record::new(binding, json!("hello"))?;
/// assert_eq!(record.to_json()["callable"], "model:agent:ask");
/// assert_eq!(Record::from_json(&record.to_json())?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    binding: Binding,
    output: Arc<Value>,
    canonical: Arc<str>,
}

/// How a record is written.
#[derive(Serialize)]
pub(super) struct RecordParts<'r> {
    callable: String,
    input: InputParts<'r>,
    key: &'r str,
    output: &'r Value,
}

#[derive(Serialize)]
struct InputParts<'r> {
    v: u8,
    kind: &'static str,
    version: &'r str,
    arguments: &'r Value,
}

/// Something stored is not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct RecordError {
    /// Where in the record.
    pub path: Path,
    /// What is wrong.
    pub problem: String,
}

impl Record {
    /// Freezes a result with what was asked.
    ///
    /// # Errors
    /// [`DurableError::InvalidJson`] for a result that cannot be stored, [`DurableError::TooLarge`] where the record is
    /// over its bound.
    pub fn new(binding: Binding, output: Value) -> Result<Self, DurableError> {
        let (output, encoded) = freeze_owned("the result of the operation", output, RECORD_BYTES_MAX)?;
        let open = binding.canonical().strip_suffix('}').unwrap_or_default();
        let whole = format!(r#"{open},"output":{encoded}}}"#);
        let canonical = check_size("the record of the operation", whole, RECORD_BYTES_MAX)?.into();
        Ok(Self { binding, output: Arc::new(output), canonical })
    }

    /// What was asked.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The key.
    pub fn key(&self) -> &Arc<str> {
        self.binding.key()
    }

    /// The result.
    pub fn output(&self) -> &Arc<Value> {
        &self.output
    }

    /// The canonical encoding: what two records are compared by, and what their size is counted in.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// How many bytes it counts.
    pub fn bytes(&self) -> usize {
        self.canonical.len()
    }

    /// `{"callable": "tool:…", "input": {"v": 1, "kind", "version", "arguments"}, "key", "output"}`.
    pub fn to_json(&self) -> Value {
        json!(self.parts())
    }

    pub(super) fn parts(&self) -> RecordParts<'_> {
        let binding = &self.binding;
        RecordParts {
            callable: format!("{}:{}", binding.kind(), binding.callable()),
            input: InputParts {
                v: 1,
                kind: binding.kind().as_str(),
                version: binding.version(),
                arguments: binding.arguments(),
            },
            key: binding.key(),
            output: &self.output,
        }
    }

    /// Reads what [`Record::to_json`] writes.
    ///
    /// # Errors
    /// [`RecordError`] with the place of what is missing, unknown, contradictory or could not have been stored.
    pub fn from_json(value: &Value) -> Result<Self, RecordError> {
        let root = Path::root();
        let record = members(value, &root, &["callable", "input", "key", "output"])?;
        let at_input = root.clone().member("input");
        let input = members(&record["input"], &at_input, &["v", "kind", "version", "arguments"])?;
        if input["v"] != json!(1) {
            return Err(error(at_input.member("v"), "only version 1 of the input is known"));
        }
        let kind = text(&input["kind"], at_input.clone().member("kind"))?;
        let kind = OperationKind::of_name(kind)
            .ok_or_else(|| error(at_input.clone().member("kind"), "a kind is model or tool"))?;
        let at_callable = root.clone().member("callable");
        let callable = text(&record["callable"], at_callable.clone())?;
        let Some(name) = callable.strip_prefix(kind.as_str()).and_then(|rest| rest.strip_prefix(':')) else {
            return Err(error(at_callable, format!("it does not begin with its kind, {kind}:")));
        };
        let key = text(&record["key"], root.clone().member("key"))?;
        let version = text(&input["version"], at_input.member("version"))?;
        let refused = |refusal: DurableError| error(root.clone(), refusal.to_string());
        let binding = Binding::new(key, kind, name, version, input["arguments"].clone()).map_err(refused)?;
        Self::new(binding, record["output"].clone()).map_err(refused)
    }
}

/// The members, which are these and no others.
fn members<'v>(value: &'v Value, path: &Path, names: &[&str]) -> Result<&'v Map<String, Value>, RecordError> {
    let Value::Object(members) = value else { return Err(error(path.clone(), "it is not an object")) };
    if let Some(missing) = names.iter().find(|name| !members.contains_key(**name)) {
        return Err(error(path.clone().member(*missing), "it is missing"));
    }
    match members.keys().find(|name| !names.contains(&name.as_str())) {
        Some(unknown) => Err(error(path.clone().member(unknown), "a record has no such member")),
        None => Ok(members),
    }
}

fn text(value: &Value, path: Path) -> Result<&str, RecordError> {
    value.as_str().ok_or_else(|| error(path, "it is not a string"))
}

fn error(path: Path, problem: impl Into<String>) -> RecordError {
    RecordError { path, problem: problem.into() }
}

/// Without arguments and result, which may be secret.
impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (binding, bytes) = (&self.binding, self.bytes());
        formatter.debug_struct("Record").field("binding", binding).field("bytes", &bytes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::canonical;

    fn binding() -> Binding {
        Binding::new("k", OperationKind::Tool, "agent:call", "1", json!({"b": 1.0, "a": [null]})).unwrap()
    }

    #[test]
    fn the_encoding_is_the_canonical_form_of_the_json() {
        let record = Record::new(binding(), json!({"y": 1, "x": "é"})).unwrap();
        assert_eq!(record.canonical(), canonical(&record.to_json()));
        assert_eq!(record.bytes(), canonical(&record.to_json()).len());
    }

    #[test]
    fn a_record_fits_exactly_or_not_at_all() {
        let overhead = Record::new(binding(), json!("")).unwrap().bytes();
        let with = |bytes: usize| Record::new(binding(), json!("y".repeat(bytes)));
        assert_eq!(with(RECORD_BYTES_MAX - overhead).unwrap().bytes(), RECORD_BYTES_MAX);
        assert!(with(RECORD_BYTES_MAX - overhead + 1).is_err());
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut Value), message: &str) {
        let mut stored = Record::new(binding(), json!(7)).unwrap().to_json();
        change(&mut stored);
        assert_eq!(Record::from_json(&stored).unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_no_record_is_refused_with_its_place() {
        check_refused(|stored| *stored = json!([]), "$: it is not an object");
        check_refused(|stored| stored["extra"] = json!(1), "$.extra: a record has no such member");
        check_refused(|stored| stored["input"]["v"] = json!(1.0), "$.input.v: only version 1 of the input is known");
        check_refused(|stored| stored["input"]["kind"] = json!("agent"), "$.input.kind: a kind is model or tool");
        check_refused(
            |stored| stored["input"]["kind"] = json!("model"),
            "$.callable: it does not begin with its kind, model:",
        );
        check_refused(|stored| stored["key"] = json!(1), "$.key: it is not a string");
        check_refused(
            |stored| stored["key"] = json!("a\nb"),
            "$: the key of the operation holds the control character U+000A; remove it",
        );
        check_refused(
            |stored| {
                stored.as_object_mut().unwrap().shift_remove("output");
            },
            "$.output: it is missing",
        );
    }

    #[test]
    fn neither_arguments_nor_result_are_shown() {
        let binding = Binding::new("k", OperationKind::Tool, "c", "1", json!({"a": "hunter2"})).unwrap();
        let record = Record::new(binding, json!("hunter2")).unwrap();
        assert!(!format!("{record:?}").contains("hunter2"));
    }
}
