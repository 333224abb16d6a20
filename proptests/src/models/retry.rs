//! What becomes of a lone call (E3–E5).

use std::time::Duration;

use windtunnel_core::executor::BackoffSettings;

use super::backoff::{delay_bounds_s, delay_s};
use crate::cases::{Ending, RetryCase};
use crate::timeline::{CallTimeline, TimelineEnd};
use crate::violation::{Violation, require};

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallEnd {
    /// With a value.
    Value,
    /// `tool-error`: the tool refused.
    Refused,
    /// `tool-timeout`: the last attempt ran out of time.
    TimedOut,
    /// `tool-failed`: every attempt failed, the last one not for lack of time.
    Failed,
    /// Without a result: control flow passed through.
    Interrupted,
}

impl CallEnd {
    /// The kind of error (E6) that the call's result has.
    pub fn error_kind(self) -> Option<&'static str> {
        match self {
            Self::Value | Self::Interrupted => None,
            Self::Refused => Some("tool-error"),
            Self::TimedOut => Some("tool-timeout"),
            Self::Failed => Some("tool-failed"),
        }
    }

    /// The result's status, if the call has a result.
    pub fn status(self) -> Option<&'static str> {
        match self {
            Self::Value => Some("ok"),
            Self::Refused | Self::TimedOut | Self::Failed => Some("error"),
            Self::Interrupted => None,
        }
    }
}

/// What a correct executor does with a [`RetryCase`].
///
/// ```
/// use std::time::Duration;
/// use windtunnel_core::executor::BackoffSettings;
/// use windtunnel_proptests::cases::{Ending, RetryCase, Script, Step};
/// use windtunnel_proptests::models::{CallEnd, ObservedCall, RetryPrediction};
///
/// let case = RetryCase {
///     script: Script::always(Step { takes: Duration::from_secs(3), ending: Ending::ForeignError }),
///     retries: 1,
///     timeout: Some(Duration::from_secs(2)),
///     backoff: BackoffSettings { base_s: 0.5, max_s: 30.0, multiplier: 2.0, jitter: 0.0 },
///     units: vec![],
/// };
/// let prediction = RetryPrediction::of(&case);
/// assert_eq!((prediction.attempts(), prediction.end), (2, CallEnd::TimedOut));
/// assert_eq!(prediction.elapsed(), Duration::from_millis(4_500));
///
/// // What the executor under test did, however it says so:
/// let observed = ObservedCall {
///     attempts: 3,
///     delays_s: vec![0.5, 1.0],
///     end: CallEnd::TimedOut,
///     elapsed: Duration::from_millis(7_500),
/// };
/// assert!(prediction.check(&observed).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPrediction {
    /// How long each attempt runs.
    pub busy: Vec<Duration>,
    /// The waits between them, in seconds: one fewer than there are attempts.
    pub delays_s: Vec<f64>,
    /// How the call ends.
    pub end: CallEnd,
    backoff: BackoffSettings,
    units: Vec<f64>,
}

/// What an executor did with a lone call.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedCall {
    /// How many attempts ran.
    pub attempts: u32,
    /// The waits it announced, in seconds.
    pub delays_s: Vec<f64>,
    /// How the call ended.
    pub end: CallEnd,
    /// How long it took, on an exact clock.
    pub elapsed: Duration,
}

impl ObservedCall {
    /// What a log says of one call, which took `elapsed`; nothing if it waits for an approval. A call without an end was
    /// interrupted, and the log does not say when.
    pub fn of(timeline: &CallTimeline, elapsed: Duration) -> Option<Self> {
        let end = match timeline.end {
            TimelineEnd::Open => CallEnd::Interrupted,
            TimelineEnd::Finished { error: None, .. } => CallEnd::Value,
            TimelineEnd::Finished { error: Some("tool-error"), .. } => CallEnd::Refused,
            TimelineEnd::Finished { error: Some("tool-timeout"), .. } => CallEnd::TimedOut,
            TimelineEnd::Finished { error: Some(_), .. } => CallEnd::Failed,
            TimelineEnd::Pending { .. } => return None,
        };
        Some(Self {
            attempts: u32::try_from(timeline.attempts.len()).unwrap_or(u32::MAX),
            delays_s: timeline.retries.iter().map(|retry| retry.delay_s).collect(),
            end,
            elapsed,
        })
    }
}

