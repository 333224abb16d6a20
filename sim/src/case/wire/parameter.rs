//! The types of arguments.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireParameter {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    Any,
}

impl WireParameter {
    /// The type's name in a JSON Schema, unless anything is allowed.
    pub(in crate::case) fn type_name(self) -> Option<&'static str> {
        match self {
            Self::String => Some("string"),
            Self::Integer => Some("integer"),
            Self::Number => Some("number"),
            Self::Boolean => Some("boolean"),
            Self::Array => Some("array"),
            Self::Object => Some("object"),
            Self::Any => None,
        }
    }
}
