//! What many runs of one case add up to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windtunnel_core::durable::DurableError;
use windtunnel_core::evaluator::{Answer, BranchOutcome, EvaluationError};
use windtunnel_core::event::{Event, EventKind};
use windtunnel_core::executor::ToolResult;
use windtunnel_sim::case::{
    AgentOutcome, AssertionOutcome, CallsOutcome, CaseOutcome, CaseRun, OperationsOutcome, ProgramOutcome, Verdict,
};
use windtunnel_sim::fault::FaultKind;

/// The outcome of a program that collects failures, and did.
const OK_WITH_FAILED_BRANCHES: &str = "ok, with failed branches";

/// How many failing seeds are listed.
const SEEDS_MAX: usize = 10;

/// What the summary needs of one run.
pub(crate) struct RunFacts {
    pub(crate) seed: u64,
    /// What has an outcome and makes attempts: each call, or the run as a whole.
    unit: Unit,
    /// For each unit that came to its end: its outcome, and how many attempts it took.
    outcomes: Vec<(&'static str, u64)>,
    pub(crate) delays_s: Vec<f64>,
    /// How long each call took, or each attempt of a program's, if that is asked for.
    pub(crate) latencies_s: Vec<f64>,
    pub(crate) elapsed_s: f64,
    pub(crate) events: usize,
    /// The kinds of the faults that came.
    faults: Vec<FaultKind>,
    /// For each assertion: what it is called, and whether the run broke it.
    broken: Vec<(String, bool)>,
    /// The verdict, if the run failed.
    pub(crate) failed: Option<Verdict>,
}

/// What is counted by its outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    Call,
    Run,
    Operation,
}

impl Unit {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Run => "run",
            Self::Operation => "operation",
        }
    }
}

impl RunFacts {
    pub(crate) fn of(run: &CaseRun, verdict: Verdict) -> Self {
        let (unit, outcomes, delays_s) = match &run.outcome {
            CaseOutcome::Calls(outcome) => (Unit::Call, outcomes_of_calls(outcome), delays_of_calls(outcome)),
            CaseOutcome::Program(outcome) => (Unit::Run, vec![outcome_of_program(outcome, run)], delays_in(run)),
            CaseOutcome::Operations(outcome) => (Unit::Operation, outcomes_of_operations(outcome), Vec::new()),
            CaseOutcome::Agent(outcome) => (Unit::Run, vec![outcome_of_agent(outcome)], delays_in(run)),
        };
        Self {
            seed: run.seed(),
            unit,
            outcomes,
            delays_s,
            latencies_s: Vec::new(),
            elapsed_s: run.elapsed().as_secs_f64(),
            events: run.trace().len(),
            faults: run.faults().iter().map(|delivered| delivered.fault.action.kind()).collect(),
            broken: verdict.assertions.iter().map(broken).collect(),
            failed: (!verdict.passed()).then_some(verdict),
        }
    }
}

impl RunFacts {
    /// The same with the latencies, which only a report shows.
    pub(crate) fn with_latencies(self, run: &CaseRun) -> Self {
        Self { latencies_s: latencies_in(run), ..self }
    }

    /// How many attempts each unit took.
    pub(crate) fn attempts(&self) -> impl Iterator<Item = u64> {
        self.outcomes.iter().map(|(_, attempts)| *attempts)
    }
}

fn broken(outcome: &AssertionOutcome) -> (String, bool) {
    (outcome.name.clone().unwrap_or_else(|| outcome.that.clone()), !outcome.holds())
}

fn outcomes_of_calls(outcome: &CallsOutcome) -> Vec<(&'static str, u64)> {
    let name = |result: &ToolResult| match result.error_kind() {
        Some(kind) => kind.as_str(),
        None => result.status(),
    };
    let finished = outcome.calls.iter().flatten();
    finished.map(|call| (name(&call.result), u64::from(call.result.attempts))).collect()
}

fn delays_of_calls(outcome: &CallsOutcome) -> Vec<f64> {
    outcome.calls.iter().flatten().flat_map(|call| call.delays_s.clone().unwrap_or_default()).collect()
}

fn outcome_of_program(outcome: &ProgramOutcome, run: &CaseRun) -> (&'static str, u64) {
    let name = match outcome.error().and_then(EvaluationError::kind) {
        Some(kind) => kind.as_str(),
        None if has_failed_branches(outcome) => OK_WITH_FAILED_BRANCHES,
        None => outcome.status(),
    };
    (name, run.invocations.len() as u64)
}

