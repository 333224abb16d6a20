//! What a limiter did, seen from outside.

use std::fmt;
use std::time::Duration;

/// The calls of a trial, as they were seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedLimit {
    /// The calls, in the order of the trial.
    pub calls: Vec<LimitedCall>,
    /// Why the trial came to no end, if so.
    pub trouble: Option<String>,
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitedCall {
    /// When its work began.
    pub began: Option<Duration>,
    /// When its work ended, also if it was dropped.
    pub ended: Option<Duration>,
    /// How the call ended.
    pub ending: CallEnding,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnding {
    /// It was admitted, and its work done.
    Done,
    /// It was refused.
    Refused,
    /// It was dropped, since the trial says so.
    Cancelled,
    /// It panicked through the limiter.
    Panicked,
    /// It did not end.
    Open,
}

impl PlayedLimit {
    /// How many works were under way at this instant, those that end there not counted.
    pub(super) fn under_way(&self, at: Duration) -> usize {
        let is_under_way = |call: &&LimitedCall| {
            call.began.is_some_and(|began| began <= at) && call.ended.is_none_or(|ended| ended > at)
        };
        self.calls.iter().filter(is_under_way).count()
    }

    /// How many works began.
    pub(super) fn admitted(&self) -> usize {
        self.calls.iter().filter(|call| call.began.is_some()).count()
    }
}

/// On one line: what became of the calls.
impl fmt::Display for PlayedLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, call) in (1..).zip(&self.calls) {
            let before = if number == 1 { "" } else { ", " };
            write!(formatter, "{before}call {number} ")?;
            match (call.began, call.ended) {
                (Some(began), Some(ended)) => write!(formatter, "from {began:?} to {ended:?}")?,
                (Some(began), None) => write!(formatter, "from {began:?} on")?,
                (None, _) => write!(formatter, "never")?,
            }
            match call.ending {
                CallEnding::Done => {}
                CallEnding::Refused => formatter.write_str(" (refused)")?,
                CallEnding::Cancelled => formatter.write_str(" (dropped)")?,
                CallEnding::Panicked => formatter.write_str(" (panicked)")?,
                CallEnding::Open => formatter.write_str(" (open)")?,
            }
        }
        match &self.trouble {
            Some(trouble) => write!(formatter, "; {trouble}"),
            None => Ok(()),
        }
    }
}