impl RetryPrediction {
    /// Plays the case through.
    pub fn of(case: &RetryCase) -> Self {
        let (mut busy, mut delays_s) = (Vec::new(), Vec::new());
        let mut attempt = 1;
        let end = loop {
            let step = case.script.step(attempt);
            let (ran_for, end, may_retry) = play(step.takes, step.ending, case.timeout);
            busy.push(ran_for);
            if !may_retry || attempt > case.retries {
                break end;
            }
            delays_s.push(delay_s(&case.backoff, attempt, case.unit(attempt)));
            attempt += 1;
        };
        Self { busy, delays_s, end, backoff: case.backoff, units: case.units.clone() }
    }

    /// How many attempts run.
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.busy.len()).unwrap_or(u32::MAX)
    }

    /// How long the call takes: its attempts, and its waits rounded to nanoseconds.
    pub fn elapsed(&self) -> Duration {
        self.elapsed_with(&self.delays_s)
    }

    fn elapsed_with(&self, delays_s: &[f64]) -> Duration {
        let waits = delays_s.iter().map(|delay_s| rounded(*delay_s));
        self.busy.iter().copied().chain(waits).fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Compares with what was observed.
    ///
    /// Attempts and end must be equal, each delay within [`delay_bounds_s`], and the time that passed exactly the sum
    /// of the attempts and of the delays as they were announced, to the nanosecond.
    ///
    /// # Errors
    /// [`Violation`] for the first difference.
    pub fn check(&self, observed: &ObservedCall) -> Result<(), Violation> {
        require(observed.attempts == self.attempts(), "E3", || {
            format!("{} attempts ran instead of {}", observed.attempts, self.attempts())
        })?;
        require(observed.end == self.end, "E5", || format!("the call ended {:?}, not {:?}", observed.end, self.end))?;
        require(observed.delays_s.len() == self.delays_s.len(), "E4", || {
            format!("{} waits instead of {}", observed.delays_s.len(), self.delays_s.len())
        })?;
        for (attempt, delay_s) in (1..).zip(&observed.delays_s) {
            let unit = self.units.get(attempt as usize - 1).copied().unwrap_or(0.0);
            let bounds_s = delay_bounds_s(&self.backoff, attempt, unit);
            require(bounds_s.contains(delay_s), "E4", || {
                format!("the wait after attempt {attempt} is {delay_s} s, not within {bounds_s:?}")
            })?;
        }
        let elapsed = self.elapsed_with(&observed.delays_s);
        require(observed.elapsed == elapsed, "E4", || {
            format!("{:?} passed, but attempts and waits add up to {elapsed:?}", observed.elapsed)
        })
    }
}

/// How long an attempt runs, how the call ends if it was the last, and whether another may follow.
fn play(takes: Duration, ending: Ending, timeout: Option<Duration>) -> (Duration, CallEnd, bool) {
    match timeout {
        // What is ready at the very deadline still counts.
        Some(limit) if takes > limit => (limit, CallEnd::TimedOut, true),
        _ => match ending {
            Ending::Value => (takes, CallEnd::Value, false),
            Ending::ForeignError | Ending::RetryableError | Ending::Panic => (takes, CallEnd::Failed, true),
            Ending::Refusal => (takes, CallEnd::Refused, false),
            Ending::Cancelled => (takes, CallEnd::Interrupted, false),
        },
    }
}

fn rounded(delay_s: f64) -> Duration {
    Duration::try_from_secs_f64(delay_s).unwrap_or(Duration::MAX)
}
