//! Instants as RFC 3339 writes them, in whole seconds.

use std::time::SystemTime;

use super::duration::whole_seconds;

/// The last second that four digits of a year can write.
const SECONDS_MAX: u64 = 253_402_300_799;

/// Such as `2025-06-02T15:15:48Z`, not before the instant. What is before 1970 is 1970, and nothing is after the year 9999.
pub(super) fn rfc3339(instant: SystemTime) -> String {
    let since_epoch = instant.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = whole_seconds(since_epoch).min(SECONDS_MAX);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// The day so many days after 1970-01-01. In eras of 400 years, each of whose years begins in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn instants_are_written_to_the_next_second() {
        let written = |millis| rfc3339(SystemTime::UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(1_709_164_799_001), "2024-02-29T00:00:00Z");
        assert_eq!(written(1_748_877_348_000), "2025-06-02T15:15:48Z");
        assert_eq!(written(4_107_542_399_000), "2100-02-28T23:59:59Z");
        assert_eq!(written(4_107_542_400_000), "2100-03-01T00:00:00Z");
        assert_eq!(written(u64::MAX), "9999-12-31T23:59:59Z");
    }
}
