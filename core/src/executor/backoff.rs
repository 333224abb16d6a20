//! How long to wait between attempts (E4).

use std::time::Duration;

use crate::canary::{Weakness, is_weakened};

/// Exponential backoff with jitter: `min(max_s, base_s × multiplier^(n-1)) × (1 + unit × jitter)` after attempt `n`.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_core::executor::{Backoff, BackoffSettings};
///
/// let backoff = Backoff::new(BackoffSettings { max_s: 8.0, ..BackoffSettings::default() })?;
/// assert_eq!(backoff.delay(1, 0.0), Duration::from_millis(500));
/// assert_eq!(backoff.delay(3, 0.0), Duration::from_secs(2));
/// assert_eq!(backoff.delay(60, 0.0), Duration::from_secs(8));
/// # Ok::<(), windtunnel_core::executor::BackoffError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backoff {
    settings: BackoffSettings,
}

/// The settings of a [`Backoff`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackoffSettings {
    /// The first delay, in seconds: 0, or at least a nanosecond. Default 0.5.
    pub base_s: f64,
    /// The longest delay before jitter, in seconds. Default 30.
    pub max_s: f64,
    /// How much longer each delay is than the one before; at least 1. Default 2.
    pub multiplier: f64,
    /// How much of a delay jitter may add, at most: 0.25 is a quarter. Default 0.25.
    pub jitter: f64,
}

impl Default for BackoffSettings {
    fn default() -> Self {
        Self { base_s: 0.5, max_s: 30.0, multiplier: 2.0, jitter: 0.25 }
    }
}

/// The settings could make a delay that is negative, not a number, or too long to wait for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("backoff: {setting} is {value}; it must be {allowed}")]
pub struct BackoffError {
    setting: &'static str,
    value: f64,
    allowed: &'static str,
}

/// The longest delay, in seconds: over 30,000 years, and still exact in nanoseconds as a `Duration`.
const DELAY_MAX_S: f64 = 1e12;

impl Backoff {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`BackoffError`] for a setting that is not finite or out of its range.
    pub fn new(settings: BackoffSettings) -> Result<Self, BackoffError> {
        let BackoffSettings { base_s, max_s, multiplier, jitter } = settings;
        let check = |setting, value, accepted, allowed| {
            if accepted { Ok(()) } else { Err(BackoffError { setting, value, allowed }) }
        };
        // A base below a nanosecond would round to nothing, and could be lost to the overflow of a huge power.
        let is_base = base_s == 0.0 || (1e-9..=DELAY_MAX_S).contains(&base_s);
        check("base_s", base_s, is_base, "0, or from 1e-9 to 1e12 seconds")?;
        check("max_s", max_s, (0.0..=DELAY_MAX_S).contains(&max_s), "from 0 to 1e12 seconds")?;
        check("multiplier", multiplier, multiplier >= 1.0 && multiplier.is_finite(), "finite and at least 1")?;
        check("jitter", jitter, (0.0..=1e6).contains(&jitter), "from 0 to 1e6")?;
        Ok(Self { settings })
    }

    /// The delay after attempt `attempt` (from 1), in seconds. `unit` is in `[0, 1)`.
    pub fn delay_s(&self, attempt: u32, unit: f64) -> f64 {
        let BackoffSettings { base_s, max_s, multiplier, jitter } = self.settings;
        if base_s == 0.0 {
            // Zero times an overflow would not be a number.
            return 0.0;
        }
        let grown = base_s * power(multiplier, attempt.saturating_sub(1));
        let max_s = if is_weakened(Weakness::DelayUncapped) { DELAY_MAX_S } else { max_s };
        grown.min(max_s) * (1.0 + unit * jitter)
    }

    /// [`Backoff::delay_s`] as a duration, rounded to nanoseconds.
    pub fn delay(&self, attempt: u32, unit: f64) -> Duration {
        Duration::try_from_secs_f64(self.delay_s(attempt, unit)).unwrap_or(Duration::MAX)
    }
}

/// `base` to the power of `exponent`, by squaring: the same bits on every machine, which `f64::powi` does not promise.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(base_s: f64, max_s: f64, multiplier: f64, jitter: f64) -> Result<Backoff, BackoffError> {
        Backoff::new(BackoffSettings { base_s, max_s, multiplier, jitter })
    }

    #[test]
    fn delays_grow_to_the_maximum_and_jitter_comes_on_top() {
        let backoff = backoff(0.5, 8.0, 2.0, 0.25).unwrap();
        let delays: Vec<_> = (1..=6).map(|attempt| backoff.delay_s(attempt, 0.0)).collect();
        assert_eq!(delays, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
        assert_eq!(backoff.delay_s(5, 0.5), 9.0);
    }

    #[test]
    fn far_attempts_neither_overflow_nor_lose_their_number() {
        for (base_s, multiplier) in [(0.0, f64::MAX), (1e-9, 1e300), (1e12, 1.0), (1e-9, 2.0)] {
            let backoff = backoff(base_s, 1e12, multiplier, 1e6).unwrap();
            for attempt in [1, 2, 1_000, 1 << 31, u32::MAX] {
                let delay_s = backoff.delay_s(attempt, 0.999);
                assert!((0.0..=1e18).contains(&delay_s), "{delay_s} for {base_s} and {multiplier} at {attempt}");
                assert!(backoff.delay(attempt, 0.999) < Duration::MAX);
            }
        }
    }

    #[test]
    fn settings_that_could_break_a_delay_are_refused() {
        for broken in [f64::NAN, f64::INFINITY, -0.5] {
            assert!(backoff(broken, 1.0, 2.0, 0.0).is_err());
            assert!(backoff(1.0, broken, 2.0, 0.0).is_err());
            assert!(backoff(1.0, 1.0, broken, 0.0).is_err());
            assert!(backoff(1.0, 1.0, 2.0, broken).is_err());
        }
        assert!(backoff(f64::MIN_POSITIVE, 1.0, 2.0, 0.0).is_err());
        let shrinking = backoff(1.0, 1.0, 0.5, 0.0).unwrap_err();
        assert_eq!(shrinking.to_string(), "backoff: multiplier is 0.5; it must be finite and at least 1");
    }
}
