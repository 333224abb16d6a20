//! Where the time went (E4), on an exact clock.

use std::time::Duration;

use windtunnel_core::event::Event;

use crate::timeline::{CallTimeline, TimelineEnd};
use crate::violation::{Violation, require};

/// Between a `tool.retry` and the next attempt passes exactly the delay that it announces, rounded to nanoseconds.
///
/// # Errors
/// [`Violation`] for the first wait that is too short or too long.
pub fn waits_are_exact(events: &[Event]) -> Result<(), Violation> {
    let timelines = CallTimeline::all(events);
    timelines.iter().filter(|timeline| !timeline.is_overlapped).try_for_each(|timeline| {
        let next_attempts = timeline.attempts.iter().skip(1);
        timeline.retries.iter().zip(next_attempts).try_for_each(|(retry, next)| {
            let announced = Duration::try_from_secs_f64(retry.delay_s).unwrap_or(Duration::MAX);
            let waited = next.moment.at.saturating_sub(retry.moment.at);
            require(waited == announced, "E4", || {
                format!(
                    "call {} waited {waited:?} after attempt {}, having said {announced:?}",
                    timeline.call_id, retry.attempt
                )
            })
        })
    })
}

/// The time that a lone call took is exactly what its attempts took, as `busy` says, and its waits; and its
/// `tool.finished` says so. A lone call waits for no lock, cap, reviewer or hook. Of a call that was interrupted the log
/// does not say when it ended.
///
/// # Errors
/// [`Violation`] if time is missing or too much.
pub fn lone_call_adds_up(timeline: &CallTimeline, busy: &[Duration]) -> Result<(), Violation> {
    let TimelineEnd::Finished { duration_s, .. } = timeline.end else { return Ok(()) };
    let waits =
        timeline.retries.iter().map(|retry| Duration::try_from_secs_f64(retry.delay_s).unwrap_or(Duration::MAX));
    let sum = busy.iter().copied().chain(waits).fold(Duration::ZERO, Duration::saturating_add);
    let elapsed = timeline.elapsed();
    require(elapsed == sum, "E4", || {
        format!("call {} took {elapsed:?}, but its attempts and waits add up to {sum:?}", timeline.call_id)
    })?;
    require(duration_s == elapsed.as_secs_f64(), "E13", || {
        format!("call {} took {elapsed:?} and states {duration_s} s", timeline.call_id)
    })
}
