//! How the cassettes of a case are replayed, as it is written.

use serde::Deserialize;
use windtunnel_fixtures::matching::Order;

/// How the cassettes of a case are replayed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object about how cassettes are replayed")]
pub(in crate::case) struct WireReplay {
    #[serde(default)]
    pub(in crate::case) order: WireOrder,
    #[serde(default)]
    pub(in crate::case) timing: WireTiming,
    #[serde(default)]
    pub(in crate::case) ignore: Vec<String>,
    #[serde(default)]
    pub(in crate::case) allow_unconsumed: bool,
    #[serde(default)]
    pub(in crate::case) allow_missed_after_faults: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireOrder {
    #[default]
    Strict,
    Keyed,
    Repeated,
}

/// When answers come; called as the command's `--timing` is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(in crate::case) enum WireTiming {
    #[default]
    Fast,
    Recorded,
}

impl From<WireOrder> for Order {
    fn from(order: WireOrder) -> Self {
        match order {
            WireOrder::Strict => Self::Strict,
            WireOrder::Keyed => Self::Keyed,
            WireOrder::Repeated => Self::Repeated,
        }
    }
}
