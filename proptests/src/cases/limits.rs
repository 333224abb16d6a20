//! The limits of a run.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use windtunnel_core::executor::RunLimits;

/// How many calls of a kind may run at once, by kind. A cap is at least 1.
pub type Caps = BTreeMap<String, u32>;

/// The limits as Windtunnel's executor takes them.
///
/// ```
/// use windtunnel_proptests::cases::{Caps, run_limits};
///
/// let limits = run_limits(Some(5), &Caps::from([("search".to_owned(), 2)]));
/// assert_eq!((limits.calls_max, limits.per_kind["search"].get()), (Some(5), 2));
/// ```
pub fn run_limits(calls_max: Option<u64>, caps: &Caps) -> RunLimits {
    let limits = RunLimits { calls_max, ..RunLimits::default() };
    caps.iter().fold(limits, |limits, (kind, cap)| limits.cap(kind, NonZeroU32::new(*cap).unwrap_or(NonZeroU32::MIN)))
}
