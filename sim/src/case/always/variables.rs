//! What an assertion can see of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use cel::{Context, Env};
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::cost::Size;

/// The values of variables for one run.
pub(super) struct Variables {
    values: BTreeMap<&'static str, Value>,
}

impl Variables {
    /// Those variables that are needed.
    pub(super) fn new(values: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Self { values: values.into_iter().collect() }
    }

    /// The elements of a list variable.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.values.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Those needed variables that are numbers.
    pub(super) fn scalars(&self, is_needed: impl Fn(&str) -> bool) -> Vec<(&'static str, Value)> {
        let needed = self.values.iter().filter(|(name, value)| is_needed(name) && value.is_number());
        needed.map(|(name, value)| (*name, value.clone())).collect()
    }

    /// The sizes of those variables that are needed.
    pub(super) fn sizes(&self, is_needed: impl Fn(&str) -> bool) -> BTreeMap<&str, Size> {
        let needed = self.values.iter().filter(|(name, _)| is_needed(name));
        needed.map(|(name, value)| (*name, Size::of(value))).collect()
    }

    /// A context with those variables that are needed.
    pub(super) fn context(
        &self,
        env: &Arc<Env>,
        is_needed: impl Fn(&str) -> bool,
    ) -> Result<Context<'static, 'static>, String> {
        let mut context = Context::with_env(Arc::clone(env));
        for (name, value) in self.values.iter().filter(|(name, _)| is_needed(name)) {
            bind(&mut context, name, value)?;
        }
        Ok(context)
    }
}

/// Gives a variable of a context its value.
pub(super) fn bind(context: &mut Context<'_, '_>, name: &str, value: &Value) -> Result<(), String> {
    let value = cel::to_value(ForCel(value)).map_err(|error| format!("{name} cannot be shown to CEL: {error}"))?;
    context.add_variable_from_value(name, value);
    Ok(())
}

/// A JSON value as CEL reads it: integers are signed where they fit, so that arithmetic does not mix two types.
struct ForCel<'a>(&'a Value);

impl Serialize for ForCel<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::String(text) => serializer.serialize_str(text),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(signed), ..) => serializer.serialize_i64(signed),
                (None, Some(unsigned), _) => serializer.serialize_u64(unsigned),
                (None, None, Some(float)) => serializer.serialize_f64(float),
                (None, None, None) => Err(S::Error::custom("a number that is none")),
            },
            Value::Array(elements) => {
                let mut list = serializer.serialize_seq(Some(elements.len()))?;
                elements.iter().try_for_each(|element| list.serialize_element(&ForCel(element)))?;
                list.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, member)| map.serialize_entry(name, &ForCel(member)))?;
                map.end()
            }
        }
    }
}
