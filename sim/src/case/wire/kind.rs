//! The kinds of cases.

use serde::Deserialize;

/// Only so that a kind which is no text is refused: the kind is read before all other fields, since those depend on it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireKind {
    Calls,
    Program,
    Operations,
    Agent,
}
