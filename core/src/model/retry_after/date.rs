//! Instants as HTTP and RFC 3339 write them.

use std::time::{Duration, SystemTime};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The instant of an HTTP-date, in any of its three forms: `Tue, 26 Mar 2024 19:59:59 GMT`,
/// `Tuesday, 26-Mar-24 19:59:59 GMT` and `Tue Mar 26 19:59:59 2024`.
///
/// ```
/// use windtunnel_core::model::http_date;
///
/// assert_eq!(http_date("Tue, 26 Mar 2024 19:59:59 GMT"), http_date("Tue Mar 26 19:59:59 2024"));
/// assert_eq!(http_date("yesterday"), None);
/// ```
pub fn http_date(text: &str) -> Option<SystemTime> {
    let words: Vec<&str> = text.split([' ', ',', '-']).filter(|word| !word.is_empty()).take(7).collect();
    let (day, month, year, clock) = match *words {
        [_, day, month, year, clock, "GMT"] => (day, month, year, clock),
        [_, month, day, clock, year] => (day, month, year, clock),
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year = match (year.len(), integer(year)?) {
        (4, year) => year,
        (2, year @ 70..) => 1900 + year,
        (2, year) => 2000 + year,
        _ => return None,
    };
    let day = integer(day)?;
    instant([year, i64::try_from(month).ok()? + 1, day], clock_seconds(clock)?, Duration::ZERO)
}

/// `2025-06-02T15:15:48Z`, maybe with a fraction, or with an offset such as `+02:00`.
pub(super) fn rfc3339(text: &str) -> Option<SystemTime> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = (rest.get(..8)?, rest.get(8..)?);
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count()),
    };
    let nanos = format!("{:0<9}", fraction.get(..9).unwrap_or(fraction)).parse().ok()?;
    let [year, month, day] = *date.split('-').map(integer).collect::<Option<Vec<_>>>()? else { return None };
    let is_zulu = matches!(zone, "Z" | "z");
    let ahead = if is_zulu { 0 } else { offset_seconds(zone)? };
    instant([year, month, day], clock_seconds(clock)? - ahead, Duration::from_nanos(nanos))
}

fn integer(text: &str) -> Option<i64> {
    let is_plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|digit| digit.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?
}

/// `19:59:59`, with a leap second at most.
fn clock_seconds(text: &str) -> Option<i64> {
    match *text.split(':').map(integer).collect::<Option<Vec<_>>>()? {
        [hour @ ..24, minute @ ..60, second @ ..61] => Some(hour * 3600 + minute * 60 + second),
        _ => None,
    }
}

/// `+02:00`.
fn offset_seconds(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, zone.strip_prefix('-')?),
    };
    match *rest.split(':').map(integer).collect::<Option<Vec<_>>>()? {
        [hour @ ..24, minute @ ..60] => Some(sign * (hour * 3600 + minute * 60)),
        _ => None,
    }
}

fn instant([year, month, day]: [i64; 3], seconds: i64, fraction: Duration) -> Option<SystemTime> {
    if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    let since_epoch = days_since_epoch(year, month, day) * 86_400 + seconds;
    let whole = Duration::from_secs(since_epoch.unsigned_abs());
    let at = match since_epoch {
        0.. => SystemTime::UNIX_EPOCH.checked_add(whole),
        _ => SystemTime::UNIX_EPOCH.checked_sub(whole),
    };
    at?.checked_add(fraction)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// In the Gregorian calendar. Years begin in March here, so that the leap day is the last one.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(instant: Option<SystemTime>) -> Option<u64> {
        instant.map(|instant| instant.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
    }

    #[test]
    fn dates_are_read_in_all_their_forms() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(seconds(http_date(text)), Some(784_111_777), "{text}");
        }
        assert_eq!(seconds(http_date("Thu, 29 Feb 2024 00:00:00 GMT")), Some(1_709_164_800));
        for text in [
            "2025-06-02T15:15:48Z",
            "2025-06-02t15:15:48z",
            "2025-06-02T17:15:48+02:00",
            "2025-06-02T09:45:48.25-05:30",
        ] {
            assert_eq!(seconds(rfc3339(text)), Some(1_748_877_348), "{text}");
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(500);
        assert_eq!(rfc3339("1969-12-31T23:59:59.5Z"), Some(before));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2025-06-02",
            "2025-13-02T15:15:48Z",
            "2025-02-29T15:15:48Z",
            "2025-06-02T24:15:48Z",
            "2025-06-02T15:15:48",
            "2025-06-02T15:15:48.Zx",
            "2025-06-02T15:15:48+2",
            "25-06-02T15:15:48Z",
            "ä025-06-02T15:15:48Z",
            "2025-06-00T15:15:48Z",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 19940 08:49:37 GMT",
        ] {
            assert_eq!(http_date(text), None, "{text}");
        }
    }
}
