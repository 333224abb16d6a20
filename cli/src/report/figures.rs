//! What a report says of many seeds beside their tally.

use std::cmp::Reverse;

use windtunnel_sim::report::{Distribution, SlowRun, Unit};

use crate::tally::RunFacts;

/// How many of the slowest seeds are told.
const SLOWEST_MAX: usize = 10;

/// Distributions, and the slowest seeds.
pub(crate) struct Figures {
    attempts: Distribution,
    latencies: Distribution,
    delays: Distribution,
    elapsed: Distribution,
    pub(super) slowest: Vec<SlowRun>,
}

impl Figures {
    pub(crate) fn new() -> Self {
        Self {
            attempts: Distribution::new("Attempts", Unit::Count),
            latencies: Distribution::new("Latency of a call, in virtual time", Unit::Nanoseconds),
            delays: Distribution::new("Delay before a retry", Unit::Nanoseconds),
            elapsed: Distribution::new("Virtual time of a run", Unit::Nanoseconds),
            slowest: Vec::new(),
        }
    }

    /// One seed more, in the order of the seeds.
    pub(crate) fn add(&mut self, facts: &RunFacts) {
        facts.attempts().for_each(|attempts| self.attempts.add(attempts));
        facts.latencies_s.iter().for_each(|seconds| self.latencies.add(nanoseconds(*seconds)));
        facts.delays_s.iter().for_each(|seconds| self.delays.add(nanoseconds(*seconds)));
        let elapsed_ns = nanoseconds(facts.elapsed_s);
        self.elapsed.add(elapsed_ns);
        let (seed, events, passed) = (facts.seed, facts.events, facts.failed.is_none());
        self.slowest.push(SlowRun { seed, elapsed_ns, events, passed, run: None, command: String::new() });
        self.slowest.sort_by_key(|run| (Reverse(run.elapsed_ns), run.seed));
        self.slowest.truncate(SLOWEST_MAX);
    }

    pub(super) fn distributions(&self) -> Vec<Distribution> {
        [&self.attempts, &self.latencies, &self.delays, &self.elapsed].map(Clone::clone).into()
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}
