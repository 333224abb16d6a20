//! What crosses from one activation to the next (D5), and nothing else does.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::DurableError;
use super::frozen::freeze_owned;
use super::limits::STATE_BYTES_MAX;
use super::stored::StoredCheckpoint;
use super::text::check_name;

/// Where the next activation begins, and with what.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredCheckpoint", into = "StoredCheckpoint")]
pub struct Checkpoint {
    entry: Arc<str>,
    state: Arc<Value>,
    bytes: usize,
}

impl Checkpoint {
    /// Freezes a state.
    ///
    /// # Errors
    /// [`DurableError::InvalidKey`] for an entry that cannot be stored, [`DurableError::InvalidJson`] or
    /// [`DurableError::TooLarge`] for a state that cannot.
    pub fn new(entry: &str, state: Value) -> Result<Self, DurableError> {
        check_name(entry).map_err(|flaw| DurableError::InvalidKey { what: "the name of the entry", flaw })?;
        let (state, encoded) = freeze_owned("the state of the checkpoint", state, STATE_BYTES_MAX)?;
        Ok(Self { entry: entry.into(), state: Arc::new(state), bytes: encoded.len() })
    }

    /// The entry.
    pub fn entry(&self) -> &Arc<str> {
        &self.entry
    }

    /// The state.
    pub fn state(&self) -> &Arc<Value> {
        &self.state
    }

    /// How many bytes the state counts.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Without the state, which may be secret.
impl fmt::Debug for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Checkpoint")
            .field("entry", &self.entry)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_fits_exactly_or_not_at_all() {
        let state = |bytes: usize| Checkpoint::new("next", json!("s".repeat(bytes - 2)));
        assert_eq!(state(STATE_BYTES_MAX).unwrap().bytes(), 65_536);
        assert!(matches!(state(STATE_BYTES_MAX + 1), Err(DurableError::TooLarge { bytes: 65_537, .. })));
        assert!(matches!(Checkpoint::new("", json!(1)), Err(DurableError::InvalidKey { .. })));
    }
}
