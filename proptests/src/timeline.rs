//! The events of one call, put together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windtunnel_core::event::{Event, EventKind};

/// One execution of one call, as a log of events tells it.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_core::event::{Event, EventKind};
/// use windtunnel_proptests::CallTimeline;
///
/// # let event = |sequence, seconds, kind| Event {
/// #     host: None,
/// #     sequence, at: Duration::from_secs(seconds), run_id: "run-1".into(), call_id: Some("call-1".into()),
/// #     parent_id: None, kind,
/// # };
/// let tool = || "search".into();
/// let events = [
///     event(0, 0, EventKind::ToolStarted { tool: tool() }),
///     event(1, 0, EventKind::ToolAttempt { tool: tool(), attempt: 1 }),
///     event(2, 3, EventKind::ToolRetry { tool: tool(), attempt: 1, cause: "foreign", delay_s: 0.5 }),
/// ];
/// let [timeline] = &CallTimeline::all(&events)[..] else { panic!("one call") };
/// assert_eq!((timeline.attempts.len(), timeline.retries[0].delay_s), (1, 0.5));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CallTimeline {
    /// The run.
    pub run_id: Arc<str>,
    /// The call.
    pub call_id: Arc<str>,
    /// The enclosing call.
    pub parent_id: Option<Arc<str>>,
    /// The tool.
    pub tool: Arc<str>,
    /// When it arrived.
    pub started: Moment,
    /// The attempts that began, in order.
    pub attempts: Vec<AttemptBegan>,
    /// The waits between them, in order.
    pub retries: Vec<RetryAnnounced>,
    /// How it ended.
    pub end: TimelineEnd,
    /// The last event of it.
    pub last: Moment,
    /// Another execution of the same call overlapped this one. Events do not say which of the two they belong to, so
    /// their division is a guess.
    pub is_overlapped: bool,
}

/// A place in the log and a time on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The event's sequence number.
    pub sequence: u64,
    /// The event's time.
    pub at: Duration,
}

/// The beginning of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptBegan {
    /// Which, from 1.
    pub attempt: u32,
    /// When.
    pub moment: Moment,
}

/// The beginning of a wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryAnnounced {
    /// The attempt that failed.
    pub attempt: u32,
    /// How long the wait is, in seconds.
    pub delay_s: f64,
    /// When the attempt failed.
    pub moment: Moment,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineEnd {
    /// With a result.
    Finished {
        /// When.
        moment: Moment,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind.
        error: Option<&'static str>,
        /// How many attempts the event says there were.
        attempts: u32,
        /// How long the event says it took, in seconds.
        duration_s: f64,
    },
    /// Waiting for an approval.
    Pending {
        /// When.
        moment: Moment,
    },
    /// Not at all: it was interrupted or dropped, or still runs.
    Open,
}

type Key = (Arc<str>, Arc<str>, Arc<str>);

impl CallTimeline {
    /// The executions in a log, in the order they arrived. Events of a call that never arrived are left out;
    /// [`calls_end_once`](crate::invariants::calls_end_once) finds them.
    pub fn all(events: &[Event]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut open: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for event in events {
            let (Some(call_id), Some(tool)) = (&event.call_id, event.kind.tool()) else { continue };
            let key = (Arc::clone(&event.run_id), Arc::clone(call_id), Arc::clone(tool));
            let running = open.entry(key).or_default();
            if let EventKind::ToolStarted { tool } = &event.kind {
                running.push(all.len());
                all.push(Self::begun(event, call_id, tool));
                if running.len() > 1 {
                    running.iter().for_each(|index| all[*index].is_overlapped = true);
                }
                continue;
            }
            let Some(index) = running.first().copied() else { continue };
            all[index].add(event);
            if all[index].end != TimelineEnd::Open {
                running.remove(0);
            }
        }
        all
    }

    fn begun(event: &Event, call_id: &Arc<str>, tool: &Arc<str>) -> Self {
        Self {
            run_id: Arc::clone(&event.run_id),
            call_id: Arc::clone(call_id),
            parent_id: event.parent_id.clone(),
            tool: Arc::clone(tool),
            started: Moment::of(event),
            attempts: Vec::new(),
            retries: Vec::new(),
            end: TimelineEnd::Open,
            last: Moment::of(event),
            is_overlapped: false,
        }
    }

    fn add(&mut self, event: &Event) {
        let moment = Moment::of(event);
        self.last = moment;
        match event.kind {
            EventKind::ToolAttempt { attempt, .. } => self.attempts.push(AttemptBegan { attempt, moment }),
            EventKind::ToolRetry { attempt, delay_s, .. } => {
                self.retries.push(RetryAnnounced { attempt, delay_s, moment });
            }
            EventKind::ToolFinished { status, error, attempts, duration_s, .. } => {
                self.end = TimelineEnd::Finished { moment, status, error, attempts, duration_s };
            }
            EventKind::ToolPending { .. } => self.end = TimelineEnd::Pending { moment },
            _ => {}
        }
    }

    /// From arrival to the last event.
    pub fn elapsed(&self) -> Duration {
        self.last.at.saturating_sub(self.started.at)
    }
}

impl Moment {
    fn of(event: &Event) -> Self {
        Self { sequence: event.sequence, at: event.at }
    }
}
