//! Stretches of time, read from the events that begin and end them.

use std::collections::BTreeMap;
use std::time::Duration;

use windtunnel_core::event::{Event, EventKind};

/// What goes on for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpanKind {
    /// One life of a host.
    Life,
    /// A host stands still.
    Pause,
    /// A run scope.
    Run,
    /// A call of a tool, from its arrival to its result.
    Call,
    /// One attempt of a call.
    Attempt,
    /// The pause before the next attempt.
    Wait,
    /// A decision is waited for.
    Approval,
    /// The evaluation of a program.
    Program,
    /// A turn of a model.
    Turn,
    /// An attempt of a workflow's activation.
    Activation,
    /// The callable of an operation.
    Operation,
    /// The commit of an operation's record.
    Commit,
    /// What does not last, where a format has nothing else for it.
    Mark,
}

/// One stretch of time.
#[derive(Debug)]
pub(super) struct Span<'a> {
    pub(super) kind: SpanKind,
    /// The event that began it.
    pub(super) first: &'a Event,
    /// The event that ended it: of its own, of what it was part of, or of its host. Nothing, if the trace ends first.
    pub(super) last: Option<&'a Event>,
    /// When it ended, or the trace.
    pub(super) end: Duration,
    /// The place of what it is part of.
    pub(super) parent: Option<usize>,
}

/// Everything that a trace says, once: what lasts, and what does not.
#[derive(Debug, Default)]
pub(super) struct Spans<'a> {
    /// In the order of their beginnings, so that a parent comes before its parts.
    pub(super) spans: Vec<Span<'a>>,
    /// The events that begin and end nothing, in their order, with the place of what each is part of.
    pub(super) instants: Vec<(&'a Event, Option<usize>)>,
}

/// Whose span it is, of which kind, and, for the turns of a model, which.
type Key<'a> = (Option<&'a str>, &'a str, Option<&'a str>, SpanKind, u32);

/// What an event does to spans.
enum Step {
    Begin(SpanKind, u32),
    End(SpanKind, u32),
    /// One stretch ends and another begins.
    Next(SpanKind, SpanKind),
    /// Everything of the host ends.
    EndHost,
    Instant,
}

impl Step {
    fn of(kind: &EventKind) -> Self {
        use SpanKind::{Activation, Approval, Attempt, Call, Commit, Life, Operation, Pause, Program, Run, Turn, Wait};
        match kind {
            EventKind::HostStarted {} => Self::Begin(Life, 0),
            EventKind::HostCrashed {} | EventKind::HostPowerCut {} => Self::EndHost,
            EventKind::HostPaused {} => Self::Begin(Pause, 0),
            EventKind::HostResumed {} => Self::End(Pause, 0),
            EventKind::RunStarted {} => Self::Begin(Run, 0),
            EventKind::RunFinished {} => Self::End(Run, 0),
            EventKind::ToolStarted { .. } => Self::Begin(Call, 0),
            EventKind::ToolFinished { .. } | EventKind::ToolPending { .. } => Self::End(Call, 0),
            EventKind::ToolAttempt { .. } | EventKind::ProgramCall { .. } => Self::Next(Wait, Attempt),
            EventKind::ToolRetry { .. } | EventKind::ProgramRetry { .. } => Self::Next(Attempt, Wait),
            EventKind::ProgramAnswer { .. } => Self::End(Attempt, 0),
            EventKind::ApprovalRequested { .. } => Self::Begin(Approval, 0),
            EventKind::ApprovalDecided { .. } => Self::End(Approval, 0),
            EventKind::ProgramStarted { .. } => Self::Begin(Program, 0),
            EventKind::ProgramFinished { .. } => Self::End(Program, 0),
            EventKind::ModelStarted { turn, .. } => Self::Begin(Turn, *turn),
            EventKind::ModelFinished { turn, .. } => Self::End(Turn, *turn),
            EventKind::ActivationStarted { .. } => Self::Begin(Activation, 0),
            EventKind::ActivationFinished { .. } => Self::End(Activation, 0),
            EventKind::OperationStarted { .. } => Self::Begin(Operation, 0),
            EventKind::OperationExecuted { .. } => Self::End(Operation, 0),
            EventKind::OperationCommit { .. } => Self::Begin(Commit, 0),
            EventKind::OperationCommitted { .. } => Self::End(Commit, 0),
            _ => Self::Instant,
        }
    }
}

