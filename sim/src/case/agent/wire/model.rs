//! The model and its turns.

use serde::Deserialize;
use serde_json::Value;
use windtunnel_core::model::{ModelErrorKind, Role};

use crate::case::calls::no_arguments;
use crate::case::wire::{Delay, Seconds};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a model (an object)")]
pub(in crate::case) struct WireModel {
    #[serde(default)]
    pub(in crate::case) name: String,
    pub(in crate::case) turns: Option<Vec<WireTurn>>,
    pub(in crate::case) cassette: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a turn of the model (an object)")]
pub(in crate::case) struct WireTurn {
    #[serde(default)]
    pub(in crate::case) failures: Vec<WireModelFailure>,
    #[serde(default)]
    pub(in crate::case) delay_ms: Delay,
    pub(in crate::case) says: Option<String>,
    pub(in crate::case) calls: Option<Vec<WireCall>>,
    #[serde(default)]
    pub(in crate::case) usage: WireUsage,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a call (an object)")]
pub(in crate::case) struct WireCall {
    #[serde(default)]
    pub(in crate::case) id: String,
    pub(in crate::case) name: String,
    #[serde(default = "no_arguments")]
    pub(in crate::case) arguments: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a message (an object)")]
pub(in crate::case) struct WireMessage {
    pub(in crate::case) role: WireRole,
    #[serde(default)]
    pub(in crate::case) content: String,
    #[serde(default)]
    pub(in crate::case) tool_calls: Vec<WireCall>,
    pub(in crate::case) tool_call_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireRole {
    System,
    User,
    Assistant,
    Tool,
}

impl From<WireRole> for Role {
    fn from(role: WireRole) -> Self {
        match role {
            WireRole::System => Self::System,
            WireRole::User => Self::User,
            WireRole::Assistant => Self::Assistant,
            WireRole::Tool => Self::Tool,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object of tokens")]
pub(in crate::case) struct WireUsage {
    #[serde(default)]
    pub(in crate::case) input_tokens: u64,
    #[serde(default)]
    pub(in crate::case) output_tokens: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a failure of the model (an object)")]
pub(in crate::case) struct WireModelFailure {
    pub(in crate::case) error: WireModelError,
    pub(in crate::case) retry_after_s: Option<Seconds>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireModelError {
    RateLimited,
    Overloaded,
    Server,
    InvalidRequest,
    Timeout,
    Connection,
    InvalidResponse,
}

impl From<WireModelError> for ModelErrorKind {
    fn from(error: WireModelError) -> Self {
        match error {
            WireModelError::RateLimited => Self::RateLimited,
            WireModelError::Overloaded => Self::Overloaded,
            WireModelError::Server => Self::Server,
            WireModelError::InvalidRequest => Self::InvalidRequest,
            WireModelError::Timeout => Self::Timeout,
            WireModelError::Connection => Self::Connection,
            WireModelError::InvalidResponse => Self::InvalidResponse,
        }
    }
}
