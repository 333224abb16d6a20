//! What goes wrong.

use serde::Deserialize;
use serde_json::Value;

use super::{Count, Rate};
use crate::fault::{EventPattern, FaultKind};

/// A fault, and the event at which it comes. What it does is read on its own, with messages that name its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a fault (an object)")]
pub(in crate::case) struct WireFault {
    pub(in crate::case) when: EventPattern,
    #[serde(rename = "do")]
    pub(in crate::case) action: Value,
}

/// Faults that are drawn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object about faults that are drawn")]
pub(in crate::case) struct WireRandomFaults {
    pub(in crate::case) kinds: Option<Vec<FaultKind>>,
    pub(in crate::case) rate: Option<Rate>,
    pub(in crate::case) max: Option<Count>,
    #[serde(default)]
    pub(in crate::case) swarm: bool,
}
