//! A property, and the two ways in which it is tried.

use std::fmt;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// How many bytes are what a case is drawn by; the others change it.
const SEED_BYTES: usize = 8;

/// Random cases, and what must hold of each.
pub struct Property {
    id: &'static str,
    demand: &'static str,
    tried: Box<dyn Tried>,
}

impl Property {
    /// What `check` demands of each case of the strategy.
    pub fn new<G>(
        id: &'static str,
        demand: &'static str,
        strategy: impl Fn() -> G + Send + Sync + 'static,
        check: impl Fn(G::Value) -> Result<(), TestCaseError> + Send + Sync + 'static,
    ) -> Self
    where
        G: Strategy + 'static,
        G::Value: Clone,
    {
        Self { id, demand, tried: Box::new(Checked { strategy, check }) }
    }

    /// Its name, unique in its list.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// What it demands, in one line.
    pub fn demand(&self) -> &'static str {
        self.demand
    }

    /// Tries random cases, as many and those that proptest's settings say.
    ///
    /// # Errors
    /// What is broken, with the smallest case that was found.
    pub fn run(&self, config: Config) -> Result<(), String> {
        self.tried.run(config).map_err(|found| format!("{}: {}: {found}", self.id, self.demand))
    }

    /// Tries the case that is drawn from these bytes, if there is one ([`drawn_from`]).
    ///
    /// # Errors
    /// What is broken, with the case.
    pub fn try_bytes(&self, bytes: &[u8]) -> Result<(), String> {
        self.tried.try_bytes(bytes).map_err(|found| format!("{}: {}: {found}", self.id, self.demand))
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Property").field("id", &self.id).finish_non_exhaustive()
    }
}

trait Tried: Send + Sync {
    fn run(&self, config: Config) -> Result<(), String>;

    fn try_bytes(&self, bytes: &[u8]) -> Result<(), String>;
}

struct Checked<F, C> {
    strategy: F,
    check: C,
}

impl<F, G, C> Tried for Checked<F, C>
where
    F: Fn() -> G + Send + Sync,
    G: Strategy,
    G::Value: Clone,
    C: Fn(G::Value) -> Result<(), TestCaseError> + Send + Sync,
{
    fn run(&self, config: Config) -> Result<(), String> {
        TestRunner::new(config).run(&(self.strategy)(), &self.check).map_err(|error| match error {
            TestError::Fail(reason, case) => format!("{reason}\n{case:#?}"),
            TestError::Abort(reason) => format!("too few cases could be made: {reason}"),
        })
    }

    fn try_bytes(&self, bytes: &[u8]) -> Result<(), String> {
        let Some(case) = drawn_from(&(self.strategy)(), bytes) else { return Ok(()) };
        match (self.check)(case.clone()) {
            Ok(()) | Err(TestCaseError::Reject(_)) => Ok(()),
            Err(TestCaseError::Fail(reason)) => Err(format!("{reason}\n{case:#?}")),
        }
    }
}

/// The case of a strategy that these bytes stand for. The first eight are a seed. Each further one takes a step towards a
/// simpler case if it is even, and back if it is odd, as proptest does when it makes a case small: so a fuzzer that changes
/// the seed goes anywhere, and one that changes what follows stays near. Nothing, if the strategy refuses what it draws.
///
/// The bytes are not what is drawn (`RngAlgorithm::PassThrough`): past their end all would be zero, which a uniform choice from
/// what is no power of two refuses without an end.
///
/// For fuzzers: whatever of your own is tried with a strategy can be tried with what a fuzzer finds.
///
/// ```
/// use windtunnel_proptests::properties::drawn_from;
///
/// let drawn = drawn_from(&(0..1_000_000_u32), b"any seed").unwrap();
/// assert_eq!(drawn_from(&(0..1_000_000_u32), b"any seed"), Some(drawn));
/// let simpler = drawn_from(&(0..1_000_000_u32), b"any seed\0\0\0").unwrap();
/// assert!(simpler < drawn);
/// ```
pub fn drawn_from<G: Strategy>(strategy: &G, bytes: &[u8]) -> Option<G::Value> {
    let (drawn_by, steps) = bytes.split_at(bytes.len().min(SEED_BYTES));
    let mut seed = [0; 32];
    seed[..drawn_by.len()].copy_from_slice(drawn_by);
    let config = Config { failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut tree = strategy.new_tree(&mut TestRunner::new_with_rng(config, rng)).ok()?;
    for step in steps {
        let _is_changed = if step % 2 == 0 { tree.simplify() } else { tree.complicate() };
    }
    Some(tree.current())
}
