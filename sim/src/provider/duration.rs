//! Durations as providers write them.

use std::fmt::Write;
use std::time::Duration;

/// Whole seconds that are not shorter.
pub(super) fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}

/// Whole milliseconds that are not shorter.
pub(super) fn whole_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// As Go writes it: `387.310908ms`, `3.89s`, `6m0s`, `1h0m0s`.
pub(super) fn go_duration(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    match (seconds, nanos) {
        (0, 0) => return "0s".to_owned(),
        (0, 1..1_000) => return format!("{nanos}ns"),
        (0, 1_000..1_000_000) => return decimal(u64::from(nanos / 1_000), nanos % 1_000, 3, "µs"),
        (0, _) => return decimal(u64::from(nanos / 1_000_000), nanos % 1_000_000, 6, "ms"),
        _ => {}
    }
    let mut text = String::new();
    let _infallible = match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => Ok(()),
        (0, minutes) => write!(text, "{minutes}m"),
        (hours, minutes) => write!(text, "{hours}h{minutes}m"),
    };
    text + &decimal(seconds % 60, nanos, 9, "s")
}

/// A number with as many of the digits of its fraction as it takes.
fn decimal(whole: u64, fraction: u32, digits: usize, unit: &str) -> String {
    let fraction = format!("{fraction:0digits$}");
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}{unit}"),
        fraction => format!("{whole}.{fraction}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_go_does() {
        for (nanos, expected) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (20_000_000, "20ms"),
            (387_310_908, "387.310908ms"),
            (3_890_000_000, "3.89s"),
            (45_811_974_541, "45.811974541s"),
            (90_000_000_000, "1m30s"),
            (360_000_000_000, "6m0s"),
            (3_600_000_000_000, "1h0m0s"),
            (17_967_724_879_759, "4h59m27.724879759s"),
        ] {
            assert_eq!(go_duration(Duration::from_nanos(nanos)), expected);
        }
        assert_eq!(go_duration(Duration::MAX), "5124095576030431h0m15.999999999s");
    }

    #[test]
    fn whole_units_are_never_shorter() {
        let just_over = Duration::new(2, 1);
        assert_eq!((whole_seconds(just_over), whole_milliseconds(just_over)), (3, 2_001));
        assert_eq!((whole_seconds(Duration::MAX), whole_milliseconds(Duration::MAX)), (u64::MAX, u64::MAX));
    }
}
