//! Durations as providers write them: `20`, `1.5`, `20ms`, `6m0s`, `34.074824224s`, `20 seconds`.

use std::time::Duration;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// More digits of a fraction say nothing in nanoseconds of a day.
const FRACTION_DIGITS_MAX: usize = 18;

/// A whole text that is a duration.
pub(super) fn delay(text: &str) -> Option<Duration> {
    leading_delay(text.trim()).and_then(|(delay, rest)| rest.is_empty().then_some(delay))
}

/// A whole text that is a number of milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<Duration> {
    let (count, rest) = number(text.trim())?;
    rest.is_empty().then(|| duration(count.of(NANOS_PER_SECOND / 1000)))
}

/// The duration that a text begins with, and what follows: a number of seconds, or numbers with units that get smaller.
pub(super) fn leading_delay(text: &str) -> Option<(Duration, &str)> {
    let (first, mut rest) = number(text)?;
    let Some((unit, after)) = unit(rest) else { return Some((duration(first.of(NANOS_PER_SECOND)), rest)) };
    let (mut total_ns, mut last_unit) = (first.of(unit), unit);
    rest = after;
    while let Some((count, after)) = number(rest.strip_prefix(' ').unwrap_or(rest))
        && let Some((unit, after)) = self::unit(after)
        && unit < last_unit
    {
        total_ns = total_ns.saturating_add(count.of(unit));
        (last_unit, rest) = (unit, after);
    }
    Some((duration(total_ns), rest))
}

/// A decimal number, without sign and exponent.
struct Number<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl Number<'_> {
    /// So many units of this many nanoseconds, rounded up: whoever waits too short is refused again.
    fn of(&self, unit_ns: u128) -> u128 {
        let digits = |text: &str| {
            text.bytes().fold(0_u128, |value, digit| value.saturating_mul(10).saturating_add(u128::from(digit - b'0')))
        };
        let kept = &self.fraction[..self.fraction.len().min(FRACTION_DIGITS_MAX)];
        let scale = kept.bytes().fold(1_u128, |scale, _| scale * 10);
        let is_cut = self.fraction[kept.len()..].bytes().any(|digit| digit != b'0');
        let fraction_ns = (digits(kept).saturating_add(is_cut.into())).saturating_mul(unit_ns).div_ceil(scale);
        digits(self.whole).saturating_mul(unit_ns).saturating_add(fraction_ns)
    }
}

fn number(text: &str) -> Option<(Number<'_>, &str)> {
    let (whole, rest) = text.split_at(leading_digits(text));
    if whole.is_empty() {
        return None;
    }
    let fraction = rest.strip_prefix('.').unwrap_or("");
    match leading_digits(fraction) {
        0 => Some((Number { whole, fraction: "" }, rest)),
        count => Some((Number { whole, fraction: &fraction[..count] }, &fraction[count..])),
    }
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A unit in nanoseconds, maybe after a blank.
fn unit(text: &str) -> Option<(u128, &str)> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let (word, rest) = text.split_at(text.find(|letter: char| !letter.is_alphabetic()).unwrap_or(text.len()));
    let unit_ns = match word {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => NANOS_PER_SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * NANOS_PER_SECOND,
        "h" | "hour" | "hours" => 3600 * NANOS_PER_SECOND,
        "d" | "day" | "days" => 86_400 * NANOS_PER_SECOND,
        _ => return None,
    };
    Some((unit_ns, rest))
}

fn duration(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_to_the_nanosecond() {
        for (text, expected_ns) in [
            ("20", 20_000_000_000),
            ("0", 0),
            ("1.5", 1_500_000_000),
            ("20ms", 20_000_000),
            ("6m0s", 360_000_000_000),
            ("1m30s", 90_000_000_000),
            ("7m12.5s", 432_500_000_000),
            ("34.074824224s", 34_074_824_224),
            ("1h0m0.001s", 3_600_001_000_000),
            ("1 minute 30 seconds", 90_000_000_000),
            ("2d", 172_800_000_000_000),
            (" 3 ", 3_000_000_000),
            ("0.0000000001", 1),
            ("5.00000000000000000000001s", 5_000_000_001),
        ] {
            assert_eq!(delay(text), Some(Duration::from_nanos(expected_ns)), "{text}");
        }
        assert_eq!(milliseconds("644.25"), Some(Duration::from_micros(644_250)));
        assert_eq!(delay(&"9".repeat(400)), Some(Duration::from_nanos(u64::MAX)));
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in
            ["", "-1", "+1", "soon", "1e3", "NaN", "inf", ".5", "5.", "1s2m", "1s1s", "1x", "1 2", "s", "1,5", "٣"]
        {
            assert_eq!(delay(text), None, "{text}");
        }
        assert_eq!(leading_delay("20s. Visit"), Some((Duration::from_secs(20), ". Visit")));
        assert_eq!(leading_delay("20. Visit"), Some((Duration::from_secs(20), ". Visit")));
    }
}
