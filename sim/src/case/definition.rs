//! A case that has been loaded and checked.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use windtunnel_fixtures::difference::Difference;

use super::always::Assertion;
use super::cassettes::Library;
use super::error::Place;
use super::run::CaseRun;
use super::store::Keeping;
use super::trouble::{Setting, Trouble};
use crate::Divergence;
use crate::fault::{FaultKind, RandomFaults};

/// A case: tools, what is done with them, and what must come out.
///
/// ```
/// use windtunnel_sim::case::{Case, Format};
///
/// let text = r#"{
///     "tools": [{"name": "search", "parameters": {"q": "string"}, "retries": 2, "script": [{"fail": "busy"}]}],
///     "rng": 0.0,
///     "calls": [{"name": "search", "arguments": {"q": "warranty"}}],
///     "expect": {"results": [{"status": "ok", "attempts": 2, "delays_s": [0.5]}]},
///     "always": [{"each": "results", "that": "it.attempts <= it.retries + 1"}]
/// }"#;
/// let cases = Case::parse("retries.json", Format::Json, text)?;
/// let run = cases[0].run(cases[0].seed());
/// assert!(cases[0].judge(&run).passed());
/// # Ok::<(), windtunnel_sim::case::LoadError>(())
/// ```
#[derive(Debug)]
pub struct Case {
    pub(super) id: String,
    pub(super) place: Place,
    /// The case as it is written.
    pub(super) source: Value,
    /// Where its cassettes are.
    pub(super) library: Arc<Library>,
    pub(super) seed: u64,
    pub(super) trouble: Trouble,
    pub(super) assertions: Vec<Assertion>,
    pub(super) kind: Box<dyn Kind>,
}

/// What is different from one kind of case to another.
pub(super) trait Kind: fmt::Debug + Send + Sync {
    /// Whether other seeds can give other results.
    fn draws(&self) -> bool;

    /// Whether the file says what must come out.
    fn expects(&self) -> bool;

    /// Whether the case is about a program that is refused.
    fn expects_refusal(&self) -> bool {
        false
    }

    /// Whether what must come out is about the case's own seed only.
    fn expects_by_seed(&self) -> bool {
        self.draws()
    }

    /// Whether it runs on hosts, whose tasks have an order.
    fn is_on_hosts(&self) -> bool {
        false
    }

    /// The names of the hosts that it runs on.
    fn hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether there is a journal.
    #[cfg(feature = "sqlite")]
    fn has_journal(&self) -> bool {
        false
    }

    /// Runs the case in a world, with its journal, if it has one, kept there.
    fn run(&self, setting: &Setting, keeping: &Keeping) -> CaseRun;

    /// How a run differs from what must come out.
    fn differences(&self, run: &CaseRun) -> Vec<Difference>;

    /// What the file plans and the run never came to, where that is a mistake.
    fn unreached(&self, _run: &CaseRun) -> Vec<String> {
        Vec::new()
    }

    /// The variables that assertions may use.
    fn variables(&self) -> &'static [&'static str];

    /// The value of one of them.
    fn variable(&self, name: &str, run: &CaseRun) -> Value;
}

impl Case {
    /// The id, unique in its file.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the case begins in its file.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The seed that the file gives, or 0.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether other seeds can give other results: something is drawn from a range, by a rate, as jitter, or as an order, or
    /// may be, after a fault.
    pub fn draws(&self) -> bool {
        self.kind.draws() || !self.trouble.is_none()
    }

    /// The kinds of fault that are drawn.
    pub fn drawn_faults(&self) -> BTreeSet<FaultKind> {
        self.trouble.random.as_ref().map(RandomFaults::kinds).unwrap_or_default()
    }

    /// Whether anything can make it fail: it expects or asserts something.
    pub fn says_what_must_hold(&self) -> bool {
        self.expects() || !self.assertions.is_empty()
    }

    /// Whether the file says what must come out.
    pub fn expects(&self) -> bool {
        self.kind.expects()
    }

    /// Whether it says so of a run with this seed: where something is drawn, it does for its own seed only.
    pub fn expects_of(&self, seed: u64) -> bool {
        self.expects() && (seed == self.seed || !self.expects_by_seed())
    }

    fn expects_by_seed(&self) -> bool {
        self.kind.expects_by_seed() || !self.trouble.is_none()
    }

    /// Runs the case with a seed, on virtual time.
    pub fn run(&self, seed: u64) -> CaseRun {
        self.kind.run(&self.trouble.setting(seed), &Keeping::InMemory)
    }

    /// Runs the case twice with a seed and compares the traces.
    ///
    /// # Errors
    /// [`Divergence`] with the first event that differs: something does not follow from the seed.
    pub fn check_determinism(&self, seed: u64) -> Result<CaseRun, Box<Divergence>> {
        let (first, second) = (self.run(seed), self.run(seed));
        match Divergence::between(&first.world, &second.world) {
            None => Ok(first),
            Some(divergence) => Err(Box::new(divergence)),
        }
    }
}
