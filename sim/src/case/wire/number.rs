//! Numbers with a unit and a range.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// The longest time that a case file can name.
const DURATION_MAX_S: f64 = 365.0 * 24.0 * 60.0 * 60.0;

/// A duration given in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::case) struct Seconds(pub(in crate::case) Duration);

/// A duration given in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::case) struct Milliseconds(pub(in crate::case) Duration);

/// A number from 0 up to but not including 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) struct Unit(pub(in crate::case) f64);

/// A probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::case) struct Rate(pub(in crate::case) f64);

/// A duration given in seconds that is some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) struct PositiveSeconds(pub(in crate::case) Duration);

/// A number of retries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::case) struct Retries(pub(in crate::case) u32);

/// A cap, which lets at least one call through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) struct Cap(pub(in crate::case) NonZeroU32);

/// An inclusive maximum of something that is counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) struct Limit(pub(in crate::case) NonZeroU64);

/// A number of attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) struct Attempts(pub(in crate::case) NonZeroU32);

/// A count that fits in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::case) struct Count(pub(in crate::case) u32);

/// A delay, or the range that each one is drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::case) struct Delay {
    pub(in crate::case) min: Duration,
    pub(in crate::case) max: Duration,
}

/// Accepts the numbers that `accept` gives a value for.
struct NumberVisitor<T> {
    expecting: &'static str,
    accept: fn(f64) -> Option<T>,
}

impl<T> NumberVisitor<T> {
    fn take<E: Error>(&self, number: f64, unexpected: Unexpected<'_>) -> Result<T, E> {
        (self.accept)(number).ok_or_else(|| E::invalid_value(unexpected, &self.expecting))
    }
}

impl<T> Visitor<'_> for NumberVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expecting)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.take(number as f64, Unexpected::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.take(number as f64, Unexpected::Signed(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.take(number, Unexpected::Float(number))
    }
}

/// Accepts whole numbers in a range.
struct CountVisitor {
    expecting: &'static str,
    min: u64,
    max: u64,
}

impl Visitor<'_> for CountVisitor {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expecting)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        let count = Some(number).filter(|count| (self.min..=self.max).contains(count));
        count.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self.expecting))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self.expecting)),
        }
    }
}

/// A duration of `count` times `unit`, exact for whole numbers.
fn duration(count: f64, unit: Duration) -> Option<Duration> {
    if !(0.0..=DURATION_MAX_S).contains(&(count * unit.as_secs_f64())) {
        return None;
    }
    // Both fit: a year is 3.2e10 ms, and a unit at most 1e9 ns.
    let whole_ns = count.trunc() as u64 * unit.as_nanos() as u64;
    let rest_ns = (count.fract() * unit.as_nanos() as f64).round() as u64;
    Some(Duration::from_nanos(whole_ns + rest_ns))
}

const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);
const MILLISECONDS: &str = "a number of milliseconds from 0 to 31536000000 (a year)";

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor {
            expecting: "a number of seconds from 0 to 31536000 (a year)",
            accept: |number| duration(number, SECOND).map(Self),
        })
    }
}

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor {
            expecting: MILLISECONDS,
            accept: |number| duration(number, MILLISECOND).map(Self),
        })
    }
}

impl<'de> Deserialize<'de> for PositiveSeconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor {
            expecting: "a number of seconds above 0 and up to 31536000 (a year)",
            accept: |number| duration(number, SECOND).filter(|duration| !duration.is_zero()).map(Self),
        })
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor {
            expecting: "a number from 0 up to but not including 1",
            accept: |number| (0.0..1.0).contains(&number).then_some(Self(number)),
        })
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor {
            expecting: "a rate from 0 to 1",
            accept: |number| (0.0..=1.0).contains(&number).then_some(Self(number)),
        })
    }
}

impl<'de> Deserialize<'de> for Retries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a whole number from 0 to 10000";
        let retries = deserializer.deserialize_any(CountVisitor { expecting, min: 0, max: 10_000 })?;
        // It fits: it is at most the maximum.
        Ok(Self(u32::try_from(retries).unwrap_or(u32::MAX)))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a whole number from 0 to 4294967295";
        let count = deserializer.deserialize_any(CountVisitor { expecting, min: 0, max: u32::MAX.into() })?;
        // It fits: it is at most the maximum.
        Ok(Self(u32::try_from(count).unwrap_or(u32::MAX)))
    }
}

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a whole number of at least 1: a cap of 0 would let no call run";
        positive_u32(deserializer, expecting).map(Self)
    }
}

