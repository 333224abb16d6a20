//! What a limiter is asked to hold.

use std::fmt;
use std::time::Duration;

use crate::suites::retry::{optional, rust};

/// Limits to calls. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitPolicy {
    /// How many calls there may be: at all, or in each window.
    pub calls_max: Option<u64>,
    /// How many calls may be under way at once.
    pub at_once: Option<u32>,
    /// How much all calls together may cost, in whatever unit.
    pub cost_max: Option<u64>,
    /// How long a window is. The first one begins with the limiter.
    pub window: Option<Duration>,
}

/// As Rust.
impl fmt::Display for LimitPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls_max, at_once, cost_max, window } = self;
        let mut fields = Vec::new();
        if calls_max.is_some() {
            fields.push(format!("calls_max: {calls_max:?}"));
        }
        if at_once.is_some() {
            fields.push(format!("at_once: {at_once:?}"));
        }
        if cost_max.is_some() {
            fields.push(format!("cost_max: {cost_max:?}"));
        }
        if window.is_some() {
            fields.push(format!("window: {}", optional(*window)));
        }
        fields.push("..LimitPolicy::default()".to_owned());
        write!(formatter, "LimitPolicy {{ {} }}", fields.join(", "))
    }
}

/// A duration as Rust.
pub(super) fn as_rust(duration: Duration) -> String {
    rust(duration)
}
