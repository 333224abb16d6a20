//! What many runs of one case add up to.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windtunnel_sim::case::{CaseRun, Verdict};

/// How many failing seeds are listed.
const SEEDS_MAX: usize = 10;

/// What the summary needs of one run.
pub(crate) struct RunFacts {
    pub(crate) seed: u64,
    /// For each finished call: its outcome, and how many attempts it took.
    calls: Vec<(&'static str, u32)>,
    delays_s: Vec<f64>,
    elapsed_s: f64,
    events: usize,
    /// The verdict, if the run failed.
    pub(crate) failed: Option<Verdict>,
}

impl RunFacts {
    pub(crate) fn of(run: &CaseRun, verdict: Verdict) -> Self {
        let finished = || run.calls.iter().flatten();
        let outcome = |result: &windtunnel_core::executor::ToolResult| match result.error_kind() {
            Some(kind) => kind.as_str(),
            None => result.status(),
        };
        Self {
            seed: run.seed(),
            calls: finished().map(|call| (outcome(&call.result), call.result.attempts)).collect(),
            delays_s: finished().flat_map(|call| call.delays_s.clone().unwrap_or_default()).collect(),
            elapsed_s: run.elapsed().as_secs_f64(),
            events: run.trace().len(),
            failed: (!verdict.passed()).then_some(verdict),
        }
    }
}

/// Numbers seen so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    pub(crate) count: u64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) total: f64,
}

impl Spread {
    fn add(&mut self, number: f64) {
        self.min = if self.count == 0 { number } else { self.min.min(number) };
        self.max = if self.count == 0 { number } else { self.max.max(number) };
        self.count += 1;
        self.total += number;
    }

    pub(crate) fn mean(self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total / self.count as f64 }
    }

    fn to_json(self) -> Value {
        json!({"count": self.count, "min": self.min, "mean": self.mean(), "max": self.max, "total": self.total})
    }
}

/// The sum of runs, taken in the order of their seeds.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    pub(crate) outcomes: BTreeMap<&'static str, u64>,
    pub(crate) attempts: Spread,
    pub(crate) delays_s: Spread,
    pub(crate) elapsed_s: Spread,
    pub(crate) events: Spread,
    pub(crate) failing: u64,
    /// The first failing seeds.
    pub(crate) failing_seeds: Vec<u64>,
    /// What the first of them failed by.
    pub(crate) first_failure: Option<Verdict>,
}

impl Tally {
    pub(crate) fn add(&mut self, facts: RunFacts) {
        self.runs += 1;
        for (outcome, attempts) in facts.calls {
            *self.outcomes.entry(outcome).or_default() += 1;
            self.attempts.add(f64::from(attempts));
        }
        facts.delays_s.into_iter().for_each(|delay_s| self.delays_s.add(delay_s));
        self.elapsed_s.add(facts.elapsed_s);
        self.events.add(facts.events as f64);
        if let Some(verdict) = facts.failed {
            self.failing += 1;
            if self.failing_seeds.len() < SEEDS_MAX {
                self.failing_seeds.push(facts.seed);
            }
            self.first_failure.get_or_insert(verdict);
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "runs": self.runs,
            "outcomes": self.outcomes,
            "attempts": self.attempts.to_json(),
            "delays_s": self.delays_s.to_json(),
            "elapsed_s": self.elapsed_s.to_json(),
            "events": self.events.to_json(),
            "failing": self.failing,
            "failing_seeds": self.failing_seeds,
            "first_failure": self.first_failure.as_ref().map(Verdict::to_json),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_knows_its_ends() {
        let mut spread = Spread::default();
        assert_eq!(spread.mean(), 0.0);
        [-1.0, 3.0, 1.0].into_iter().for_each(|number| spread.add(number));
        assert_eq!((spread.count, spread.min, spread.mean(), spread.max, spread.total), (3, -1.0, 1.0, 3.0, 3.0));
    }
}
