//! Which calls ran at the same time.

use std::sync::Arc;

use parking_lot::Mutex;
use windtunnel_core::event::Event;

use crate::timeline::{CallTimeline, TimelineEnd};

/// The stretch of an order of steps in which one call was running.
///
/// `opens` and `closes` are places in one common order: sequence numbers of events, or steps of a [`SpanLog`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The run.
    pub run_id: Arc<str>,
    /// The call.
    pub call_id: Arc<str>,
    /// The enclosing call.
    pub parent_id: Option<Arc<str>>,
    /// The tool.
    pub tool: Arc<str>,
    /// The first step of it.
    pub opens: u64,
    /// The last step of it; `u64::MAX` while it is running.
    pub closes: u64,
}

impl Span {
    /// The spans from each call's first attempt to its end, for an executor that gives up its locks and says
    /// `tool.finished` in one step. Where others may come in between, as on several threads or with hooks that wait,
    /// use a [`SpanLog`] in the tools' bodies.
    pub fn of_events(events: &[Event]) -> Vec<Self> {
        let timelines = CallTimeline::all(events);
        timelines.iter().filter_map(Self::of_timeline).collect()
    }

    fn of_timeline(timeline: &CallTimeline) -> Option<Self> {
        let first = timeline.attempts.first()?;
        let closes = match timeline.end {
            TimelineEnd::Finished { moment, .. } | TimelineEnd::Pending { moment } => moment.sequence,
            TimelineEnd::Open => timeline.last.sequence,
        };
        Some(Self {
            run_id: Arc::clone(&timeline.run_id),
            call_id: Arc::clone(&timeline.call_id),
            parent_id: timeline.parent_id.clone(),
            tool: Arc::clone(&timeline.tool),
            opens: first.moment.sequence,
            closes,
        })
    }

    /// Whether both were running at some step.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.opens < other.closes && other.opens < self.closes
    }

    /// One span for each call, from its first to its last: a call holds its locks between attempts too. The calls must
    /// have different ids.
    pub fn merged_by_call(spans: &[Self]) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for span in spans {
            match merged.iter_mut().find(|known| known.run_id == span.run_id && known.call_id == span.call_id) {
                Some(known) => {
                    known.opens = known.opens.min(span.opens);
                    known.closes = known.closes.max(span.closes);
                }
                None => merged.push(span.clone()),
            }
        }
        merged
    }
}

/// Records, from the bodies of tools, which of them run at the same time. Clones share the log; any thread may use it.
///
/// ```
/// use windtunnel_proptests::SpanLog;
///
/// let log = SpanLog::new();
/// let outer = log.enter("run-1", "call-1", "search");
/// drop(log.enter("run-1", "call-2", "fetch"));
/// drop(outer);
/// let spans = log.spans();
/// assert!(spans[0].overlaps(&spans[1]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SpanLog {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    steps: u64,
    spans: Vec<Span>,
}

/// Keeps a span of a [`SpanLog`] open until it is dropped.
#[derive(Debug)]
#[must_use = "dropping the guard closes the span"]
pub struct SpanGuard {
    log: SpanLog,
    index: usize,
}

impl SpanLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a span.
    pub fn enter(&self, run_id: &str, call_id: &str, tool: &str) -> SpanGuard {
        let mut state = self.state.lock();
        let index = state.spans.len();
        let opens = state.next_step();
        state.spans.push(Span {
            run_id: run_id.into(),
            call_id: call_id.into(),
            parent_id: None,
            tool: tool.into(),
            opens,
            closes: u64::MAX,
        });
        SpanGuard { log: self.clone(), index }
    }

    /// The spans so far, in the order they opened.
    pub fn spans(&self) -> Vec<Span> {
        self.state.lock().spans.clone()
    }
}

impl State {
    fn next_step(&mut self) -> u64 {
        let step = self.steps;
        self.steps += 1;
        step
    }
}

impl Drop for SpanGuard {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        let closes = state.next_step();
        state.spans[self.index].closes = closes;
    }
}
