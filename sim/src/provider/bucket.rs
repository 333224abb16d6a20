//! A token bucket on virtual time, in whole tokens.

use std::time::Duration;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// How a bucket fills up. In any span of time it gives at most its capacity, and what the refills in it add: those at the
/// multiples of `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How much there is at the beginning, and at most.
    pub capacity: u64,
    /// How much each refill adds.
    pub refill: u64,
    /// How far refills are apart, from the beginning of time on. What is zero counts as 1 ns.
    pub per: Duration,
}

impl Rate {
    /// So many in a minute, all of them at once if need be; they come back one by one.
    pub const fn per_minute(count: u64) -> Self {
        let minute_ns: u64 = 60_000_000_000;
        match count {
            0 => Self { capacity: 0, refill: 0, per: Duration::from_nanos(minute_ns) },
            // Rounded up: never more than so many.
            _ => Self { capacity: count, refill: 1, per: Duration::from_nanos(minute_ns.div_ceil(count)) },
        }
    }

    /// So many in each window, all of which come back when the next one begins.
    pub const fn in_windows(count: u64, window: Duration) -> Self {
        Self { capacity: count, refill: count, per: window }
    }

    fn per_ns(self) -> u128 {
        self.per.as_nanos().max(1)
    }
}

/// A bucket that fills up at a [`Rate`].
///
/// ```
/// use std::time::Duration;
/// use windtunnel_sim::provider::{Bucket, Rate};
///
/// let mut bucket = Bucket::new(Rate::per_minute(60));
/// let now = Duration::from_millis(100);
/// bucket.take(60, now);
/// assert_eq!(bucket.wait(1, now), Some(Duration::from_millis(900)));
/// ```
#[derive(Clone, Debug)]
pub struct Bucket {
    rate: Rate,
    level: u64,
    /// How many refills are counted.
    refills: u128,
}

impl Bucket {
    /// A full bucket.
    pub fn new(rate: Rate) -> Self {
        Self { rate, level: rate.capacity, refills: 0 }
    }

    /// How it fills up.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// What there is now. Time does not run backwards: an earlier instant is the last one.
    pub fn level(&mut self, now: Duration) -> u64 {
        let refills = (now.as_nanos() / self.rate.per_ns()).max(self.refills);
        let new = u64::try_from(refills - self.refills).unwrap_or(u64::MAX);
        self.refills = refills;
        self.level = self.level.saturating_add(new.saturating_mul(self.rate.refill)).min(self.rate.capacity);
        self.level
    }

    /// How long until there is so much: nothing, if there is; none, if that never comes, or later than time goes.
    pub fn wait(&mut self, amount: u64, now: Duration) -> Option<Duration> {
        let missing = amount.saturating_sub(self.level(now));
        if missing == 0 {
            return Some(Duration::ZERO);
        }
        if amount > self.rate.capacity || self.rate.refill == 0 {
            return None;
        }
        let refills = self.refills.saturating_add(u128::from(missing.div_ceil(self.rate.refill)));
        let wait_ns = refills.saturating_mul(self.rate.per_ns()).saturating_sub(now.as_nanos());
        let seconds = u64::try_from(wait_ns / NANOS_PER_SECOND).ok()?;
        Some(Duration::new(seconds, u32::try_from(wait_ns % NANOS_PER_SECOND).unwrap_or_default()))
    }

    /// Takes so much, if there is; else nothing.
    pub fn take(&mut self, amount: u64, now: Duration) -> bool {
        let has_enough = amount <= self.level(now);
        if has_enough {
            self.level -= amount;
        }
        has_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_minute_may_come_at_once_and_then_one_by_one() {
        let mut bucket = Bucket::new(Rate::per_minute(60));
        assert!(bucket.take(60, ms(0)) && !bucket.take(1, ms(999)));
        assert_eq!((bucket.wait(1, ms(999)), bucket.wait(2, ms(999))), (Some(ms(1)), Some(ms(1001))));
        assert!(bucket.take(1, ms(1000)) && !bucket.take(1, ms(1000)));
        assert_eq!(bucket.level(ms(3_600_000)), 60);
    }

    #[test]
    fn windows_come_back_as_a_whole() {
        let mut bucket = Bucket::new(Rate::in_windows(3, ms(1000)));
        assert!(bucket.take(2, ms(900)) && !bucket.take(2, ms(999)) && bucket.take(3, ms(1000)));
        assert_eq!(bucket.wait(1, ms(1001)), Some(ms(999)));
    }

    #[test]
    fn what_never_comes_has_no_wait() {
        assert_eq!(Bucket::new(Rate::per_minute(3)).wait(4, ms(0)), None);
        assert_eq!(Bucket::new(Rate::per_minute(0)).wait(1, ms(0)), None);
        let odd = Rate { capacity: u64::MAX, refill: u64::MAX, per: Duration::ZERO };
        assert!(Bucket::new(odd).take(u64::MAX, Duration::MAX));
    }

    #[test]
    fn no_wait_is_cut_short() {
        let thousand_years = Duration::from_secs(1000 * 365 * 86_400);
        let mut slow = Bucket::new(Rate { capacity: 2, refill: 1, per: thousand_years });
        assert!(slow.take(2, ms(0)));
        assert_eq!(slow.wait(2, ms(1)), Some(2 * thousand_years - ms(1)));
        let mut slowest = Bucket::new(Rate { capacity: 2, refill: 1, per: Duration::MAX });
        assert!(slowest.take(2, ms(0)));
        assert_eq!((slowest.wait(1, ms(0)), slowest.wait(2, ms(0))), (Some(Duration::MAX), None));
    }

    #[test]
    fn what_holds_nothing_gives_nothing_and_costs_nothing() {
        let mut empty = Bucket::new(Rate { capacity: 0, refill: u64::MAX, per: ms(1) });
        assert!(empty.take(0, ms(0)) && !empty.take(1, Duration::MAX));
        assert_eq!((empty.wait(0, ms(5)), empty.wait(1, ms(5))), (Some(ms(0)), None));
    }

    #[test]
    fn time_that_runs_backwards_gives_nothing() {
        let mut bucket = Bucket::new(Rate::per_minute(60));
        assert!(bucket.take(60, ms(5_000)) && !bucket.take(1, ms(4_000)));
        assert!(!bucket.take(1, ms(5_999)) && bucket.take(1, ms(6_000)) && !bucket.take(1, ms(6_000)));
    }
}
