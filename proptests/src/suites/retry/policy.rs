//! What a retry loop is asked to do.

use std::fmt;
use std::time::Duration;

/// How an operation is to be retried, in words that every retry loop can be told.
///
/// After failure `n` it waits `min(cap, base × factor^(n-1))`; jitter may change that, but never past `cap`. All durations of
/// a suite's policies are whole milliseconds, the grain of tokio's timers.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// How many calls may follow the first. 0 is one call; `u32::MAX` is as good as no limit. Default 3.
    pub retries: u32,
    /// The first wait. Default 100 ms.
    pub base: Duration,
    /// How much longer each wait is than the one before. Default 2.
    pub factor: f64,
    /// The longest wait, jitter included. Default 10 s.
    pub cap: Duration,
    /// Whether waits are jittered, in whatever way. Default no.
    pub is_jittered: bool,
    /// How long all waits together may be. Default: no limit.
    pub waits_max: Option<Duration>,
    /// How long the whole run may take, with its calls; one under way then is cancelled. Default: no limit.
    pub elapsed_max: Option<Duration>,
    /// How long a failure may ask to wait (Retry-After) at most; whether one that asks for more is waited for so long, or not
    /// at all, is the loop's choice. Default: no limit.
    pub retry_after_max: Option<Duration>,
    /// How many retries all runs of one client together may make. Default: no limit.
    pub budget: Option<RetryBudget>,
    /// What jitter is drawn from. Default 0.
    pub seed: u64,
}

/// Over any time since a client began it may make at most `ratio × runs begun + reserve` retries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryBudget {
    /// How many retries each run earns; 0.1 is one for ten runs.
    pub ratio: f64,
    /// How many retries there are beside.
    pub reserve: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 3,
            base: Duration::from_millis(100),
            factor: 2.0,
            cap: Duration::from_secs(10),
            is_jittered: false,
            waits_max: None,
            elapsed_max: None,
            retry_after_max: None,
            budget: None,
            seed: 0,
        }
    }
}

impl RetryPolicy {
    /// How long the wait after failure `failure` (from 1) is without jitter.
    pub fn wait(&self, failure: u32) -> Duration {
        let grown_s = self.base.as_secs_f64() * self.factor.powf(f64::from(failure.saturating_sub(1)));
        Duration::try_from_secs_f64(grown_s).unwrap_or(Duration::MAX).min(self.cap)
    }

    /// The policy as a line of Rust. What is as in the default is left out.
    pub(super) fn as_rust(&self) -> String {
        let default = Self::default();
        let mut fields = Vec::new();
        let mut add = |name: &str, value: String, default: String| {
            if value != default {
                fields.push(format!("{name}: {value}"));
            }
        };
        add("retries", count(self.retries), count(default.retries));
        add("base", rust(self.base), rust(default.base));
        add("factor", float(self.factor), float(default.factor));
        add("cap", rust(self.cap), rust(default.cap));
        add("is_jittered", self.is_jittered.to_string(), default.is_jittered.to_string());
        add("waits_max", optional(self.waits_max), optional(default.waits_max));
        add("elapsed_max", optional(self.elapsed_max), optional(default.elapsed_max));
        add("retry_after_max", optional(self.retry_after_max), optional(default.retry_after_max));
        let budget = |budget: Option<RetryBudget>| format!("{budget:?}");
        add("budget", budget(self.budget), budget(default.budget));
        add("seed", self.seed.to_string(), default.seed.to_string());
        if fields.is_empty() {
            return "RetryPolicy::default()".to_owned();
        }
        format!("RetryPolicy {{ {}, ..RetryPolicy::default() }}", fields.join(", "))
    }
}

/// A duration as Rust.
pub(in crate::suites) fn rust(duration: Duration) -> String {
    match duration {
        Duration::ZERO => "Duration::ZERO".to_owned(),
        Duration::MAX => "Duration::MAX".to_owned(),
        _ if duration.subsec_nanos() == 0 => format!("Duration::from_secs({})", duration.as_secs()),
        _ => format!("Duration::from_millis({})", duration.as_millis()),
    }
}

/// An optional duration as Rust.
pub(in crate::suites) fn optional(duration: Option<Duration>) -> String {
    duration.map_or("None".to_owned(), |duration| format!("Some({})", rust(duration)))
}

fn count(number: u32) -> String {
    if number == u32::MAX { "u32::MAX".to_owned() } else { number.to_string() }
}

fn float(number: f64) -> String {
    match number {
        _ if number.is_nan() => "f64::NAN".to_owned(),
        f64::INFINITY => "f64::INFINITY".to_owned(),
        _ => format!("{number:?}"),
    }
}

impl fmt::Display for RetryPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.as_rust())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_the_cap_and_do_not_overflow() {
        let policy = RetryPolicy { cap: Duration::from_millis(350), ..RetryPolicy::default() };
        let waits: Vec<_> = [1, 2, 3, 4, u32::MAX].map(|failure| policy.wait(failure).as_millis()).into();
        assert_eq!(waits, [100, 200, 350, 350, 350]);
        assert_eq!(RetryPolicy { cap: Duration::MAX, ..policy }.wait(u32::MAX), Duration::MAX);
    }

    #[test]
    fn a_policy_is_shown_as_rust() {
        let policy = RetryPolicy {
            retries: u32::MAX,
            cap: Duration::MAX,
            factor: f64::NAN,
            elapsed_max: Some(Duration::from_millis(1500)),
            ..RetryPolicy::default()
        };
        let rust = "RetryPolicy { retries: u32::MAX, factor: f64::NAN, cap: Duration::MAX, \
                    elapsed_max: Some(Duration::from_millis(1500)), ..RetryPolicy::default() }";
        assert_eq!(policy.to_string(), rust);
        assert_eq!(RetryPolicy::default().to_string(), "RetryPolicy::default()");
    }
}
