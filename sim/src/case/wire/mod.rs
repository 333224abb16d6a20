//! The fields that cases of every kind have, exactly as they are written.

mod always;
mod fault;
mod kind;
mod number;
mod parameter;
mod present;

pub(super) use always::WireAlways;
pub(super) use fault::{WireFault, WireRandomFaults};
pub(super) use kind::WireKind;
pub(super) use number::{
    Attempts, Cap, Count, Delay, Limit, Milliseconds, PositiveSeconds, Rate, Retries, Seconds, Unit,
};
pub(super) use parameter::WireParameter;
pub(super) use present::present;
