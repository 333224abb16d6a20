//! How long a wait is (E4).

use windtunnel_core::executor::BackoffSettings;

/// Up to this attempt the model multiplies step by step, which is exact where the numbers are.
const STEPS_MAX: u32 = 64;

/// `min(max_s, base_s × multiplier^(attempt-1)) × (1 + unit × jitter)`: step by step at first, then by logarithms, which
/// neither overflow nor take `attempt` steps. Good to [`delay_bounds_s`].
///
/// ```
/// use windtunnel_core::executor::BackoffSettings;
/// use windtunnel_proptests::models::delay_s;
///
/// let settings = BackoffSettings { base_s: 0.5, max_s: 30.0, multiplier: 2.0, jitter: 0.25 };
/// assert_eq!(delay_s(&settings, 1, 0.0), 0.5);
/// assert_eq!(delay_s(&settings, 1 << 31, 0.5), 33.75);
/// ```
pub fn delay_s(settings: &BackoffSettings, attempt: u32, unit: f64) -> f64 {
    let BackoffSettings { base_s, max_s, multiplier, jitter } = *settings;
    let grown_s = if base_s == 0.0 {
        0.0
    } else if attempt <= STEPS_MAX {
        (1..attempt).fold(base_s, |grown_s, _| (grown_s * multiplier).min(max_s))
    } else {
        (base_s.ln() + f64::from(attempt - 1) * multiplier.ln()).exp()
    };
    grown_s.min(max_s) * (1.0 + unit * jitter)
}

/// How far from [`delay_s`] a correct executor may be: the rounding errors of `attempt` multiplications, and a tenth
/// of a nanosecond.
pub fn delay_bounds_s(settings: &BackoffSettings, attempt: u32, unit: f64) -> std::ops::RangeInclusive<f64> {
    let middle_s = delay_s(settings, attempt, unit);
    let slack_s = middle_s * f64::EPSILON * (f64::from(attempt) + 4096.0) + 1e-10;
    middle_s - slack_s..=middle_s + slack_s
}
