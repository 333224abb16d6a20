//! Attempts (E3).

use windtunnel_core::event::Event;

use crate::cases::Policies;
use crate::timeline::{CallTimeline, TimelineEnd};
use crate::violation::{Violation, require};

/// Attempts are counted from 1, without gaps, to at most one more than the retries. Between two attempts there is one
/// wait, and none after the last. The result states their number.
///
/// # Errors
/// [`Violation`] for the first call that made too many attempts or miscounted them.
pub fn attempts_within_retries(events: &[Event], policies: &Policies) -> Result<(), Violation> {
    CallTimeline::all(events).iter().try_for_each(|timeline| {
        let retries = policies.get(&*timeline.tool).map_or(0, |policy| policy.retries);
        let most = timeline.attempts.iter().map(|began| began.attempt).max().unwrap_or(0);
        let attempts_max = u64::from(retries) + 1;
        let call = || format!("call {} of tool {:?}", timeline.call_id, timeline.tool);
        require(u64::from(most) <= attempts_max, "E3", || format!("{} made attempt {most} of {attempts_max}", call()))?;
        if timeline.is_overlapped { Ok(()) } else { are_counted(timeline, &call) }
    })
}

fn are_counted(timeline: &CallTimeline, call: &dyn Fn() -> String) -> Result<(), Violation> {
    let attempts: Vec<_> = timeline.attempts.iter().map(|began| began.attempt).collect();
    let waits: Vec<_> = timeline.retries.iter().map(|retry| retry.attempt).collect();
    let last = attempts.len() as u32;
    require(attempts.iter().copied().eq(1..=last), "E3", || format!("{} made the attempts {attempts:?}", call()))?;
    // A call that was dropped may have been waiting.
    let is_open = timeline.end == TimelineEnd::Open;
    let is_waited_between = waits.iter().copied().eq(1..last.max(1));
    let is_waiting = is_open && last > 0 && waits.iter().copied().eq(1..=last);
    require(is_waited_between || is_waiting, "E3", || {
        format!("{} waited after the attempts {waits:?} of {last}", call())
    })?;
    let moments = timeline.attempts.iter().skip(1).map(|began| began.moment.sequence);
    let is_in_turn = timeline.retries.iter().zip(moments).all(|(retry, next)| retry.moment.sequence < next);
    require(is_in_turn, "E3", || format!("{} made an attempt before it said that it would", call()))?;
    match timeline.end {
        TimelineEnd::Finished { attempts: stated, .. } => {
            require(stated == last, "E3", || format!("{} states {stated} attempts, and made {last}", call()))
        }
        TimelineEnd::Pending { .. } => require(last == 0, "E8", || format!("{} ran before it was decided", call())),
        TimelineEnd::Open => Ok(()),
    }
}
