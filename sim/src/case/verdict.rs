//! Whether a run is as it must be.

use serde_json::{Value, json};
use windtunnel_fixtures::difference::Difference;

use super::always::{self, AssertionOutcome};
use super::definition::Case;
use super::program::{ProgramOffence, ProgramOutcome};
use super::run::{CaseOutcome, CaseRun};
use crate::WorldError;

/// Whether a run is as its case says.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Verdict {
    /// Why the run came to no end.
    pub problem: Option<String>,
    /// Why the case's program was refused, unless the file expects that.
    pub refused: Vec<ProgramOffence>,
    /// What the file plans and the run never came to.
    pub unreached: Vec<String>,
    /// What was asked of a cassette and is not in it.
    pub misses: Vec<String>,
    /// What is in a cassette, and nothing asked for it.
    pub leftovers: Vec<String>,
    /// Where it is not what the file expects.
    pub differences: Vec<Difference>,
    /// What its assertions found.
    pub assertions: Vec<AssertionOutcome>,
}

impl Case {
    /// Holds a run of this case against what the file says of it: that it comes to an end, the assertions, and `expect`
    /// where that is about its seed.
    pub fn judge(&self, run: &CaseRun) -> Verdict {
        let refused = match &run.outcome {
            CaseOutcome::Program(ProgramOutcome::Refused(offences)) if !self.kind.expects_refusal() => offences.clone(),
            _ => Vec::new(),
        };
        let mut verdict = Verdict {
            problem: run.problem(),
            refused,
            misses: run.replayed.misses.clone(),
            leftovers: run.replayed.leftovers.clone(),
            unreached: unplanned(run).into_iter().chain(self.kind.unreached(run)).collect(),
            differences: Vec::new(),
            assertions: Vec::new(),
        };
        // Of a program that was refused by mistake there is nothing else to say.
        if verdict.refused.is_empty() {
            if self.expects_of(run.seed()) {
                verdict.differences = self.kind.differences(run);
            }
            let value = |name: &str| self.kind.variable(name, run);
            verdict.assertions = always::judge(&self.assertions, self.kind.variables(), value);
        }
        verdict
    }
}

/// A plan that tests nothing.
fn unplanned(run: &CaseRun) -> Option<String> {
    match &run.world.outcome {
        Err(error @ WorldError::NoFaultDelivered { .. }) => Some(format!("$.faults: {error}")),
        _ => None,
    }
}

impl Verdict {
    /// Whether all is well.
    pub fn passed(&self) -> bool {
        let ended = self.problem.is_none() && self.refused.is_empty() && self.unreached.is_empty();
        let is_replayed = self.misses.is_empty() && self.leftovers.is_empty();
        ended && is_replayed && self.differences.is_empty() && self.assertions.iter().all(AssertionOutcome::holds)
    }

    /// Everything that is wrong, for a reader; some failures take several lines.
    pub fn failures(&self) -> Vec<String> {
        let problem = self.problem.iter().map(|problem| format!("the case came to no end: {problem}"));
        let refused = self.refused.iter().map(|offence| format!("the program was refused: {offence}"));
        let differences = self.differences.iter().map(ToString::to_string);
        let broken = self.assertions.iter().filter(|outcome| !outcome.holds()).map(ToString::to_string);
        let unreached = self.unreached.iter().cloned();
        // What follows a miss was not recorded, so it is told first.
        let replayed = self.misses.iter().chain(&self.leftovers).cloned();
        problem.chain(refused).chain(replayed).chain(unreached).chain(differences).chain(broken).collect()
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
            "refused": self.refused.iter().map(ProgramOffence::to_json).collect::<Value>(),
            "unreached": self.unreached,
            "misses": self.misses,
            "leftovers": self.leftovers,
            "differences": differences.collect::<Value>(),
            "always": self.assertions.iter().map(AssertionOutcome::to_json).collect::<Value>(),
        })
    }
}