impl<'a> Spans<'a> {
    /// Reads a trace.
    pub(super) fn of(events: &'a [Event]) -> Self {
        let mut reader = Reader::default();
        events.iter().for_each(|event| reader.take(event));
        let end = events.last().map_or(Duration::ZERO, |event| event.at);
        for place in reader.open.into_values() {
            reader.read.spans[place].end = end;
        }
        reader.read
    }
}

/// What is open so far.
#[derive(Default)]
struct Reader<'a> {
    read: Spans<'a>,
    open: BTreeMap<Key<'a>, usize>,
    /// Of each span: its key while it is open, and its parts.
    keys: Vec<Option<Key<'a>>>,
    parts: Vec<Vec<usize>>,
    /// The life of each host that has one.
    lives: BTreeMap<Option<&'a str>, usize>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, event: &'a Event) {
        match Step::of(&event.kind) {
            Step::Begin(kind, turn) => self.begin(event, kind, turn),
            Step::End(kind, turn) => self.end(event, key(event, kind, turn)),
            Step::Next(ended, begun) => {
                self.end(event, key(event, ended, 0));
                self.begin(event, begun, 0);
            }
            Step::EndHost => {
                self.instant(event);
                let read = &self.read;
                let is_of_host = |place: usize| read.spans[place].first.host == event.host;
                let ended: Vec<_> = self.open.values().copied().filter(|place| is_of_host(*place)).collect();
                ended.into_iter().for_each(|place| self.close(place, event));
            }
            Step::Instant => self.instant(event),
        }
    }

    fn begin(&mut self, event: &'a Event, kind: SpanKind, turn: u32) {
        let key = key(event, kind, turn);
        // What begins anew has been given up before.
        self.end(event, key);
        let (parent, place) = (self.parent(event, kind), self.read.spans.len());
        self.open.insert(key, place);
        self.keys.push(Some(key));
        self.parts.push(Vec::new());
        if let Some(parent) = parent {
            self.parts[parent].push(place);
        }
        if kind == SpanKind::Life {
            self.lives.insert(host(event), place);
        }
        self.read.spans.push(Span { kind, first: event, last: None, end: event.at, parent });
    }

    /// Ends a span with all its parts: when a call returns, nothing of it runs on.
    fn end(&mut self, event: &'a Event, key: Key<'a>) {
        let mut ending: Vec<_> = self.open.get(&key).copied().into_iter().collect();
        while let Some(place) = ending.pop() {
            self.close(place, event);
            ending.append(&mut self.parts[place]);
        }
    }

    /// Ends a span, if it is open.
    fn close(&mut self, place: usize, event: &'a Event) {
        let Some(key) = self.keys[place].take() else { return };
        self.open.remove(&key);
        let span = &mut self.read.spans[place];
        (span.end, span.last) = (event.at, Some(event));
        if span.kind == SpanKind::Life {
            self.lives.remove(&host(span.first));
        }
    }

    fn instant(&mut self, event: &'a Event) {
        // What happens on a host belongs to its life.
        let parent = self.innermost(event).or_else(|| self.lives.get(&host(event)).copied());
        self.read.instants.push((event, parent));
    }

    /// What a span of this kind is part of.
    fn parent(&self, event: &'a Event, kind: SpanKind) -> Option<usize> {
        match kind {
            SpanKind::Life | SpanKind::Run | SpanKind::Pause => None,
            _ => self.innermost(event),
        }
    }

    /// The last that began of the same call, else of the enclosing one.
    fn innermost(&self, event: &'a Event) -> Option<usize> {
        event.call_id.as_deref().and_then(|call| self.last_of(event, call)).or_else(|| self.enclosing(event))
    }

    fn enclosing(&self, event: &'a Event) -> Option<usize> {
        let parent = event.parent_id.as_deref().and_then(|call| self.last_of(event, call));
        parent.or_else(|| self.open.get(&(host(event), &event.run_id, None, SpanKind::Run, 0)).copied())
    }

    fn last_of(&self, event: &'a Event, call: &'a str) -> Option<usize> {
        let whose = |kind| (host(event), &*event.run_id, Some(call), kind, 0);
        self.open.range(whose(SpanKind::Life)..=whose(SpanKind::Commit)).map(|(_, place)| *place).max()
    }
}

fn host(event: &Event) -> Option<&str> {
    event.host.as_deref()
}

fn key(event: &Event, kind: SpanKind, turn: u32) -> Key<'_> {
    (host(event), &event.run_id, event.call_id.as_deref(), kind, turn)
}