impl<'de> Deserialize<'de> for Attempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        positive_u32(deserializer, "a whole number of at least 1: the first attempt counts").map(Self)
    }
}

fn positive_u32<'de, D: Deserializer<'de>>(deserializer: D, expecting: &'static str) -> Result<NonZeroU32, D::Error> {
    let count = deserializer.deserialize_any(CountVisitor { expecting, min: 1, max: u32::MAX.into() })?;
    // It fits: it is from 1 to the maximum.
    Ok(u32::try_from(count).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN))
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a whole number of at least 1; leave a limit out where there is none";
        let limit = deserializer.deserialize_any(CountVisitor { expecting, min: 1, max: u64::MAX })?;
        Ok(Self(NonZeroU64::new(limit).unwrap_or(NonZeroU64::MIN)))
    }
}

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelayVisitor)
    }
}

struct DelayVisitor;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    min: Milliseconds,
    max: Milliseconds,
}

impl<'de> Visitor<'de> for DelayVisitor {
    type Value = Delay;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of milliseconds, or an object with min and max")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Delay, E> {
        take_delay(number as f64, Unexpected::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Delay, E> {
        take_delay(number as f64, Unexpected::Signed(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Delay, E> {
        take_delay(number, Unexpected::Float(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Delay, A::Error> {
        let Range { min, max } = Range::deserialize(MapAccessDeserializer::new(map))?;
        if max.0 < min.0 {
            return Err(A::Error::custom("min is more than max"));
        }
        Ok(Delay { min: min.0, max: max.0 })
    }
}

fn take_delay<E: Error>(number: f64, unexpected: Unexpected<'_>) -> Result<Delay, E> {
    let delay = duration(number, MILLISECOND).ok_or_else(|| E::invalid_value(unexpected, &MILLISECONDS))?;
    Ok(Delay { min: delay, max: delay })
}

impl Delay {
    /// Whether each delay is drawn.
    pub(in crate::case) fn is_range(self) -> bool {
        self.min != self.max
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn durations_are_exact() {
        let seconds = |value: Value| Seconds::deserialize(value).unwrap().0;
        assert_eq!(seconds(json!(0.1)), Duration::from_millis(100));
        assert_eq!(seconds(json!(2)), SECOND * 2);
        assert_eq!(seconds(json!(31_536_000)), SECOND * 31_536_000);
        let milliseconds = |value: Value| Milliseconds::deserialize(value).unwrap().0;
        assert_eq!(
            milliseconds(json!(31_535_999_999_u64)),
            MILLISECOND * 2_147_483_647 * 14 + MILLISECOND * 1_471_228_941
        );
        assert_eq!(milliseconds(json!(0.000_001)), Duration::from_nanos(1));
    }

    #[track_caller]
    fn check_refused<'de, T: Deserialize<'de> + fmt::Debug>(value: Value, message: &str) {
        assert_eq!(T::deserialize(value).unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        check_refused::<Seconds>(
            json!(-1),
            "invalid value: integer `-1`, expected a number of seconds from 0 to 31536000 (a year)",
        );
        check_refused::<Seconds>(
            json!(1e300),
            "invalid value: floating point `1e+300`, expected a number of seconds from 0 to 31536000 (a year)",
        );
        check_refused::<Unit>(
            json!(1),
            "invalid value: integer `1`, expected a number from 0 up to but not including 1",
        );
        check_refused::<Rate>(json!(1.5), "invalid value: floating point `1.5`, expected a rate from 0 to 1");
        check_refused::<Retries>(
            json!(10_001),
            "invalid value: integer `10001`, expected a whole number from 0 to 10000",
        );
        check_refused::<Retries>(
            json!(1.0),
            "invalid type: floating point `1.0`, expected a whole number from 0 to 10000",
        );
        check_refused::<Cap>(
            json!(0),
            "invalid value: integer `0`, expected a whole number of at least 1: a cap of 0 would let no call run",
        );
        check_refused::<Limit>(
            json!(0),
            "invalid value: integer `0`, expected a whole number of at least 1; leave a limit out where there is none",
        );
        check_refused::<PositiveSeconds>(
            json!(0.0),
            "invalid value: floating point `0.0`, expected a number of seconds above 0 and up to 31536000 (a year)",
        );
        check_refused::<Delay>(
            json!("1s"),
            "invalid type: string \"1s\", expected a number of milliseconds, or an object with min and max",
        );
        check_refused::<Delay>(json!({"min": 2, "max": 1}), "min is more than max");
        check_refused::<Delay>(json!({"min": 2, "max": 1, "mean": 3}), "unknown field `mean`, expected `min` or `max`");
    }
}
