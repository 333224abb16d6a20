//! What a worker gets of an activation that is due.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::checkpoint::Checkpoint;
use super::record::Record;
use crate::json::{canonical, hexadecimal};

/// Which attempt of which activation. Its commits are refused once another attempt has claimed the activation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fence {
    /// The workflow's identifier.
    pub workflow_id: Arc<str>,
    /// The activation's, unique in its workflow, and the same in every attempt.
    pub activation_id: Arc<str>,
    /// Counts the claims of the activation from 1: the fencing token.
    pub attempt: u64,
}

impl Fence {
    /// What an external service may recognise a repeated call by: the same in every attempt (D6), another one for every
    /// other operation. 64 hexadecimal digits.
    ///
    /// ```
    /// use windtunnel_core::durable::Fence;
    ///
    /// let attempt = |attempt| Fence { workflow_id: "order-7".into(), activation_id: "activation-1".into(), attempt };
    /// assert_eq!(attempt(1).idempotency_key("tool:pay"), attempt(2).idempotency_key("tool:pay"));
    /// assert_ne!(attempt(1).idempotency_key("tool:pay"), attempt(1).idempotency_key("tool:refund"));
    /// ```
    pub fn idempotency_key(&self, operation: &str) -> Arc<str> {
        // As a JSON list, so that no two triples are one text.
        let parts = Value::from(vec![&*self.workflow_id, &*self.activation_id, operation]);
        hexadecimal(&Sha256::digest(canonical(&parts))).into()
    }
}

/// Why an activation began.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Wake {
    /// The workflow was started.
    Started,
    /// The activation before it continued.
    Continued,
    /// A durable sleep is over.
    Timer {
        /// Its key.
        key: Arc<str>,
    },
    /// The event that was waited for came.
    Event {
        /// Its key.
        key: Arc<str>,
        /// What it says.
        payload: Arc<Value>,
    },
    /// The event that was waited for did not come in time.
    Timeout {
        /// Its key.
        key: Arc<str>,
    },
}

impl Wake {
    /// `started`, `continued`, `timer`, `event` or `timeout`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Continued => "continued",
            Self::Timer { .. } => "timer",
            Self::Event { .. } => "event",
            Self::Timeout { .. } => "timeout",
        }
    }
}

/// Without an event's payload, which may be secret.
impl fmt::Debug for Wake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Wake");
        shown.field("name", &self.name());
        if let Self::Timer { key } | Self::Event { key, .. } | Self::Timeout { key } = self {
            shown.field("key", key);
        }
        shown.finish_non_exhaustive()
    }
}

/// An activation that is due, claimed for one attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Which attempt it is. Whatever it commits carries this.
    pub fence: Fence,
    /// The workflow's name.
    pub workflow: Arc<str>,
    /// Where it begins, and with what.
    pub checkpoint: Checkpoint,
    /// Why it began; the same in every attempt.
    pub wake: Wake,
    /// What earlier attempts committed, in order.
    pub records: Vec<Arc<Record>>,
    /// How many attempts said that they failed.
    pub failures: u32,
}

/// What a claim comes to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Claimed {
    /// An activation.
    Activation(Box<Claim>),
    /// Nothing is due.
    Nothing {
        /// After which time something is due, if no event comes and nobody gives up a lease before; none, if nothing is.
        #[serde(rename = "next_ns", with = "super::stored::optional_nanoseconds")]
        next: Option<Duration>,
    },
}
