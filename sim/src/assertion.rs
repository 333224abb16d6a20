//! What must hold in every run, and what must be seen in some.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Emitter, EventKind, Sink};

use crate::WorldError;
use crate::world::{Time, subject_of_world};

/// What an assertion says of a campaign of many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssertionKind {
    /// It holds whenever it is evaluated.
    Always,
    /// It holds at least once.
    Sometimes,
    /// The place is come to at least once.
    Reachable,
    /// The place is never come to.
    Unreachable,
}

/// How often an assertion was evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// What it says.
    pub kind: AssertionKind,
    /// How often it held.
    pub held: u64,
    /// How often it did not.
    pub failed: u64,
}

/// The assertions of a run, by name. Clones share them. A campaign adds up those of its runs. A name is of one kind: a second
/// one fails the run ([`WorldError::AmbiguousAssertion`]).
///
/// ```
/// use windtunnel_sim::World;
///
/// let run = World::new(7).run(|world| async move {
///     let assertions = world.assertions();
///     assertions.sometimes("a retry was needed", false);
///     assertions.always("paid at most once", world.effects().count("payment") <= 1);
/// });
/// assert_eq!(run.assertions["a retry was needed"].held, 0);
/// # run.outcome.unwrap();
/// ```
#[derive(Clone)]
pub struct Assertions {
    tallies: Arc<Mutex<BTreeMap<Arc<str>, Tally>>>,
    time: Arc<Time>,
    env: Env,
    emitter: Emitter,
}

impl AssertionKind {
    /// Its name, such as `always`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Sometimes => "sometimes",
            Self::Reachable => "reachable",
            Self::Unreachable => "unreachable",
        }
    }
}

impl Assertions {
    pub(crate) fn new(env: Env, sink: Arc<dyn Sink>, time: Arc<Time>) -> Self {
        Self { tallies: Arc::default(), time, env: env.clone(), emitter: Emitter::new(env, vec![sink]) }
    }

    /// The same assertions, as a host makes them.
    pub(crate) fn on_host(self, env: &Env) -> Self {
        Self { env: env.clone(), emitter: self.emitter.in_env(env.clone()), ..self }
    }

    /// It must hold whenever it is evaluated; if it does not, the run fails, and ends as soon as nothing is left to run.
    pub fn always(&self, name: &str, holds: bool) {
        self.evaluate(AssertionKind::Always, name, holds);
    }

    /// It must hold at least once in a campaign.
    pub fn sometimes(&self, name: &str, holds: bool) {
        self.evaluate(AssertionKind::Sometimes, name, holds);
    }

    /// A campaign must come here at least once.
    pub fn reachable(&self, name: &str) {
        self.evaluate(AssertionKind::Reachable, name, true);
    }

    /// No run may come here.
    pub fn unreachable(&self, name: &str) {
        self.evaluate(AssertionKind::Unreachable, name, false);
    }

    fn evaluate(&self, kind: AssertionKind, name: &str, holds: bool) {
        // After the end of a host's life nothing is asserted there.
        if !self.env.is_open() {
            return;
        }
        let first = self.count(kind, name, holds);
        if first != kind {
            return self.time.end(WorldError::AmbiguousAssertion { assertion: name.to_owned(), kinds: [first, kind] });
        }
        if !holds && matches!(kind, AssertionKind::Always | AssertionKind::Unreachable) {
            self.emitter.emit_now(&subject_of_world(), || EventKind::AssertionFailed { assertion: name.into() });
            self.time.end(WorldError::AssertionFailed { assertion: name.to_owned() });
        }
    }

    /// Counts it, if it is of the kind that it was of at first. Gives that kind.
    fn count(&self, kind: AssertionKind, name: &str, holds: bool) -> AssertionKind {
        let mut tallies = self.tallies.lock();
        let tally = match tallies.get_mut(name) {
            Some(tally) => tally,
            None => tallies.entry(name.into()).or_insert(Tally { kind, held: 0, failed: 0 }),
        };
        if tally.kind == kind {
            *(if holds { &mut tally.held } else { &mut tally.failed }) += 1;
        }
        tally.kind
    }

    pub(crate) fn tallies(&self) -> BTreeMap<Arc<str>, Tally> {
        self.tallies.lock().clone()
    }
}

impl Tally {
    /// The sum of two.
    pub(crate) fn add(&mut self, other: Self) {
        self.held += other.held;
        self.failed += other.failed;
    }

    /// Whether it must hold or be come to in some run, and did in none.
    pub(crate) fn is_unseen(&self) -> bool {
        matches!(self.kind, AssertionKind::Sometimes | AssertionKind::Reachable) && self.held == 0
    }

    /// Whether what it says is not so.
    pub(crate) fn is_broken(&self) -> bool {
        match self.kind {
            AssertionKind::Always | AssertionKind::Unreachable => self.failed > 0,
            AssertionKind::Sometimes | AssertionKind::Reachable => self.is_unseen(),
        }
    }
}

impl fmt::Debug for Assertions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.tallies.lock().iter()).finish()
    }
}
