//! Between typed values and what is stored.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::DurableError;
use super::finite::is_finite;
use super::frozen::JsonFlaw;

/// The JSON of a typed value.
pub(super) fn encode<T: Serialize + ?Sized>(what: &'static str, value: &T) -> Result<Value, DurableError> {
    if !is_finite(value) {
        return Err(DurableError::InvalidJson { what, flaw: JsonFlaw::NotFinite, source: None });
    }
    serde_json::to_value(value).map_err(|error| flawed(what, JsonFlaw::NotSerializable, error))
}

/// The typed value of what is stored.
pub(super) fn decode<T: DeserializeOwned>(what: &'static str, value: &Value) -> Result<T, DurableError> {
    T::deserialize(value).map_err(|error| flawed(what, JsonFlaw::OtherType, error))
}

fn flawed(what: &'static str, flaw: JsonFlaw, error: serde_json::Error) -> DurableError {
    // What serde says may hold values.
    DurableError::InvalidJson { what, flaw, source: Some(error.into()) }
}
