//! Which fault was tried at which event, and what came of it.

use std::collections::BTreeMap;
use std::fmt;

/// Why a fault that was tried at an event did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// There was nothing for it to act on: its host was down, or no other host was there.
    NothingToActOn,
    /// Nobody that takes faults came after it.
    NobodyTookIt,
}

impl Skipped {
    /// What it says to its reader.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NothingToActOn => "there was nothing to act on",
            Self::NobodyTookIt => "nobody took it",
        }
    }
}

/// What came of all faults of a kind at all events of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// How often the fault came and the run passed.
    pub passed: usize,
    /// How often the fault came and the run failed.
    pub failed: usize,
    /// How often it did not come, and why.
    pub skipped: BTreeMap<Skipped, usize>,
}

impl Coverage {
    /// At how many events the fault was tried.
    pub fn points(&self) -> usize {
        self.passed + self.failed + self.skipped.values().sum::<usize>()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} points, {} passed, {} failed", self.points(), self.passed, self.failed)?;
        for (skipped, count) in &self.skipped {
            write!(formatter, ", {count} skipped ({})", skipped.reason())?;
        }
        Ok(())
    }
}

/// What came of the pairs of faults that a sweep tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCoverage {
    /// How often both came and the run passed.
    pub passed: usize,
    /// How often the run failed.
    pub failed: usize,
    /// How often only one of the two came, and the run passed: of the pair it says nothing.
    pub only_one_came: usize,
    /// How often neither came.
    pub none_came: usize,
}

impl PairCoverage {
    /// How many pairs were tried.
    pub fn tried(&self) -> usize {
        self.passed + self.failed + self.only_one_came + self.none_came
    }
}

impl fmt::Display for PairCoverage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} pairs of faults, {} passed, {} failed", self.tried(), self.passed, self.failed)?;
        for (count, what) in [(self.only_one_came, "only one came"), (self.none_came, "neither came")] {
            if count > 0 {
                write!(formatter, ", {count} skipped ({what})")?;
            }
        }
        Ok(())
    }
}

/// Which of the runs of a sweep one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepPoint {
    /// Its number among those of its sort, from 1.
    pub number: usize,
    /// How many of them there are.
    pub count: usize,
    /// Whether it is a pair of faults.
    pub is_pair: bool,
}

impl fmt::Display for SweepPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_pair { "pair" } else { "point" };
        write!(formatter, "{what} {} of {}", self.number, self.count)
    }
}
