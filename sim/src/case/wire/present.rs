//! Fields of which `null` is a value.

use serde::{Deserialize, Deserializer};

/// A field that is there, whatever its value: `null` is a value too.
pub(in crate::case) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
