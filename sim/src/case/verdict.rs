//! Whether a run is as it must be.

use serde_json::{Value, json};
use windtunnel_fixtures::difference::Difference;

use super::always::{self, AssertionOutcome};
use super::definition::Case;
use super::run::CaseRun;

/// Whether a run is as its case says.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Verdict {
    /// Why the run came to no end.
    pub problem: Option<String>,
    /// Where it is not what the file expects.
    pub differences: Vec<Difference>,
    /// What its assertions found.
    pub assertions: Vec<AssertionOutcome>,
}

impl Case {
    /// Whether the file says what must come out.
    pub fn expects(&self) -> bool {
        self.expectation.is_some()
    }

    /// Whether it says so of a run with this seed: where something is drawn, it does for its own seed only.
    pub fn expects_of(&self, seed: u64) -> bool {
        self.expectation.is_some() && (seed == self.seed || !self.draws())
    }

    /// Holds a run against what the file says of it: that it comes to an end, the assertions, and `expect` where that
    /// is about its seed.
    pub fn judge(&self, run: &CaseRun) -> Verdict {
        let expectation = self.expectation.as_ref().filter(|_| self.expects_of(run.seed()));
        Verdict {
            problem: run.problem(),
            differences: expectation.map(|expectation| expectation.compare(run)).unwrap_or_default(),
            assertions: always::judge(self, run),
        }
    }
}

impl Verdict {
    /// Whether all is well.
    pub fn passed(&self) -> bool {
        self.problem.is_none() && self.differences.is_empty() && self.assertions.iter().all(AssertionOutcome::holds)
    }

    /// Everything that is wrong, for a reader; some failures take several lines.
    pub fn failures(&self) -> Vec<String> {
        let problem = self.problem.iter().map(|problem| format!("the case came to no end: {problem}"));
        let differences = self.differences.iter().map(ToString::to_string);
        let broken = self.assertions.iter().filter(|outcome| !outcome.holds()).map(ToString::to_string);
        problem.chain(differences).chain(broken).collect()
    }

    /// The verdict as JSON.
    pub fn to_json(&self) -> Value {
        let differences = self.differences.iter().map(|difference| {
            let mut shown = json!({"path": difference.path.to_string()});
            // A side that has nothing is left out: null is a value.
            for (side, value) in [("expected", &difference.expected), ("found", &difference.found)] {
                if let Some(value) = value {
                    shown[side] = value.clone();
                }
            }
            shown
        });
        json!({
            "passed": self.passed(),
            "problem": self.problem,
            "differences": differences.collect::<Value>(),
            "always": self.assertions.iter().map(AssertionOutcome::to_json).collect::<Value>(),
        })
    }
}
