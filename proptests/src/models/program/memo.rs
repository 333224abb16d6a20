//! Values that are evaluated once.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

/// What is known by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Memos {
    pub(super) known: BTreeMap<String, Memo>,
}

/// A value that is known.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    pub(super) value: Value,
    /// When it was first asked for.
    pub(super) asked: Duration,
    /// When it was there.
    pub(super) ready: Duration,
}
