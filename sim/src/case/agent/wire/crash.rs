//! Crashes.

use serde::Deserialize;

use crate::case::agent::CrashPoint;
use crate::case::wire::Attempts;

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, expecting = "a crash (an object)")]
pub(in crate::case) struct WireCrash {
    pub(in crate::case) at: WirePoint,
    pub(in crate::case) operation: Option<String>,
    pub(in crate::case) activation: Option<Attempts>,
    pub(in crate::case) nth: Option<Attempts>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WirePoint {
    BeforeCall,
    AfterEffect,
    BeforeCommit,
    AfterCommit,
    BeforeDecision,
    AfterDecision,
}

impl From<WirePoint> for CrashPoint {
    fn from(point: WirePoint) -> Self {
        match point {
            WirePoint::BeforeCall => Self::BeforeCall,
            WirePoint::AfterEffect => Self::AfterEffect,
            WirePoint::BeforeCommit => Self::BeforeCommit,
            WirePoint::AfterCommit => Self::AfterCommit,
            WirePoint::BeforeDecision => Self::BeforeDecision,
            WirePoint::AfterDecision => Self::AfterDecision,
        }
    }
}
