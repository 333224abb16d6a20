//! A failure, as its reader meets it.

use std::fmt;

use proptest::test_runner::Reason;
use serde_json::Value;
use windtunnel_core::event::Event;
use windtunnel_sim::fault::DeliveredFault;
use windtunnel_sim::{Recipe, WorldError};

use super::Step;
use super::rust_text::function_name;
use super::subject::{Played, Subject};
use crate::Violation;

/// What is wrong with a run that is another one when it is run again.
const DIVERGED: &str = "the same seed runs otherwise when it is run again";

/// How many of the last events a failure shows.
const EVENTS_SHOWN: usize = 20;

/// The smallest run that was found in which a rule is broken.
pub struct WorldFailure<O> {
    /// What is done.
    pub steps: Vec<Step<O>>,
    /// The seed, the faults and the order of tasks.
    pub recipe: Recipe,
    /// Why it failed.
    pub error: WorldError,
    /// The rule that is broken, with what was seen, if it is one of the machine's own.
    pub violation: Option<Violation>,
    /// All its events.
    pub trace: Vec<Event>,
    /// The faults that came.
    pub faults: Vec<DeliveredFault>,
    /// How many runs it took to find it once one had failed.
    pub runs: usize,
    /// Whether it failed in the same way, event for event, when it was run again. If not, something does not follow from the
    /// seed.
    pub is_repeatable: bool,
    /// A test that repeats it, in Rust.
    pub rust_test: String,
    /// A case file that fails by the same rule, where there is one.
    pub case_file: Option<Value>,
}

impl<O: Clone + fmt::Debug> WorldFailure<O> {
    /// The failure of a run of these steps by this recipe; nothing, if it does not fail.
    pub(super) fn repeated<S: Subject<Operation = O>>(
        subject: &S,
        steps: Vec<Step<O>>,
        recipe: Recipe,
        runs: usize,
    ) -> Option<Self> {
        let played = subject.repeat(&steps, &recipe, false);
        let error = played.outcome.as_ref().err()?;
        let again = subject.repeat(&steps, &recipe, false);
        let is_same = again.digest == played.digest && again.outcome.is_err_and(|other| other.is_like(error));
        Some(Self { runs, is_repeatable: is_same, ..Self::unrepeated(subject, steps, recipe, played) })
    }

    /// A run that failed, and not again.
    pub(super) fn unrepeated<S: Subject<Operation = O>>(
        subject: &S,
        steps: Vec<Step<O>>,
        recipe: Recipe,
        played: Played,
    ) -> Self {
        let Played { outcome, violation, trace, faults, .. } = played;
        let error = outcome.err().unwrap_or(WorldError::Failed { problem: DIVERGED.to_owned() });
        let name = match &error {
            WorldError::AssertionFailed { assertion } => format!("{}_does_not_hold", function_name(assertion)),
            _ => format!("seed_{}_fails", recipe.seed),
        };
        let rust_test = format!("#[test]\nfn {name}() {{\n{}}}\n", subject.rust_body(&steps, &recipe));
        let case_file = subject.case_file(&steps, &recipe, &error);
        let (runs, is_repeatable) = (0, false);
        Self { steps, recipe, error, violation, trace, faults, runs, is_repeatable, rust_test, case_file }
    }

    /// No run: there was nothing to try.
    pub(super) fn without_run(reason: &Reason) -> Self {
        let error = WorldError::Failed { problem: reason.message().to_owned() };
        Self {
            steps: Vec::new(),
            recipe: Recipe::new(0),
            error,
            violation: None,
            trace: Vec::new(),
            faults: Vec::new(),
            runs: 0,
            is_repeatable: false,
            rust_test: String::new(),
            case_file: None,
        }
    }

    /// What is done, without the waits.
    pub fn operations(&self) -> Vec<O> {
        self.steps.iter().filter_map(Step::operation).cloned().collect()
    }

    /// It in one line.
    pub(super) fn line(&self) -> String {
        format!("{:?} by {}", self.steps, self.recipe.to_json())
    }
}

impl<O: fmt::Debug> fmt::Display for WorldFailure<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.violation {
            Some(violation) => writeln!(formatter, "{violation}")?,
            None => writeln!(formatter, "{}", self.error)?,
        }
        writeln!(formatter, "the smallest run that fails so, found in {} runs:", self.runs)?;
        for step in &self.steps {
            writeln!(formatter, "  {step:?}")?;
        }
        for fault in &self.faults {
            writeln!(formatter, "  {fault}")?;
        }
        if !self.is_repeatable {
            writeln!(formatter, "it does not fail so when it is run again: something does not follow from the seed")?;
        }
        writeln!(formatter, "its events, up to the last {EVENTS_SHOWN}:")?;
        for event in &self.trace[self.trace.len().saturating_sub(EVENTS_SHOWN)..] {
            writeln!(formatter, "{event}")?;
        }
        write!(formatter, "a test that repeats it:\n\n{}", self.rust_test)?;
        let case = self.case_file.as_ref().map(|case| format!("{case:#}"));
        match case.filter(|case| !self.rust_test.contains(case)) {
            Some(case) => write!(formatter, "\na case file that fails so, for `windtunnel run`:\n\n{case}\n"),
            None => Ok(()),
        }
    }
}

impl<O: fmt::Debug> fmt::Debug for WorldFailure<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl<O: fmt::Debug> std::error::Error for WorldFailure<O> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
