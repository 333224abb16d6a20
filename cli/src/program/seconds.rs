//! Durations on the command line.

use std::time::Duration;

/// As long as a world lasts.
const SECONDS_MAX: f64 = 365.0 * 24.0 * 60.0 * 60.0;

/// Reads a number of seconds from 0 to a year.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    read(text).ok_or_else(|| "write a number of seconds from 0 to 31536000 (a year), such as 0.25".to_owned())
}

/// The same, without 0.
pub(super) fn positive_seconds(text: &str) -> Result<Duration, String> {
    let problem = || "write a number of seconds above 0 and up to 31536000 (a year), such as 0.25".to_owned();
    read(text).filter(|duration| !duration.is_zero()).ok_or_else(problem)
}

fn read(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_any_number_that_a_world_can_wait() {
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(positive_seconds("31536000"), Ok(Duration::from_secs(31_536_000)));
        for wrong in ["", "a", "-1", "NaN", "inf", "31536001", "1s"] {
            assert!(seconds(wrong).is_err(), "{wrong} was accepted");
        }
        for wrong in ["0", "1e-10", "-0.0"] {
            assert!(positive_seconds(wrong).is_err(), "{wrong} was accepted");
        }
    }
}
