//! How numbers are spread, in room that does not grow with how many they are.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Numbers are told apart by so many of their highest bits: to within one in 64.
const BITS: u32 = 7;

/// How many bars are drawn at the most.
const BARS_MAX: u64 = 32;

/// What a distribution counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// How many there were of something.
    #[default]
    Count,
    /// Nanoseconds of virtual time.
    Nanoseconds,
}

/// How numbers are spread.
///
/// ```
/// use windtunnel_sim::report::{Distribution, Unit};
///
/// let mut attempts = Distribution::new("attempts a call", Unit::Count);
/// [1, 1, 1, 3].into_iter().for_each(|count| attempts.add(count));
/// assert_eq!((attempts.count(), attempts.quantile(0.5), attempts.quantile(1.0)), (4, 1, 3));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    name: String,
    unit: Unit,
    count: u64,
    total: u128,
    least: u64,
    most: u64,
    /// How many numbers there are from each on.
    counts: BTreeMap<u64, u64>,
}

impl Distribution {
    /// A distribution of no numbers.
    pub fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit, ..Self::default() }
    }

    /// One number more.
    pub fn add(&mut self, number: u64) {
        self.least = if self.count == 0 { number } else { self.least.min(number) };
        self.most = self.most.max(number);
        self.count += 1;
        self.total += u128::from(number);
        *self.counts.entry(rounded(number)).or_default() += 1;
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// A number that this share of all is at most, to within one in 64; 0, if there are none.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (number, count) in &self.counts {
            seen += count;
            if seen >= wanted {
                return (*number).clamp(self.least, self.most);
            }
        }
        self.most
    }

    fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total as f64 / self.count as f64 }
    }

    /// Bars of the same width from the least number to the greatest: the first and last number of each, and how many.
    fn bars(&self) -> Vec<(u64, u64, u64)> {
        let width = ((self.most - self.least) / BARS_MAX) + 1;
        let count = (self.most - self.least) / width + 1;
        let start = |bar: u64| self.least + bar * width;
        let mut bars: Vec<_> =
            (0..count).map(|bar| (start(bar), start(bar).saturating_add(width - 1).min(self.most), 0)).collect();
        for (number, count) in &self.counts {
            let bar = (number.clamp(&self.least, &self.most) - self.least) / width;
            bars[bar as usize].2 += count;
        }
        bars
    }
}

/// The number without its lower bits.
fn rounded(number: u64) -> u64 {
    let dropped = (u64::BITS - number.leading_zeros()).saturating_sub(BITS);
    (number >> dropped) << dropped
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Distribution", 8)?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("unit", if self.unit == Unit::Nanoseconds { "ns" } else { "" })?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("min", &self.least)?;
        fields.serialize_field("mean", &self.mean())?;
        fields.serialize_field("max", &self.most)?;
        let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
        fields.serialize_field("quantiles", &quantiles.map(|(name, share)| (name, self.quantile(share))))?;
        fields.serialize_field("buckets", &self.bars())?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(numbers: impl IntoIterator<Item = u64>) -> Distribution {
        let mut spread = Distribution::new("numbers", Unit::Count);
        numbers.into_iter().for_each(|number| spread.add(number));
        spread
    }

    #[test]
    fn every_number_is_in_one_bar() {
        for numbers in [vec![], vec![0], vec![u64::MAX, 0], (0..1000).collect(), vec![1, 1, 2, 5, 90_000_000_001]] {
            let spread = spread(numbers.iter().copied());
            let bars = spread.bars();
            assert_eq!(bars.iter().map(|bar| bar.2).sum::<u64>(), numbers.len() as u64);
            assert!(bars.len() as u64 <= BARS_MAX + 1, "{bars:?}");
            assert!(bars.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{bars:?}");
        }
        assert_eq!(spread([1, 1, 3]).bars(), [(1, 1, 2), (2, 2, 0), (3, 3, 1)]);
    }

    #[test]
    fn quantiles_are_near() {
        let spread = spread(1..=100_000);
        for (share, exact) in [(0.5, 50_000.0), (0.9, 90_000.0), (0.99, 99_000.0)] {
            let found = spread.quantile(share) as f64;
            assert!((found - exact).abs() / exact < 1.0 / 64.0, "{share}: {found}");
        }
    }
}
