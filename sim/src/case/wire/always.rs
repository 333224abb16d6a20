//! Assertions.

use serde::Deserialize;

/// An assertion over a run, or over each element of one of the lists that `E` names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an assertion (an object)")]
pub(in crate::case) struct WireAlways<E> {
    pub(in crate::case) name: Option<String>,
    pub(in crate::case) each: Option<E>,
    pub(in crate::case) that: String,
}
