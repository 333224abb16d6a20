//! The fields of a case file, exactly as they are written.

mod case;
mod expect;
mod number;
mod tool;

pub(super) use case::{WireAlways, WireApproval, WireBackoff, WireCase, WireDecision, WireEach};
pub(super) use expect::{WireExpect, WireInvocation, WireResult};
pub(super) use number::Delay;
pub(super) use tool::{WireCacheScope, WireFail, WireParameter, WireRates, WireStep, WireTool};

use serde::{Deserialize, Deserializer};

/// A field that is there, whatever its value: `null` is a value too.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