fn has_failed_branches(outcome: &ProgramOutcome) -> bool {
    let is_failure = |branch: &BranchOutcome| matches!(branch, BranchOutcome::Failure { .. });
    match outcome.evaluation().map(|evaluation| &evaluation.result) {
        Some(Ok(Answer::Branches(branches))) => branches.iter().any(is_failure),
        _ => false,
    }
}

/// Whether its callable ran is its attempt.
fn outcomes_of_operations(outcome: &OperationsOutcome) -> Vec<(&'static str, u64)> {
    let finished = outcome.operations.iter().flatten();
    let name = |error: &DurableError| error.kind().as_str();
    finished.map(|done| (done.result.as_ref().map_or_else(name, |_| "ok"), u64::from(done.executed))).collect()
}

/// Its attempts are those at its activations.
fn outcome_of_agent(outcome: &AgentOutcome) -> (&'static str, u64) {
    (outcome.ending.name(), outcome.attempts())
}

fn delays_in(run: &CaseRun) -> Vec<f64> {
    let delay = |event: &Event| match event.kind {
        EventKind::ProgramRetry { delay_s, .. }
        | EventKind::ToolRetry { delay_s, .. }
        | EventKind::ActivationRetry { delay_s, .. } => Some(delay_s),
        _ => None,
    };
    run.trace().iter().filter_map(delay).collect()
}

fn latencies_in(run: &CaseRun) -> Vec<f64> {
    let latency = |event: &Event| match event.kind {
        EventKind::ToolFinished { duration_s, .. } | EventKind::ProgramAnswer { duration_s, .. } => Some(duration_s),
        _ => None,
    };
    run.trace().iter().filter_map(latency).collect()
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
#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    pub(crate) unit: Unit,
    pub(crate) outcomes: BTreeMap<&'static str, u64>,
    pub(crate) attempts: Spread,
    pub(crate) delays_s: Spread,
    pub(crate) elapsed_s: Spread,
    pub(crate) events: Spread,
    /// How often each kind of fault came.
    pub(crate) faults: BTreeMap<FaultKind, u64>,
    pub(crate) failing: u64,
    /// The first failing seeds.
    pub(crate) failing_seeds: Vec<u64>,
    /// What the first of them failed by.
    pub(crate) first_failure: Option<Verdict>,
    /// For each assertion: what it is called, and how many seeds broke it.
    pub(crate) broken: Vec<(String, u64)>,
}

impl Tally {
    pub(crate) fn add(&mut self, facts: RunFacts) {
        self.runs += 1;
        self.unit = facts.unit;
        for (outcome, attempts) in facts.outcomes {
            *self.outcomes.entry(outcome).or_default() += 1;
            self.attempts.add(attempts as f64);
        }
        facts.delays_s.into_iter().for_each(|delay_s| self.delays_s.add(delay_s));
        self.elapsed_s.add(facts.elapsed_s);
        self.events.add(facts.events as f64);
        for kind in facts.faults {
            *self.faults.entry(kind).or_default() += 1;
        }
        for (index, (name, is_broken)) in facts.broken.into_iter().enumerate() {
            if index == self.broken.len() {
                self.broken.push((name, 0));
            }
            self.broken[index].1 += u64::from(is_broken);
        }
        if let Some(verdict) = facts.failed {
            self.failing += 1;
            if self.failing_seeds.len() < SEEDS_MAX {
                self.failing_seeds.push(facts.seed);
            }
            self.first_failure.get_or_insert(verdict);
        }
    }

    /// Whether faults were to come and none did: then many runs test nothing of it.
    pub(crate) fn is_untried(&self, drawn: &BTreeSet<FaultKind>) -> bool {
        self.runs > 1 && self.faults.is_empty() && !drawn.is_empty()
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "runs": self.runs,
            "outcomes": self.outcomes,
            "attempts": self.attempts.to_json(),
            "delays_s": self.delays_s.to_json(),
            "elapsed_s": self.elapsed_s.to_json(),
            "events": self.events.to_json(),
            "faults": self.faults.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect::<Value>(),
            "failing": self.failing,
            "failing_seeds": self.failing_seeds,
            "always": self.broken.iter().map(|(name, seeds)| json!({"name": name, "broken": seeds})).collect::<Value>(),
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
