//! Two runs of one seed, compared.

use std::fmt;

use windtunnel_core::event::Event;

use crate::Run;

/// How many events are shown before and after the first that differs.
const NEIGHBOURS: usize = 3;

/// Two runs of one seed differ: something does not follow from the seed, such as the real clock, the system's entropy,
/// the order of a hash map or of `select!`, or another thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The seed.
    pub seed: u64,
    /// The place of the first event that differs.
    pub index: usize,
    /// The events just before it, the same in both runs.
    pub before: Vec<Event>,
    /// The first run from there on; empty if it had ended.
    pub first: Vec<Event>,
    /// The second run from there on; empty if it had ended.
    pub second: Vec<Event>,
    /// How the first run ended, and when.
    pub first_end: String,
    /// How the second run ended, and when.
    pub second_end: String,
}

impl Divergence {
    /// The first difference between two runs, if there is one.
    pub(crate) fn between<T>(first: &Run<T>, second: &Run<T>) -> Option<Self> {
        let (left, right) = (&first.trace, &second.trace);
        let (first_end, second_end) = (end(first), end(second));
        if left == right && first_end == second_end {
            return None;
        }
        let shorter = left.len().min(right.len());
        let index = (0..shorter).find(|index| left[*index] != right[*index]).unwrap_or(shorter);
        let from_there = |events: &[Event]| events.iter().skip(index).take(NEIGHBOURS).cloned().collect();
        Some(Self {
            seed: first.seed,
            index,
            before: left[index.saturating_sub(NEIGHBOURS)..index].to_vec(),
            first: from_there(left),
            second: from_there(right),
            first_end,
            second_end,
        })
    }
}

fn end<T>(run: &Run<T>) -> String {
    match &run.outcome {
        Ok(_) => format!("ended after {:?}", run.elapsed),
        Err(error) => format!("came to no end after {:?}: {error}", run.elapsed),
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "two runs of seed {} differ at event {}:", self.seed, self.index)?;
        let mut show =
            |mark: &str, events: &[Event]| events.iter().try_for_each(|event| writeln!(formatter, "{mark} {event}"));
        show(" ", &self.before)?;
        show("-", &self.first)?;
        show("+", &self.second)?;
        writeln!(formatter, "- {}", self.first_end)?;
        writeln!(formatter, "+ {}", self.second_end)
    }
}

impl std::error::Error for Divergence {}
