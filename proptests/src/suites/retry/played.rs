//! What a subject did, seen from outside.

use std::fmt;
use std::time::Duration;

use super::operation::Notes;
use super::world::WORLD_ENDS_AFTER;
use super::{Announcement, CallNote, RetryFailure};

/// One run of an operation, as it was seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The calls, in order. Time counts from the beginning of their world.
    pub calls: Vec<CallNote>,
    /// The waits that were announced.
    pub announcements: Vec<Announcement>,
    /// How the run ended.
    pub ending: RunEnding,
    /// When it ended, if it did.
    pub ended: Option<Duration>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnding {
    /// By itself.
    Finished(Result<(), RetryFailure>),
    /// It was dropped, since the trial says so.
    Cancelled,
    /// Not within centuries, or because it waits for nothing that comes.
    Endless,
    /// It called much too often: from there on the operation answered no more.
    Stopped,
    /// It spun: it neither waits nor ends.
    Spinning,
    /// By a panic.
    Panicked(String),
    /// It did not begin: the policy was refused.
    Refused(String),
}

impl Played {
    pub(super) fn new(notes: Notes, ending: RunEnding, ended: Option<Duration>) -> Self {
        // What only the end of the world ended has no end.
        let ended_in = |call: CallNote| CallNote { ended: call.ended.filter(|at| *at < WORLD_ENDS_AFTER), ..call };
        let calls = notes.calls.into_iter().map(ended_in).collect();
        Self { calls, announcements: notes.announcements, ending, ended }
    }

    /// The times from the end of each call to the beginning of the next one. Calls that overlap have none between them.
    pub fn waits(&self) -> Vec<Duration> {
        let pairs = self.calls.iter().zip(self.calls.iter().skip(1));
        pairs.map(|(call, next)| next.began.saturating_sub(call.ended.unwrap_or(next.began))).collect()
    }

    /// How long all calls together took.
    pub fn busy(&self) -> Duration {
        let took = |call: &CallNote| call.ended.unwrap_or(call.began).saturating_sub(call.began);
        self.calls.iter().map(took).fold(Duration::ZERO, Duration::saturating_add)
    }
}

/// How many calls are shown.
const CALLS_SHOWN_MAX: usize = 8;

/// On one line: the calls, and the end.
impl fmt::Display for Played {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.calls.len() {
            1 => write!(formatter, "1 call")?,
            count => write!(formatter, "{count} calls")?,
        }
        for (number, call) in self.calls.iter().enumerate().take(CALLS_SHOWN_MAX) {
            let before = if number == 0 { ": " } else { ", " };
            write!(formatter, "{before}at {:?}", call.began)?;
            match call.ended {
                Some(ended) if ended > call.began => write!(formatter, " to {ended:?}")?,
                Some(_) => {}
                None => write!(formatter, " without end")?,
            }
        }
        if self.calls.len() > CALLS_SHOWN_MAX {
            write!(formatter, " …")?;
        }
        match (&self.ending, self.ended) {
            (RunEnding::Finished(Ok(())), Some(ended)) => write!(formatter, "; success at {ended:?}"),
            (RunEnding::Finished(Err(failure)), Some(ended)) => write!(formatter, "; at {ended:?} {failure}"),
            (RunEnding::Cancelled, Some(ended)) => write!(formatter, "; cancelled at {ended:?}"),
            (RunEnding::Panicked(message), _) => write!(formatter, "; it panicked: {message}"),
            (RunEnding::Refused(reason), _) => write!(formatter, "; the policy was refused: {reason}"),
            (RunEnding::Stopped, _) => write!(formatter, "; it was stopped there"),
            (RunEnding::Spinning, _) => write!(formatter, "; it spins without end"),
            (_, _) => write!(formatter, "; it waits without end"),
        }
    }
}
