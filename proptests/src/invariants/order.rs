//! The order of events (E13).

use windtunnel_core::event::Event;

use crate::violation::{Violation, require};

/// Sequence numbers grow strictly and time never goes back.
///
/// # Errors
/// [`Violation`] for the first event out of order.
pub fn order(events: &[Event]) -> Result<(), Violation> {
    events.windows(2).try_for_each(|pair| {
        let [before, after] = pair else { return Ok(()) };
        require(before.sequence < after.sequence, "E13", || {
            format!("event {} comes right after event {}", after.sequence, before.sequence)
        })?;
        require(before.at <= after.at, "E13", || {
            format!("event {} is at {:?}, before {:?} of the one it follows", after.sequence, after.at, before.at)
        })
    })
}
